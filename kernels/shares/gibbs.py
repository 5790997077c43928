"""Kernels of Gibbs steps: likelihoods of cells at all nodes, draws of nodes, counts of cells, and scores.

The numbers of a node are side by side, columns in blocks of `LANES`, so that a pass over nodes reads memory
in order. `fallback/shares/gibbs.py` mirrors the kernels; sums of real numbers are in the order of the nodes,
so that both have the same bits.
"""

from typing import Any

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS, MANTISSA_BITS, logarithm_of_two, power_of_two
from syclade.kernels.shares.arguments import GROUP, LANES, OCTAVES, SIZES, TABLE_BITS
from syclade.kernels.target import address, control, device_function, lane_sum, maximum
from syclade.kernels.target.reals import Reals

_BLOCKS, _NODES, _CELLS, _FRACTION, _SPARE, _FACTORS, _NOTHING = (address(at) for at in range(len(SIZES)))
_0, _1 = control(0), control(1)
_WIDTH, _GROUP, _CLASSES, _LANES = address(LANES), address(GROUP), address(256), control(LANES)
_LAST = np.int64(OCTAVES - 1)
_HALF, _WHOLE = np.int64(TABLE_BITS), np.int64(FRACTION_BITS)
_PART = np.int64(2**TABLE_BITS - 1)
_NONE, _NOBODY = np.int32(0), np.int32(-1)
_MANTISSA = np.int64(MANTISSA_BITS)


@device_function
def row_of(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control
):
    """Return where the numbers of a slot's node start, in `scores`, `likelihoods` and `gains` (address)."""
    return (slot * address(given.sizes[_NODES]) + address(node)) * address(given.sizes[_BLOCKS]) * _WIDTH


@device_function
def columns_of(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
):
    """Return where the numbers of a slot's columns start, in `best`, `sums` and others (address)."""
    return slot * address(given.sizes[_BLOCKS]) * _WIDTH


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
def score_node(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control: not the root
):
    """Write the scores of all columns at a node, from those at its parent, and the best ones so far."""
    blocks = given.sizes[_BLOCKS]
    above = row_of(given, slot, given.parents[slot * address(given.sizes[_NODES]) + address(node)]) + lane
    row, best = row_of(given, slot, node) + lane, columns_of(given, slot) + lane
    entries, classes = address(node) * address(blocks) * _WIDTH + lane, slot * _CLASSES
    for block in range(blocks):
        at = address(block) * _WIDTH
        of_class = np.uint64(given.observed[entries + at]) + classes
        score = np.int32(given.scores[above + at] + given.weights[of_class])
        given.scores[row + at] = score
        given.best[best + at] = maximum(given.best[best + at], score)


def make_place(**_others: int) -> Any:
    """Return the kernel that writes scores of all columns at all nodes, and those of the best nodes."""

    @device_function
    def place(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Score all nodes, parents before children."""
        order_nodes(given, slot)
        nodes = given.sizes[_NODES]
        root, best = row_of(given, slot, nodes - _1) + lane, columns_of(given, slot) + lane
        for block in range(given.sizes[_BLOCKS]):
            at = address(block) * _WIDTH
            given.scores[root + at] = _NONE
            given.best[best + at] = given.scores[root + at]
        for place in range(_1, nodes):
            score_node(given, slot, lane, given.order[slot * address(nodes) + address(place)])

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
        up, best = _WHOLE - given.sizes[_FRACTION], columns_of(given, slot)
        columns = given.sizes[_BLOCKS] * _LANES
        for node in range(given.sizes[_NODES]):
            row = row_of(given, slot, node)
            for column in range(columns):
                at = row + address(column)
                gap = (np.int64(given.best[best + address(column)]) - np.int64(given.scores[at])) << up
                given.likelihoods[at] = (
                    given.octaves[address(min(gap >> _WHOLE, _LAST))]
                    * given.upper[address((gap >> _HALF) & _PART)]
                    * given.lower[address(gap & _PART)]
                )

    return compare


def make_draw(reals: Reals, **_others: int) -> Any:
    """Return the kernel that draws a node for each cell."""
    read, write, width = reals.read, reals.write, control(reals.width)

    @device_function
    def add_up(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        first,  # IN control: first column of a group
        count,  # IN control: number of its columns
    ):
        """Write the cumulative weights of the columns of a group over the nodes."""
        nodes = given.sizes[_NODES]
        of_slot = slot * address(nodes)
        to = of_slot * _GROUP
        for node in range(nodes):
            row, share = row_of(given, slot, node) + address(first), given.share[of_slot + address(node)]
            for part in range(_0, count, width):
                own = read(given.likelihoods, row + address(part)) * share
                if node > _0:
                    own = read(given.ends, to + address(part) - _GROUP) + own
                write(given.ends, to + address(part), own)
            to = to + _GROUP

    @device_function
    def node_at(
        given,  # IN the arrays of `ARGUMENTS`
        ends,  # IN address: where a column's cumulative weights start
        number,  # IN float64: below 1
    ):
        """Return the number of nodes that end at or before this part of the whole (control)."""
        nodes = given.sizes[_NODES]
        wanted = number * given.ends[ends + address(nodes - _1) * _GROUP]
        low, size = _0, nodes - _1
        while size > _0:
            middle = low + (size >> _1)
            if given.ends[ends + address(middle) * _GROUP] <= wanted:
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
        """Draw the nodes of the cells, a group of columns after the other, and count the cells at each."""
        of_slot, at_nodes = slot * address(given.sizes[_CELLS]), slot * address(given.sizes[_NODES])
        ends = at_nodes * _GROUP
        for node in range(given.sizes[_NODES]):
            given.counts[at_nodes + address(node)] = np.int64(0)
        columns = given.sizes[_BLOCKS] * _LANES
        for first in range(_0, columns, control(GROUP)):
            count = min(control(GROUP), columns - first)
            add_up(given, slot, first, count)
            for column in range(count):
                here = address(first + column)
                for cell in range(given.cell[here], given.cell[here + address(1)]):
                    at = of_slot + address(cell)
                    node = node_at(given, ends + address(column), given.numbers[at])
                    given.drawn[at] = np.int32(node)
                    given.counts[at_nodes + address(node)] += np.int64(1)

    return draw


def make_tally(**_others: int) -> Any:
    """Return the kernel that counts how often each mutation is missed and seen in the cells that have it."""

    @device_function
    def count_on_path(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        column,  # IN address
        node,  # IN control: where the cells are
        cells,  # IN int64: number of cells of this column
    ):
        """Count the cells of a column at a node for each mutation that they have."""
        nodes, blocks = given.sizes[_NODES], given.sizes[_BLOCKS]
        of_slot, root = slot * address(nodes), nodes - _1
        while node != root:
            observed = control(given.observed[address(node) * address(blocks) * _WIDTH + column])
            if observed < given.sizes[_NOTHING]:
                mutation = slot * address(root) + address(node)
                given.shown[mutation * address(2) + address(observed & _1)] += cells
            node = control(given.parents[of_slot + address(node)])

    @device_function
    def tally(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Count the cells of each column on the paths to their nodes, those of equal nodes together."""
        of_slot, root = slot * address(given.sizes[_CELLS]), given.sizes[_NODES] - _1
        start = slot * address(root) * address(2)
        for at in range(root + root):
            given.shown[start + address(at)] = np.int64(0)
        for column in range(given.sizes[_BLOCKS] * _LANES):
            here, node, cells = address(column), root, np.int64(0)
            for cell in range(given.cell[here], given.cell[here + address(1)]):
                own = control(given.drawn[of_slot + address(cell)])
                if own != node:
                    count_on_path(given, slot, here, node, cells)
                    node, cells = own, np.int64(0)
                cells = cells + np.int64(1)
            count_on_path(given, slot, here, node, cells)

    return tally


def make_total(**_others: int) -> Any:
    """Return the kernel that computes the score of a tree with its shares."""

    @device_function
    def find_best(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        lane,  # IN address
    ):
        """Write the highest score of each column, with the share of the node."""
        nodes, blocks = given.sizes[_NODES], given.sizes[_BLOCKS]
        best = columns_of(given, slot) + lane
        for node in range(nodes):
            row = row_of(given, slot, node) + lane
            share = given.log_shares[slot * address(nodes) + address(node)]
            for block in range(blocks):
                at = address(block) * _WIDTH
                worth = np.int32(given.scores[row + at] + share)
                if node > _0:
                    worth = maximum(given.worth[best + at], worth)
                given.worth[best + at] = worth

    @device_function
    def add_powers(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        lane,  # IN address
    ):
        """Write the sum of the powers of each column, relative to the octave of its highest score."""
        nodes, blocks = given.sizes[_NODES], given.sizes[_BLOCKS]
        fraction, spare = np.int32(given.sizes[_FRACTION]), np.int32(given.sizes[_SPARE])
        best = columns_of(given, slot) + lane
        for node in range(nodes):
            row = row_of(given, slot, node) + lane
            share = given.log_shares[slot * address(nodes) + address(node)]
            for block in range(blocks):
                at = address(block) * _WIDTH
                octave = np.int32(given.worth[best + at] >> fraction)
                power = power_of_two(np.int32(given.scores[row + at] + share), octave, fraction, spare)
                if node > _0:
                    power = np.int32(given.powers[best + at] + power)
                given.powers[best + at] = power

    @device_function
    def total(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Add up the contributions of all cells."""
        find_best(given, slot, lane)
        add_powers(given, slot, lane)
        found, fraction = np.int64(0), given.sizes[_FRACTION]
        best = columns_of(given, slot) + lane
        for block in range(given.sizes[_BLOCKS]):
            at = address(block) * _WIDTH
            octave = np.int64(np.int32(given.worth[best + at] >> np.int32(fraction)))
            whole = octave - (_MANTISSA - given.sizes[_SPARE])
            worth = (whole << fraction) + logarithm_of_two(given.powers[best + at], fraction)
            cells = given.cell[at + lane + address(1)] - given.cell[at + lane]
            found = found + lane_sum(worth * cells)
        given.total[slot] = found

    return total
