"""Rows of the nodes: for each cell, sums over the nodes of a subtree, and over its pairs of nodes.

Let e(u) be 2^(the weight of what was observed of mutation u in the cell), and S the score of the cell at a
node. What follows from the tree below node u are the sums

    singles(u) = Σ over v below u of π(v) 2^(S(v) - S(u))        = π(u) + Σ_c e(c) singles(c)
    pairs(u)   = Σ over v, w below u of π(v) π(w) 2^(S(v and w) - S(u))

where u is below itself, c are the children of u, the score of two nodes together is that of all mutations
above either, and π are the shares of the cells at the nodes; 1 without shares. Pairs whose lowest common
ancestor is u have the factors of both nodes, so adding the children one by one gives

    pairs += 2 * singles so far * e(c) singles(c) + e(c) pairs(c);    singles += e(c) singles(c)

from singles = π(u) and pairs = π(u)² (docs/model.md, "Doublets"). All terms are positive. A node's rows hold
e(u) times its sums, which is what its parent adds. So a step changes only the rows above what it moves.

Each number is a row of mantissas and a row of exponents (numbers.py); each lane has its own columns. A node
has two places for its rows: `side` tells which one is current, and a proposal's rows go to the other.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.sums.factors import factor_of
from syclade.kernels.sums.links import NOBODY, first_of, next_of
from syclade.kernels.sums.numbers import product, total
from syclade.kernels.sums.path import is_on_path
from syclade.kernels.target import address, control, device_function

ROWS = 4
"""Rows of a node: mantissas and exponents of singles, and of pairs."""

_SINGLES, _SINGLES_EXPONENT, _PAIRS, _PAIRS_EXPONENT = range(ROWS)
_ROWS = control(ROWS)
_TWO = control(2)


class Sums(NamedTuple):
    """Sums of a panel's cells: each (cells of a panel / lanes,) int64, private.

    Attributes:
        singles, pairs: mantissas.
        singles_exponent, pairs_exponent: exponents.
    """

    singles: Any
    singles_exponent: Any
    pairs: Any
    pairs_exponent: Any


@device_function
def rows_at(
    slot,  # IN side
    node,  # IN control
    fresh,  # IN control: 1 for the place of the proposal's rows, 0 for the current ones
):
    """Return where a node's rows start (address)."""
    here = slot.here
    side = control(slot.given.side[slot.base + address(node)]) ^ fresh
    return here.rows + address((_TWO * node + side) * _ROWS * here.sizes.cells)


def make_rows(lanes: int, rounds: int) -> Any:
    """Return the device function `renew`.

    Args:
        lanes: lanes per slot.
        rounds: cells of a panel per lane.
    """

    @device_function
    def add_child(
        sums,  # IN OUT Sums
        slot,  # IN rows
        rows,  # IN address: where the child's rows start
        cell,  # IN address: the lane's first cell of the panel
    ):
        """Add what a child contributes."""
        given, width = slot.given, address(slot.here.sizes.cells)
        for part in range(rounds):
            at = rows + cell + address(part * lanes)
            singles = np.int64(given.rows[at])
            singles_exponent = np.int64(given.rows[at + width])
            pairs = np.int64(given.rows[at + address(2) * width])
            pairs_exponent = np.int64(given.rows[at + address(3) * width])
            own, own_exponent = sums.singles[part], sums.singles_exponent[part]
            crossed, crossed_exponent = product(own, own_exponent, singles, singles_exponent)
            found, found_exponent = total(
                sums.pairs[part], sums.pairs_exponent[part], crossed, crossed_exponent + np.int64(1)
            )
            found, found_exponent = total(found, found_exponent, pairs, pairs_exponent)
            own, own_exponent = total(own, own_exponent, singles, singles_exponent)
            sums.pairs[part], sums.pairs_exponent[part] = found, found_exponent
            sums.singles[part], sums.singles_exponent[part] = own, own_exponent

    @device_function
    def put_rows(
        slot,  # IN observed; OUT rows
        sums,  # IN Sums
        node,  # IN control
        cell,  # IN address: the lane's first cell of the panel
        factors,  # IN (slots, classes, 2) int64, flat
    ):
        """Write a node's rows for its parent: its sums times the factor of what was observed."""
        given, here = slot.given, slot.here
        width = address(here.sizes.cells)
        rows = rows_at(slot, node, control(1)) + cell
        seen = address(node) * width + cell
        own = here.number * address(_TWO * here.sizes.classes)
        for part in range(rounds):
            offset = address(part * lanes)
            code = np.int64(given.observed[seen + offset])
            factor, factor_exponent = factor_of(factors, own, here.sizes.classes, code)
            singles, exponent = product(
                sums.singles[part], sums.singles_exponent[part], factor, factor_exponent
            )
            given.rows[rows + offset] = np.int32(singles)
            given.rows[rows + offset + width] = np.int32(exponent)
            pairs, exponent = product(sums.pairs[part], sums.pairs_exponent[part], factor, factor_exponent)
            given.rows[rows + offset + address(2) * width] = np.int32(pairs)
            given.rows[rows + offset + address(3) * width] = np.int32(exponent)

    @device_function
    def begin(
        sums,  # OUT Sums
        slot,  # IN node_shares
        node,  # IN control
    ):
        """Begin the sums of a node: it alone."""
        at = address(_TWO) * (slot.base + address(node))
        share, exponent = slot.given.node_shares[at], slot.given.node_shares[at + address(1)]
        pair, pair_exponent = product(share, exponent, share, exponent)
        for part in range(rounds):
            sums.singles[part], sums.singles_exponent[part] = share, exponent
            sums.pairs[part], sums.pairs_exponent[part] = pair, pair_exponent

    @device_function
    def renew(
        sums,  # OUT Sums: at the end, those of the last node of the path, the root
        slot,  # IN the tree, observed, node_shares, path, fresh; IN OUT rows
        count,  # IN control: length of the path
        panel,  # IN integer: the panel
        factors,  # IN (slots, classes, 2) int64, flat
    ):
        """Write the fresh rows of a panel for the nodes of the path, in its order."""
        given, base = slot.given, slot.base
        cell = address(panel * rounds * lanes) + slot.here.lane
        for at in range(count):
            node = control(given.path[base + address(at)])
            begin(sums, slot, node)
            child = first_of(slot, node)
            while child != NOBODY:
                add_child(sums, slot, rows_at(slot, child, is_on_path(slot, child)), cell)
                child = next_of(slot, child)
            put_rows(slot, sums, node, cell, factors)

    return renew


def make_load_root(lanes: int, rounds: int) -> Any:
    """Return the device function `load_root`; arguments as for `make_rows`."""

    @device_function
    def load_root(
        sums,  # OUT Sums
        slot,  # IN rows
        cell,  # IN address: the lane's first cell of the panel
    ):
        """Load the sums over the whole tree; the root's factor is 1."""
        given, here = slot.given, slot.here
        rows, width = rows_at(slot, here.root, control(0)) + cell, address(here.sizes.cells)
        for part in range(rounds):
            at = rows + address(part * lanes)
            sums.singles[part] = np.int64(given.rows[at])
            sums.singles_exponent[part] = np.int64(given.rows[at + width])
            sums.pairs[part] = np.int64(given.rows[at + address(2) * width])
            sums.pairs_exponent[part] = np.int64(given.rows[at + address(3) * width])

    return load_root
