"""Kernel that draws new places of mutations, one after another, given the nodes of the cells.

Given these, the likelihood of a tree is a product over its mutations: each adds its gain, the sum of its
weights over the cells at and below its node. So all places of a mutation, or of a subtree, are weighed in one
pass over the nodes, and one is drawn by its conditional probability (docs/model.md, "Places given the
cells"). `fallback/shares/relocation.py` mirrors the kernel; sums of real numbers are in the order of the
places, so that both have the same bits.
"""

from typing import Any

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS
from syclade.kernels.shares.arguments import LANES, TABLE_BITS
from syclade.kernels.shares.gibbs import order_nodes, row_of
from syclade.kernels.shares.relocation_arguments import LOWEST, SIZES, SLIDES
from syclade.kernels.target import address, control, device_function

_BLOCKS, _NODES, _CELLS, _FRACTION = (address(at) for at in range(len(SIZES)))
_0, _1, _2 = control(0), control(1), control(2)
_CLASSES, _WIDTH = address(256), address(LANES)
_NOTHING, _NEVER = np.int64(0), np.int64(-(2**62))
_HALF, _WHOLE = np.int64(TABLE_BITS), np.int64(FRACTION_BITS)
_PART = np.int64(2**TABLE_BITS - 1)
_ONE, _NONE, _NOBODY = np.int32(1), np.int32(0), np.int32(-1)
_LOWEST = np.int64(LOWEST)


@device_function
def add_row(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    to,  # IN control: a node
    source,  # IN control: a node
    sign,  # IN int64: 1 or -1
):
    """Add the gains of a node to those of another one, or subtract them."""
    there, here = row_of(given, slot, to) + lane, row_of(given, slot, source) + lane
    for block in range(given.sizes[_BLOCKS]):
        at = address(block) * _WIDTH
        given.gains[there + at] = given.gains[there + at] + sign * given.gains[here + at]


@device_function
def copy_row(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    to,  # IN control: a node
    source,  # IN control: a node
):
    """Write the gains of a node to those of another one."""
    there, here = row_of(given, slot, to) + lane, row_of(given, slot, source) + lane
    for block in range(given.sizes[_BLOCKS]):
        at = address(block) * _WIDTH
        given.gains[there + at] = given.gains[here + at]


@device_function
def clear_row(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control
):
    """Write no gains to a node."""
    row = row_of(given, slot, node) + lane
    for block in range(given.sizes[_BLOCKS]):
        given.gains[row + address(block) * _WIDTH] = _NOTHING


@device_function
def add_cell(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control: the node of the cell
    column,  # IN control
):
    """Add the gains of all mutations in a cell to those of its node."""
    blocks = given.sizes[_BLOCKS]
    row, entries = row_of(given, slot, node) + lane, address(column) * address(blocks) * _WIDTH + lane
    for block in range(blocks):
        at = address(block) * _WIDTH
        weight = given.weights[np.uint64(given.observed[entries + at]) + slot * _CLASSES]
        given.gains[row + at] = given.gains[row + at] + np.int64(weight)


@device_function
def list_cells(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
):
    """Write the cells of each node as a list, and their number."""
    nodes = given.sizes[_NODES]
    start, first = slot * address(nodes), slot * address(given.sizes[_CELLS])
    for node in range(nodes):
        given.inhabitants[start + address(node)] = _NONE
        given.first_cell[start + address(node)] = _NOBODY
    for cell in range(given.sizes[_CELLS]):
        there = start + address(given.drawn[first + address(cell)])
        given.inhabitants[there] = given.inhabitants[there] + _ONE
        given.next_cell[first + address(cell)] = given.first_cell[there]
        given.first_cell[there] = np.int32(cell)


@device_function
def add_cells(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
):
    """Write the gains of all mutations at all nodes, and the numbers of cells and of children of nodes."""
    nodes = given.sizes[_NODES]
    start, first = slot * address(nodes), slot * address(given.sizes[_CELLS])
    list_cells(given, slot)
    order_nodes(given, slot)
    for place in range(nodes):
        node = control(given.order[start + address(nodes - _1 - place)])
        clear_row(given, slot, lane, node)
        cell = control(given.first_cell[start + address(node)])
        while cell >= _0:
            add_cell(given, slot, lane, node, given.column[address(cell)])
            cell = control(given.next_cell[first + address(cell)])
        children, child = _NONE, control(given.child[start + address(node)])
        while child >= _0:
            add_row(given, slot, lane, node, child, np.int64(1))
            children, child = children + _ONE, control(given.sibling[start + address(child)])
        given.children[start + address(node)] = children


@device_function
def weight_of(
    given,  # IN the arrays of `ARGUMENTS`
    gap,  # IN int64 >= 0: score of the best place, minus that of a place
):
    """Return 2^-gap, or 0 if it is very small (float64)."""
    fine = gap << (_WHOLE - given.sizes[_FRACTION])
    weight = 0.0
    if fine >> _WHOLE < _LOWEST:
        weight = (
            given.octaves[address(fine >> _WHOLE)]
            * given.upper[address((fine >> _HALF) & _PART)]
            * given.lower[address(fine & _PART)]
        )
    return weight


@device_function
def weigh(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    places,  # IN control: number of the places
    best,  # IN int64: score of the best one
):
    """Write the places that have a weight, and their cumulative weights; return (their number, the sum)."""
    start = slot * address(given.sizes[_NODES])
    least = best - (_LOWEST << given.sizes[_FRACTION])
    found, total = _0, 0.0
    for place in range(places):
        worth = given.worth[start + address(place)]
        if worth > least:
            total = total + weight_of(given, best - worth)
            given.ends[start + address(found)] = total
            given.likely[start + address(found)] = np.int32(place)
            found = found + _1
    return found, total


@device_function
def likely_at(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    found,  # IN control: number of the places that have a weight
    wanted,  # IN float64: part of the sum of the weights
):
    """Return the first place that ends beyond this part of the sum, or the last one (control)."""
    start = slot * address(given.sizes[_NODES])
    low, size = _0, found - _1
    while size > _0:
        middle = low + (size >> _1)
        if given.ends[start + address(middle)] <= wanted:
            low, size = middle + _1, size - (size >> _1) - _1
        else:
            size = size >> _1
    return control(given.likely[start + address(low)])


@device_function
def slide(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control: a mutation without cells, with at most one child
    number,  # IN float64
):
    """Draw the place of a mutation alone: above any node, between it and its parent, or a leaf below any."""
    nodes = given.sizes[_NODES]
    start = slot * address(nodes)
    own = start + address(node)
    take_out(given, slot, node)
    best = _NOTHING
    given.gains[row_of(given, slot, node) + address(node)] = _NEVER
    at, width = row_of(given, slot, _0) + address(node), address(given.sizes[_BLOCKS]) * _WIDTH
    for other in range(nodes - _1):
        gain = given.gains[at + address(other) * width]
        given.worth[start + address(other)] = gain
        best = max(best, gain)
    found, total = weigh(given, slot, nodes - _1, best)
    alone = weight_of(given, best)
    wanted = number * (total + alone * (nodes - _1))
    if wanted < total or alone == 0.0:
        below = likely_at(given, slot, found, wanted)
        given.parents[own] = given.parents[start + address(below)]
        given.parents[start + address(below)] = np.int32(node)
        given.children[own] = _ONE
        copy_row(given, slot, lane, node, below)
    else:
        place = min(control((wanted - total) / alone), nodes - _2)
        if place >= node:
            place = place + _1
        given.parents[own] = np.int32(place)
        given.children[start + address(place)] = given.children[start + address(place)] + _ONE
        clear_row(given, slot, lane, node)


@device_function
def take_out(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control: a mutation with at most one child
):
    """Give the child of a mutation to its parent."""
    start = slot * address(given.sizes[_NODES])
    own = start + address(node)
    above = given.parents[own]
    if given.children[own] == _ONE:
        child = _0
        while control(given.parents[start + address(child)]) != node:
            child = child + _1
        given.parents[start + address(child)] = above
    else:
        at = start + address(above)
        given.children[at] = given.children[at] - _ONE
    given.children[own] = _NONE


@device_function
def regraft(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control: a mutation
    number,  # IN float64
):
    """Draw the parent of a mutation, which takes its subtree and the cells in it along."""
    nodes = given.sizes[_NODES]
    start = slot * address(nodes)
    gains = row_of(given, slot, node)
    given.worth[start + address(nodes - _1)] = _NOTHING
    best = _NOTHING
    for at in range(_1, nodes):
        other = address(given.order[start + address(at)])
        worth = given.worth[start + address(given.parents[start + other])]
        if control(other) == node:
            worth = _NEVER
        if worth != _NEVER:
            worth = worth + given.gains[gains + other]
            best = max(best, worth)
        given.worth[start + other] = worth
    found, total = weigh(given, slot, nodes, best)
    place = likely_at(given, slot, found, number * total)
    before = control(given.parents[start + address(node)])
    if place != before:
        move_gains(given, slot, lane, node, before, place)
        given.parents[start + address(node)] = np.int32(place)
        given.children[start + address(before)] = given.children[start + address(before)] - _ONE
        given.children[start + address(place)] = given.children[start + address(place)] + _ONE
        order_nodes(given, slot)


@device_function
def move_gains(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    lane,  # IN address
    node,  # IN control: a mutation
    before,  # IN control: its parent
    after,  # IN control: its next parent
):
    """Take the cells below a mutation from the nodes above it alone, and add them to those of its next place.

    Nodes above both places keep them. `likely` marks those above the next one.
    """
    nodes = given.sizes[_NODES]
    start, root = slot * address(nodes), nodes - _1
    for at in range(nodes):
        given.likely[start + address(at)] = _NONE
    above = after
    given.likely[start + address(root)] = _ONE
    while above != root:
        given.likely[start + address(above)] = _ONE
        above = control(given.parents[start + address(above)])
    both = before
    while given.likely[start + address(both)] == _NONE:
        add_row(given, slot, lane, both, node, np.int64(-1))
        both = control(given.parents[start + address(both)])
    above = after
    while above != both:
        add_row(given, slot, lane, above, node, np.int64(1))
        above = control(given.parents[start + address(above)])


def make_relocate(**_others: int) -> Any:
    """Return the kernel that draws the place of each mutation alone, `SLIDES` times, and of each subtree."""

    @device_function
    def relocate(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Draw places, each by a number of its own, whether or not the mutation can have it."""
        nodes = given.sizes[_NODES]
        start = slot * address(nodes)
        numbers = slot * address(nodes - _1) * address(SLIDES + 1)
        add_cells(given, slot, lane)
        for turn in range(control(SLIDES)):
            for node in range(nodes - _1):
                own = start + address(node)
                number = given.numbers[numbers + address(turn * (nodes - _1) + node)]
                if given.inhabitants[own] == _NONE and given.children[own] <= _ONE:
                    slide(given, slot, lane, node, number)
        order_nodes(given, slot)
        for node in range(nodes - _1):
            number = given.numbers[numbers + address(control(SLIDES) * (nodes - _1) + node)]
            regraft(given, slot, lane, node, number)

    return relocate
