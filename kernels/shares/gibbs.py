"""Kernels of the Gibbs steps of shares: likelihoods of cells at all nodes, a draw of nodes, and the score.

Columns are in blocks of `LANES`. `fallback/shares/gibbs.py` mirrors the kernels; sums of real numbers are in
the order of the nodes, so that both have the same bits.
"""

from typing import Any

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS, MANTISSA_BITS, logarithm_of_two, power_of_two
from syclade.kernels.shares.arguments import LANES, OCTAVES, SIZES, TABLE_BITS
from syclade.kernels.target import address, control, device_function, lane_sum, maximum
from syclade.kernels.target.reals import Reals

_BLOCKS, _NODES, _CELLS, _FRACTION, _SPARE, _FACTORS = (address(at) for at in range(len(SIZES)))
_0, _1 = control(0), control(1)
_WIDTH, _CLASSES = address(LANES), address(256)
_LAST = np.int64(OCTAVES - 1)
_HALF, _WHOLE = np.int64(TABLE_BITS), np.int64(FRACTION_BITS)
_PART = np.int64(2**TABLE_BITS - 1)
_NONE, _NOBODY = np.int32(0), np.int32(-1)
_MANTISSA = np.int64(MANTISSA_BITS)


@device_function
def start_of(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    block,  # IN control
):
    """Return where the numbers of a slot's block start, in `scores` and in `likelihoods` (address)."""
    return (slot * address(given.sizes[_BLOCKS]) + address(block)) * address(given.sizes[_NODES]) * _WIDTH


@device_function
def best_of(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    block,  # IN control
):
    """Return where the numbers of a slot's block start, in `best` and in `sums` (address)."""
    return (slot * address(given.sizes[_BLOCKS]) + address(block)) * _WIDTH


@device_function
def order_nodes(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
):
    """Write the nodes in preorder."""
    nodes = given.sizes[_NODES]
    start, root = slot * address(nodes), nodes - _1
    for at in range(nodes):
        given.child[start + address(at)] = _NOBODY
    for at in range(root):
        above = start + address(given.parents[start + address(at)])
        given.sibling[start + address(at)] = given.child[above]
        given.child[above] = np.int32(at)
    given.sibling[start + address(root)] = _NOBODY
    node = root
    for at in range(nodes):
        given.order[start + address(at)] = np.int32(node)
        below = control(given.child[start + address(node)])
        if below < _0:
            while node != root and given.sibling[start + address(node)] < _NONE:
                node = control(given.parents[start + address(node)])
            below = control(given.sibling[start + address(node)])
        node = below


@device_function
def score_block(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    block,  # IN control
):
    """Write the scores of a block's columns at all nodes, and those of the best nodes."""
    nodes = given.sizes[_NODES]
    of_slot = slot * address(nodes)
    start = start_of(given, slot, block)
    entries = address(block) * address(nodes - _1) * _WIDTH
    given.scores[lane + (start + address(nodes - _1) * _WIDTH)] = _NONE
    best = given.scores[lane + (start + address(nodes - _1) * _WIDTH)]
    for at in range(_1, nodes):
        node = address(given.order[of_slot + address(at)])
        above = given.scores[lane + (start + address(given.parents[of_slot + node]) * _WIDTH)]
        of_class = np.uint64(given.observed[lane + (entries + node * _WIDTH)]) + slot * _CLASSES
        score = np.int32(above + given.weights[of_class])
        given.scores[lane + (start + node * _WIDTH)] = score
        best = maximum(best, score)
    given.best[lane + best_of(given, slot, block)] = best


def make_place(**_others: int) -> Any:
    """Return the kernel that writes scores of all columns at all nodes."""

    @device_function
    def place(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Score all blocks."""
        order_nodes(given, slot)
        for block in range(given.sizes[_BLOCKS]):
            score_block(given, slot, lane, block)

    return place


def make_compare(**_others: int) -> Any:
    """Return the kernel that writes likelihoods of all columns at all nodes."""

    @device_function
    def compare(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Compare scores of a column: a likelihood is 2^(score - that of the column's best node)."""
        up = _WHOLE - given.sizes[_FRACTION]
        for block in range(given.sizes[_BLOCKS]):
            start, first = start_of(given, slot, block), best_of(given, slot, block)
            for node in range(given.sizes[_NODES]):
                row = start + address(node) * _WIDTH
                for column in range(LANES):
                    at = row + address(column)
                    best = given.best[first + address(column)]
                    gap = (np.int64(best) - np.int64(given.scores[at])) << up
                    given.likelihoods[at] = (
                        given.octaves[address(min(gap >> _WHOLE, _LAST))]
                        * given.upper[address((gap >> _HALF) & _PART)]
                        * given.lower[address(gap & _PART)]
                    )

    return compare


def make_draw(reals: Reals, **_others: int) -> Any:
    """Return the kernel that draws a node for each cell."""
    read, write, every = reals.read, reals.write, reals.all
    half = address(reals.width)

    @device_function
    def add_up(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        block,  # IN control
        part,  # IN address: first column
    ):
        """Write the cumulative weights of some columns of a block over the nodes."""
        nodes = given.sizes[_NODES]
        of_slot = slot * address(nodes)
        start, to = start_of(given, slot, block) + part, of_slot * _WIDTH + part
        total = every(0.0)
        for node in range(nodes):
            row = address(node) * _WIDTH
            total = total + read(given.likelihoods, start + row) * given.share[of_slot + address(node)]
            write(given.ends, to + row, total)

    @device_function
    def node_at(
        given,  # IN the arrays of `ARGUMENTS`
        ends,  # IN address: where a column's cumulative weights start
        number,  # IN float64: below 1
    ):
        """Return the number of nodes that end at or before this part of the whole (control)."""
        nodes = given.sizes[_NODES]
        wanted = number * given.ends[ends + address(nodes - _1) * _WIDTH]
        low, size = _0, nodes - _1
        while size > _0:
            middle = low + (size >> _1)
            if given.ends[ends + address(middle) * _WIDTH] <= wanted:
                low, size = middle + _1, size - (size >> _1) - _1
            else:
                size = size >> _1
        return low

    @device_function
    def draw(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Draw the nodes of the cells, block by block."""
        of_slot = slot * address(given.sizes[_CELLS])
        ends = slot * address(given.sizes[_NODES]) * _WIDTH
        for block in range(given.sizes[_BLOCKS]):
            add_up(given, slot, block, address(0))
            add_up(given, slot, block, half)
            for column in range(LANES):
                here = address(block) * _WIDTH + address(column)
                for cell in range(given.cell[here], given.cell[here + address(1)]):
                    at = of_slot + address(cell)
                    given.drawn[at] = np.int32(node_at(given, ends + address(column), given.numbers[at]))

    return draw


def make_total(**_others: int) -> Any:
    """Return the kernel that computes the score of a tree with its shares."""

    @device_function
    def of_block(
        given,  # IN the arrays of `ARGUMENTS`
        slot,  # IN address
        lane,  # IN address
        block,  # IN control
    ):
        """Return the contribution of a cell of each column (int64, one per lane)."""
        nodes = given.sizes[_NODES]
        fraction, spare = np.int32(given.sizes[_FRACTION]), np.int32(given.sizes[_SPARE])
        of_slot, start = slot * address(nodes), start_of(given, slot, block)
        best = np.int32(given.scores[lane + start] + given.log_shares[of_slot])
        for node in range(_1, nodes):
            row = start + address(node) * _WIDTH
            best = maximum(
                best, np.int32(given.scores[lane + row] + given.log_shares[of_slot + address(node)])
            )
        octave = np.int32(best >> fraction)
        powers = np.int32(best - best)
        for node in range(nodes):
            row = start + address(node) * _WIDTH
            worth = np.int32(given.scores[lane + row] + given.log_shares[of_slot + address(node)])
            powers = np.int32(powers + power_of_two(worth, octave, fraction, spare))
        whole = np.int64(octave) - (_MANTISSA - given.sizes[_SPARE])
        return (whole << given.sizes[_FRACTION]) + logarithm_of_two(powers, given.sizes[_FRACTION])

    @device_function
    def total(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Add up the contributions of all cells."""
        found = np.int64(0)
        for block in range(given.sizes[_BLOCKS]):
            here = lane + address(block) * _WIDTH
            cells = given.cell[here + address(1)] - given.cell[here]
            found = found + lane_sum(of_block(given, slot, lane, block) * cells)
        given.total[slot] = found

    return total
