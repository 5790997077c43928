"""Rows for the score with doublets: sums over nodes, and over pairs of nodes, by their parities.

`kernels/sums/rows.py` defines the sums. Here the recurrent mutation has the factor 1 at its nodes, and sums
are divided by who has it, seen from the node u: singles by the parity of v, pairs of v and w into those where
both are even, both odd, or one is. At the root, an even number is none of the mutation, and a pair has it
unless both are even. So

    the sum over nodes = even + e * odd,    that over pairs = both even + e * (both odd + mixed)

with e the factor of what was observed of the recurrent mutation. Adding the children one by one gives

    both even += 2 * even so far * even(c) + both even(c),    both odd alike
    mixed     += 2 * even so far * odd(c) + 2 * odd so far * even(c) + mixed(c)

All terms are positive.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.parities.nodes import if_allowed, is_copy, recurrent_of, rows_at
from syclade.kernels.parities.parts import Rows
from syclade.kernels.sums.factors import factor_of, put_factors
from syclade.kernels.sums.links import NOBODY, first_of, next_of
from syclade.kernels.sums.numbers import MANTISSA_BITS, product, total
from syclade.kernels.sums.path import is_on_path
from syclade.kernels.sums.rows import Sums
from syclade.kernels.target import address, control, device_function, private_array

NUMBERS = 5
"""Numbers of a node and cell: even, odd, both even, both odd, mixed; each has a mantissa and an exponent."""

COUNT = 2 * NUMBERS

_COUNT = control(COUNT)
_ONE = control(1)
_TWO = control(2)
_BITS = np.int64(1 << MANTISSA_BITS)
_WIDE_ZERO, _WIDE_ONE = np.int64(0), np.int64(1)
_LOWEST = np.int64(-(2**20))
"""Exponent of 0."""


class Parities(NamedTuple):
    """Numbers of a panel's cells: each (cells of a panel / lanes,) int64, private: mantissas and exponents.

    Attributes:
        even, odd: sums over nodes.
        evens, odds, mixed: sums over pairs.
        even_x, odd_x, evens_x, odds_x, mixed_x: their exponents.
    """

    even: Any
    even_x: Any
    odd: Any
    odd_x: Any
    evens: Any
    evens_x: Any
    odds: Any
    odds_x: Any
    mixed: Any
    mixed_x: Any


@device_function
def factor_at(
    slot,  # IN observed, factors
    node,  # IN control
    cell,  # IN address
):
    """Return the factor of what was observed of a mutation in a cell (mantissa, exponent; int64)."""
    given, here = slot.given, slot.here
    code = np.int64(given.observed[address(node) * address(here.sizes.cells) + cell])
    own = here.number * address(_TWO * here.sizes.classes)
    return factor_of(given.factors, own, here.sizes.classes, code)


@device_function
def begin(
    now,  # OUT Parities
    part,  # IN integer: which of the lane's cells
):
    """Begin the sums of a node: it alone, with none of the copies below itself."""
    now.even[part], now.even_x[part] = _BITS, _WIDE_ZERO
    now.odd[part], now.odd_x[part] = _WIDE_ZERO, _LOWEST
    now.evens[part], now.evens_x[part] = _BITS, _WIDE_ZERO
    now.odds[part], now.odds_x[part] = _WIDE_ZERO, _LOWEST
    now.mixed[part], now.mixed_x[part] = _WIDE_ZERO, _LOWEST


@device_function
def add_crossed(
    sum_m,  # IN int64: mantissa of the sum so far
    sum_x,  # IN int64: its exponent
    one_m,  # IN likewise: a sum over nodes so far
    one_x,  # IN
    other_m,  # IN likewise: a sum over a child's nodes
    other_x,  # IN
):
    """Return the sum plus 2 * one * other (mantissa, exponent; int64)."""
    crossed, exponent = product(one_m, one_x, other_m, other_x)
    return total(sum_m, sum_x, crossed, exponent + _WIDE_ONE)


@device_function
def add_child(
    now,  # IN OUT Parities
    part,  # IN integer: which of the lane's cells
    given,  # IN rows
    at,  # IN address: the child's first row at the cell
    width,  # IN address: length of a row
):
    """Add what a child contributes to a cell."""
    even, even_x = np.int64(given.rows[at]), np.int64(given.rows[at + width])
    odd, odd_x = np.int64(given.rows[at + address(2) * width]), np.int64(given.rows[at + address(3) * width])
    evens, evens_x = (
        np.int64(given.rows[at + address(4) * width]),
        np.int64(given.rows[at + address(5) * width]),
    )
    odds, odds_x = (
        np.int64(given.rows[at + address(6) * width]),
        np.int64(given.rows[at + address(7) * width]),
    )
    mixed, mixed_x = (
        np.int64(given.rows[at + address(8) * width]),
        np.int64(given.rows[at + address(9) * width]),
    )
    own, own_x, opposite, opposite_x = now.even[part], now.even_x[part], now.odd[part], now.odd_x[part]
    found, found_x = add_crossed(now.evens[part], now.evens_x[part], own, own_x, even, even_x)
    now.evens[part], now.evens_x[part] = total(found, found_x, evens, evens_x)
    found, found_x = add_crossed(now.odds[part], now.odds_x[part], opposite, opposite_x, odd, odd_x)
    now.odds[part], now.odds_x[part] = total(found, found_x, odds, odds_x)
    found, found_x = add_crossed(now.mixed[part], now.mixed_x[part], own, own_x, odd, odd_x)
    found, found_x = add_crossed(found, found_x, opposite, opposite_x, even, even_x)
    now.mixed[part], now.mixed_x[part] = total(found, found_x, mixed, mixed_x)
    now.even[part], now.even_x[part] = total(own, own_x, even, even_x)
    now.odd[part], now.odd_x[part] = total(opposite, opposite_x, odd, odd_x)


@device_function
def put_number(
    given,  # OUT rows
    at,  # IN address: the row of mantissas at the cell
    width,  # IN address: length of a row
    number,  # IN int64: mantissa
    number_x,  # IN int64: exponent
    factor,  # IN int64: mantissa
    factor_x,  # IN int64: exponent
):
    """Write a number times a factor."""
    found, exponent = product(number, number_x, factor, factor_x)
    given.rows[at] = np.int32(found)
    given.rows[at + width] = np.int32(exponent)


def make_put_rows(lanes: int, rounds: int) -> Any:
    """Return the device function `put_rows`; arguments as for `make_share_of`."""

    @device_function
    def put_rows(
        slot,  # IN observed, factors, recurrent; OUT rows
        now,  # IN Parities
        node,  # IN control
        cell,  # IN address: the lane's first cell of the panel
    ):
        """Write a node's rows for its parent: its sums times its factor; a copy exchanges even and odd."""
        given, width = slot.given, address(slot.here.sizes.cells)
        copy = is_copy(slot, node)
        rows = rows_at(slot, node, _ONE, _COUNT) + cell
        even = rows + address(_TWO * copy) * width
        odd = rows + address(_TWO * (_ONE - copy)) * width
        pairs, counts = address(4) * width, np.int64(_ONE - copy)
        for part in range(rounds):
            offset = address(part * lanes)
            factor, factor_x = factor_at(slot, node, cell + offset)
            factor, factor_x = counts * factor + (_WIDE_ONE - counts) * _BITS, counts * factor_x
            put_number(given, even + offset, width, now.even[part], now.even_x[part], factor, factor_x)
            put_number(given, odd + offset, width, now.odd[part], now.odd_x[part], factor, factor_x)
            put_number(
                given, even + pairs + offset, width, now.evens[part], now.evens_x[part], factor, factor_x
            )
            put_number(given, odd + pairs + offset, width, now.odds[part], now.odds_x[part], factor, factor_x)
            put_number(
                given, rows + address(8) * width + offset, width, now.mixed[part], now.mixed_x[part],
                factor, factor_x,
            )  # fmt: skip

    return put_rows


def make_share_of(of_sums: Any) -> Any:
    """Return `Rows.make_share` for a score.

    Args:
        of_sums: device function (given, number, sums, part) -> int64: what a cell contributes, given its sums
            over the whole tree.
    """

    def make_share(lanes: int, rounds: int) -> Any:
        put_rows = make_put_rows(lanes, rounds)

        @device_function
        def put_sums(
            sums,  # OUT Sums of one cell
            slot,  # IN observed, factors, recurrent
            now,  # IN Parities of the root
            part,  # IN integer: which of the lane's cells
            cell,  # IN address: this cell
        ):
            """Add up the root's numbers; the recurrent mutation has its factor where it is present."""
            factor, factor_x = factor_at(slot, recurrent_of(slot), cell)
            present, exponent = product(now.odd[part], now.odd_x[part], factor, factor_x)
            sums.singles[0], sums.singles_exponent[0] = total(
                now.even[part], now.even_x[part], present, exponent
            )
            present, exponent = total(now.odds[part], now.odds_x[part], now.mixed[part], now.mixed_x[part])
            present, exponent = product(present, exponent, factor, factor_x)
            sums.pairs[0], sums.pairs_exponent[0] = total(
                now.evens[part], now.evens_x[part], present, exponent
            )

        @device_function
        def share_of_path(
            slot,  # IN the tree, observed, factors, multiplicity, recurrent, the score's; IN OUT rows
            count,  # IN control: length of the path
            allowed,  # IN control: 1 if the tree is allowed, else 0
        ):
            """Write the fresh rows of the path; return the lane's share of the tree's score (int64)."""
            given, here = slot.given, slot.here
            width = address(here.sizes.cells)
            now = Parities(
                private_array(rounds, np.int64), private_array(rounds, np.int64),
                private_array(rounds, np.int64), private_array(rounds, np.int64),
                private_array(rounds, np.int64), private_array(rounds, np.int64),
                private_array(rounds, np.int64), private_array(rounds, np.int64),
                private_array(rounds, np.int64), private_array(rounds, np.int64),
            )  # fmt: skip
            sums = Sums(
                private_array(1, np.int64), private_array(1, np.int64),
                private_array(1, np.int64), private_array(1, np.int64),
            )  # fmt: skip
            share = np.int64(0)
            for panel in range(here.sizes.panels):
                cell = address(panel * rounds * lanes) + here.lane
                for at in range(count):
                    node = control(given.path[slot.base + address(at)])
                    for part in range(rounds):
                        begin(now, part)
                    child = first_of(slot, node)
                    while child != NOBODY:
                        rows = rows_at(slot, child, is_on_path(slot, child), _COUNT) + cell
                        for part in range(rounds):
                            add_child(now, part, given, rows + address(part * lanes), width)
                        child = next_of(slot, child)
                    put_rows(slot, now, node, cell)
                for part in range(rounds):
                    here_cell = cell + address(part * lanes)
                    put_sums(sums, slot, now, part, here_cell)
                    worth = if_allowed(allowed, of_sums(given, here.number, sums, 0))
                    share = share + worth * given.multiplicity[here_cell]
            return share

        return share_of_path

    return make_share


def sums_for(of_sums: Any) -> Rows:
    """Return the rows for a score; see `make_share_of`."""
    return Rows(COUNT, put_factors, make_share_of(of_sums))
