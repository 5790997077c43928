"""Kernel that swaps labels of nodes and their children, given the shares, over all nodes of the cells.

A swap changes only the cells at and below a node that are not below the child: those lose one mutation and
gain the other. So its likelihood, summed over the nodes of every cell, follows from few rows of likelihoods,
and only of the columns in which both mutations differ. Shares stay at their places (docs/model.md, "Swaps of
neighbours"). `fallback/shares/label_swaps.py` mirrors the kernel; sums and products of real numbers are in
the order of the nodes and of the cells, so that both have the same bits.
"""

from typing import Any

import numpy as np

from syclade.kernels.shares.arguments import LANES, LEAST_PART, MOST_CHANGED, SIZES
from syclade.kernels.shares.gibbs import columns_of, order_nodes, row_of
from syclade.kernels.tails.arithmetic import log
from syclade.kernels.target import address, control, device_function
from syclade.kernels.target.reals import Reals

_BLOCKS, _NODES, _CELLS, _FRACTION, _SPARE, _FACTORS, _ = (address(at) for at in range(len(SIZES)))
_0, _1 = control(0), control(1)
_CLASSES = address(256)
_MOST = control(MOST_CHANGED)
_LEAST = np.float64(LEAST_PART)


@device_function
def measure_subtrees(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
):
    """Write the place of each node in preorder, and the number of nodes at and below it."""
    nodes = given.sizes[_NODES]
    start = slot * address(nodes)
    for place in range(nodes):
        own = start + address(given.order[start + address(place)])
        given.place[own] = np.int32(place)
        given.size[own] = np.int32(1)
    for place in range(nodes - _1):
        own = start + address(given.order[start + address(nodes - _1 - place)])
        above = start + address(given.parents[own])
        given.size[above] = given.size[above] + given.size[own]


@device_function
def child_of(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control
    number,  # IN float64: below 1
):
    """Return the child of a node that a uniform number chooses, or -1 (control)."""
    start = slot * address(given.sizes[_NODES])
    count, child = _0, control(given.child[start + address(node)])
    while child >= _0:
        count = count + _1
        child = control(given.sibling[start + address(child)])
    child = control(given.child[start + address(node)])
    for _ in range(control(number * count)):
        child = control(given.sibling[start + address(child)])
    return child


@device_function
def list_changed(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control
    child,  # IN control: the child whose label is swapped
):
    """Write the nodes at and below a node that are not below the child; return their number (control)."""
    start, first = slot * address(given.sizes[_NODES]), slot * address(_MOST)
    place = control(given.place[start + address(node)])
    end = place + control(given.size[start + address(node)])
    found = _0
    while place < end:
        below = given.order[start + address(place)]
        if control(below) == child:
            place = place + control(given.size[start + address(below)])
        else:
            given.changed[first + address(found)] = below
            found = found + _1
            place = place + _1
    return found


@device_function
def changed_part(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    column,  # IN address
    count,  # IN control: number of the nodes in `changed`
):
    """Return the likelihood of a column over the nodes that a swap changes (float64)."""
    shares, first = slot * address(given.sizes[_NODES]), slot * address(_MOST)
    start, width = row_of(given, slot, _0) + column, address(given.sizes[_BLOCKS]) * address(LANES)
    part = 0.0
    for at in range(count):
        node = address(given.changed[first + address(at)])
        part = part + given.likelihoods[start + node * width] * given.share[shares + node]
    return part


@device_function
def list_differing(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    upper,  # IN control: mutation of the node
    lower,  # IN control: mutation of the child
):
    """Write the columns in which two mutations differ; return their number (control)."""
    columns, first = given.sizes[_BLOCKS] * control(LANES), columns_of(given, slot)
    above, below = address(upper) * address(columns), address(lower) * address(columns)
    found = _0
    for place in range(columns):
        column = address(place)
        given.differing[first + address(found)] = np.int32(place)
        found = found + control(given.observed[above + column] != given.observed[below + column])
    return found


@device_function
def ratio_at(
    given,  # IN the arrays of `ARGUMENTS`
    slot,  # IN address
    upper,  # IN control: mutation of the node
    lower,  # IN control: mutation of the child
    column,  # IN address
):
    """Return the likelihood ratio of a column that loses one mutation and gains the other (float64)."""
    columns, classes = address(given.sizes[_BLOCKS]) * address(LANES), slot * _CLASSES
    lost = given.observed[address(upper) * columns + column]
    got = given.observed[address(lower) * columns + column]
    return given.factor[classes + address(got)] * given.inverse[classes + address(lost)]


@device_function
def gain_of(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    upper,  # IN control: mutation of the node
    lower,  # IN control: mutation of the child
    count,  # IN control: number of the nodes in `changed`
    differing,  # IN control: number of the columns in `differing`
):
    """Return the log-likelihood ratio of a swap (float64, natural log), and write the sums after it.

    A product of `_FACTORS` ratios neither overflows nor vanishes, so that few logarithms are taken.
    """
    most, sums = control(given.sizes[_FACTORS]), columns_of(given, slot)
    gain, product, factors = 0.0, 1.0, _0
    for place in range(differing):
        column = address(given.differing[sums + address(place)])
        part = changed_part(given, slot, column, count)
        gained = part * ratio_at(given, slot, upper, lower, column)
        before = given.sums[sums + column]
        after = before
        if part + gained > before * _LEAST:
            after = max(before - part, 0.0) + gained
            for _ in range(control(given.cell[column + address(1)] - given.cell[column])):
                product = product * (after / before)
                factors = factors + _1
                if factors == most:
                    gain = gain + log(product)
                    product, factors = 1.0, _0
        given.sums_after[sums + column] = after
    return gain + log(product)


@device_function
def swap_with_child(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control
    child,  # IN control
    count,  # IN control: number of the nodes in `changed`
    differing,  # IN control: number of the columns in `differing`
):
    """Swap two labels, after `gain_of`."""
    labels, first = slot * address(given.sizes[_NODES]), slot * address(_MOST)
    upper, lower = control(given.label[labels + address(node)]), control(given.label[labels + address(child)])
    given.label[labels + address(node)] = np.int32(lower)
    given.label[labels + address(child)] = np.int32(upper)
    sums = columns_of(given, slot)
    for place in range(differing):
        column = address(given.differing[sums + address(place)])
        ratio = ratio_at(given, slot, upper, lower, column)
        given.sums[sums + column] = given.sums_after[sums + column]
        for at in range(count):
            row = row_of(given, slot, given.changed[first + address(at)]) + column
            given.likelihoods[row] = given.likelihoods[row] * ratio


def make_swap(reals: Reals, **_others: int) -> Any:
    """Return the kernel that proposes to swap the label of each node with that of one of its children."""
    read, write, width = reals.read, reals.write, control(reals.width)

    @device_function
    def add_up(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
    ):
        """Write the likelihoods of all columns, summed over the nodes."""
        nodes, columns = given.sizes[_NODES], given.sizes[_BLOCKS] * control(LANES)
        sums = columns_of(given, slot)
        for node in range(nodes):
            row, share = row_of(given, slot, node), given.share[slot * address(nodes) + address(node)]
            for first in range(_0, columns, width):
                own, to = read(given.likelihoods, row + address(first)) * share, sums + address(first)
                if node > _0:
                    own = read(given.sums, to) + own
                write(given.sums, to, own)

    @device_function
    def swap(
        slot,  # IN address
        lane,  # IN address
        given,  # IN OUT the arrays of `ARGUMENTS`
    ):
        """Go through the nodes in the given order; a swap that changes many nodes is not proposed.

        The order is random: one that depends on labels, as that of the tree does, would favour some trees.
        """
        nodes = given.sizes[_NODES]
        start, numbers = slot * address(nodes), slot * address(nodes) * address(2)
        order_nodes(given, slot)
        measure_subtrees(given, slot)
        for node in range(nodes):
            given.label[start + address(node)] = np.int32(node)
        add_up(given, slot)
        for turn in range(nodes - _1):
            own = control(given.turns[slot * address(nodes - _1) + address(turn)])
            child = child_of(given, slot, own, given.uniform[numbers + address(own)])
            if child >= _0:
                count = control(given.size[start + address(own)] - given.size[start + address(child)])
                if count <= _MOST:
                    count = list_changed(given, slot, own, child)
                    upper = control(given.label[start + address(own)])
                    lower = control(given.label[start + address(child)])
                    differing = list_differing(given, slot, upper, lower)
                    gain = gain_of(given, slot, upper, lower, count, differing)
                    if log(given.uniform[numbers + address(nodes + own)]) < gain:
                        swap_with_child(given, slot, own, child, count, differing)

    return swap
