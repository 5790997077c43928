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
from syclade.kernels.shares.arguments import TABLE_BITS
from syclade.kernels.shares.gibbs import order_nodes
from syclade.kernels.shares.relocation_arguments import LOWEST, SIZES, SLIDES
from syclade.kernels.target import address, control, device_function

_COLUMNS, _NODES, _CELLS, _FRACTION = (address(at) for at in range(len(SIZES)))
_0, _1, _2 = control(0), control(1), control(2)
_CLASSES = address(256)
_NOTHING, _NEVER = np.int64(0), np.int64(-(2**62))
_HALF, _WHOLE = np.int64(TABLE_BITS), np.int64(FRACTION_BITS)
_PART = np.int64(2**TABLE_BITS - 1)
_ONE, _NONE = np.int32(1), np.int32(0)
_LOWEST = np.int64(LOWEST)


@device_function
def add_row(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    to,  # IN control: a node
    source,  # IN control: a node
    sign,  # IN int64: 1 or -1
):
    """Add the gains of a node to those of another one, or subtract them."""
    nodes = given.sizes[_NODES]
    mutations = address(nodes - _1)
    there = (slot * address(nodes) + address(to)) * mutations
    here = (slot * address(nodes) + address(source)) * mutations
    for row in range(nodes - _1):
        at = there + address(row)
        given.gains[at] = given.gains[at] + sign * given.gains[here + address(row)]


@device_function
def add_cells(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
):
    """Write the gains of all mutations at all nodes, and the numbers of cells and of children of nodes."""
    nodes = given.sizes[_NODES]
    mutations = address(nodes - _1)
    start, first = slot * address(nodes), slot * address(given.sizes[_CELLS])
    for node in range(nodes):
        given.inhabitants[start + address(node)] = _NONE
        given.children[start + address(node)] = _NONE
        row = (start + address(node)) * mutations
        for mutation in range(nodes - _1):
            given.gains[row + address(mutation)] = _NOTHING
    for column in range(given.sizes[_COLUMNS]):
        entries = address(column) * mutations
        for cell in range(given.cell[address(column)], given.cell[address(column + _1)]):
            there = start + address(given.drawn[first + address(cell)])
            given.inhabitants[there] = given.inhabitants[there] + _ONE
            row = there * mutations
            for mutation in range(nodes - _1):
                seen = np.uint64(given.observed[entries + address(mutation)])
                at = row + address(mutation)
                given.gains[at] = given.gains[at] + given.weights[slot * _CLASSES + seen]
    order_nodes(given, slot)
    for place in range(nodes - _1):
        lower = control(given.order[start + address(nodes - _1 - place)])
        above = control(given.parents[start + address(lower)])
        add_row(given, slot, above, lower, np.int64(1))
        given.children[start + address(above)] = given.children[start + address(above)] + _ONE


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
    node,  # IN control: a mutation without cells, with at most one child
    number,  # IN float64
):
    """Draw the place of a mutation alone: above any node, between it and its parent, or a leaf below any."""
    nodes = given.sizes[_NODES]
    start, mutations = slot * address(nodes), address(nodes - _1)
    own = start + address(node)
    take_out(given, slot, node)
    best = _NOTHING
    given.gains[own * mutations + address(node)] = _NEVER
    for other in range(nodes - _1):
        gain = given.gains[(start + address(other)) * mutations + address(node)]
        given.worth[start + address(other)] = gain
        best = max(best, gain)
    found, total = weigh(given, slot, nodes - _1, best)
    alone = weight_of(given, best)
    wanted = number * (total + alone * (nodes - _1))
    if wanted < total or alone == 0.0:
        below = start + address(likely_at(given, slot, found, wanted))
        given.parents[own] = given.parents[below]
        given.parents[below] = np.int32(node)
        given.children[own] = _ONE
        for row in range(nodes - _1):
            given.gains[own * mutations + address(row)] = given.gains[below * mutations + address(row)]
    else:
        place = min(control((wanted - total) / alone), nodes - _2)
        if place >= node:
            place = place + _1
        given.parents[own] = np.int32(place)
        given.children[start + address(place)] = given.children[start + address(place)] + _ONE
        for row in range(nodes - _1):
            given.gains[own * mutations + address(row)] = _NOTHING


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
    node,  # IN control: a mutation
    number,  # IN float64
):
    """Draw the parent of a mutation, which takes its subtree and the cells in it along."""
    nodes = given.sizes[_NODES]
    start = slot * address(nodes)
    gains = (start + address(node)) * address(nodes - _1)
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
        move_gains(given, slot, node, before, place)
        given.parents[start + address(node)] = np.int32(place)
        given.children[start + address(before)] = given.children[start + address(before)] - _ONE
        given.children[start + address(place)] = given.children[start + address(place)] + _ONE
        order_nodes(given, slot)


@device_function
def move_gains(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
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
        add_row(given, slot, both, node, np.int64(-1))
        both = control(given.parents[start + address(both)])
    above = after
    while above != both:
        add_row(given, slot, above, node, np.int64(1))
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
        add_cells(given, slot)
        for turn in range(control(SLIDES)):
            for node in range(nodes - _1):
                own = start + address(node)
                number = given.numbers[numbers + address(turn * (nodes - _1) + node)]
                if given.inhabitants[own] == _NONE and given.children[own] <= _ONE:
                    slide(given, slot, node, number)
        order_nodes(given, slot)
        for node in range(nodes - _1):
            number = given.numbers[numbers + address(control(SLIDES) * (nodes - _1) + node)]
            regraft(given, slot, node, number)

    return relocate
