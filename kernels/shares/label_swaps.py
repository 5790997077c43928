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
from syclade.kernels.shares.gibbs import best_of, order_nodes, start_of
from syclade.kernels.tails.arithmetic import log
from syclade.kernels.target import address, control, device_function
from syclade.kernels.target.reals import Reals

_BLOCKS, _NODES, _CELLS, _FRACTION, _SPARE, _FACTORS = (address(at) for at in range(len(SIZES)))
_0, _1 = control(0), control(1)
_WIDTH, _CLASSES = address(LANES), address(256)
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
    row,  # IN address: where a column's likelihoods start
    count,  # IN control: number of the nodes in `changed`
):
    """Return the likelihood of a column over the nodes that a swap changes (float64)."""
    shares, first = slot * address(given.sizes[_NODES]), slot * address(_MOST)
    part = 0.0
    for at in range(count):
        node = address(given.changed[first + address(at)])
        part = part + given.likelihoods[row + node * _WIDTH] * given.share[shares + node]
    return part


@device_function
def gain_of(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    upper,  # IN control: mutation of the node
    lower,  # IN control: mutation of the child
    count,  # IN control: number of the nodes in `changed`
):
    """Return the log-likelihood ratio of a swap (float64, natural log), and write the sums after it.

    A product of `_FACTORS` ratios neither overflows nor vanishes, so that few logarithms are taken.
    """
    most, classes = control(given.sizes[_FACTORS]), slot * _CLASSES
    gain, product, factors = 0.0, 1.0, _0
    for block in range(given.sizes[_BLOCKS]):
        start, sums = start_of(given, slot, block), best_of(given, slot, block)
        above = (address(block) * address(given.sizes[_NODES] - _1) + address(upper)) * _WIDTH
        below = (address(block) * address(given.sizes[_NODES] - _1) + address(lower)) * _WIDTH
        for column in range(LANES):
            lane, here = address(column), address(block) * _WIDTH + address(column)
            lost, got = given.observed[above + lane], given.observed[below + lane]
            if lost != got:
                part = changed_part(given, slot, start + lane, count)
                gained = part * (
                    given.factor[classes + address(got)] * given.inverse[classes + address(lost)]
                )
                before = given.sums[sums + lane]
                after = before
                if part + gained > before * _LEAST:
                    after = max(before - part, 0.0) + gained
                    for _ in range(control(given.cell[here + address(1)] - given.cell[here])):
                        product = product * (after / before)
                        factors = factors + _1
                        if factors == most:
                            gain = gain + log(product)
                            product, factors = 1.0, _0
                given.sums_after[sums + lane] = after
    return gain + log(product)


@device_function
def swap_with_child(
    given,  # IN OUT the arrays of `ARGUMENTS`
    slot,  # IN address
    node,  # IN control
    child,  # IN control
    count,  # IN control: number of the nodes in `changed`
):
    """Swap two labels, after `gain_of`."""
    nodes = given.sizes[_NODES]
    labels, first, classes = slot * address(nodes), slot * address(_MOST), slot * _CLASSES
    upper, lower = given.label[labels + address(node)], given.label[labels + address(child)]
    given.label[labels + address(node)] = lower
    given.label[labels + address(child)] = upper
    for block in range(given.sizes[_BLOCKS]):
        start = start_of(given, slot, block)
        sums, entries = best_of(given, slot, block), address(block) * address(nodes - _1) * _WIDTH
        above, below = entries + address(upper) * _WIDTH, entries + address(lower) * _WIDTH
        for column in range(LANES):
            lane = address(column)
            lost, got = given.observed[above + lane], given.observed[below + lane]
            if lost != got:
                ratio = given.factor[classes + address(got)] * given.inverse[classes + address(lost)]
                given.sums[sums + lane] = given.sums_after[sums + lane]
                for at in range(count):
                    row = start + address(given.changed[first + address(at)]) * _WIDTH + lane
                    given.likelihoods[row] = given.likelihoods[row] * ratio


def make_swap(reals: Reals, **_others: int) -> Any:
    """Return the kernel that proposes to swap the label of each node with that of one of its children."""
    read, write, every = reals.read, reals.write, reals.all
    half = address(reals.width)

    @device_function
    def add_up(
        given,  # IN OUT the arrays of `ARGUMENTS`
        slot,  # IN address
        block,  # IN control
        part,  # IN address: first column
    ):
        """Write the likelihoods of some columns of a block, summed over the nodes."""
        nodes = given.sizes[_NODES]
        of_slot = slot * address(nodes)
        start = start_of(given, slot, block) + part
        total = every(0.0)
        for node in range(nodes):
            row = start + address(node) * _WIDTH
            total = total + read(given.likelihoods, row) * given.share[of_slot + address(node)]
        write(given.sums, best_of(given, slot, block) + part, total)

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
        for block in range(given.sizes[_BLOCKS]):
            add_up(given, slot, block, address(0))
            add_up(given, slot, block, half)
        for turn in range(nodes - _1):
            own = control(given.turns[slot * address(nodes - _1) + address(turn)])
            child = child_of(given, slot, own, given.uniform[numbers + address(own)])
            if child >= _0:
                count = control(given.size[start + address(own)] - given.size[start + address(child)])
                if count <= _MOST:
                    count = list_changed(given, slot, own, child)
                    upper = control(given.label[start + address(own)])
                    lower = control(given.label[start + address(child)])
                    gain = gain_of(given, slot, upper, lower, count)
                    if log(given.uniform[numbers + address(nodes + own)]) < gain:
                        swap_with_child(given, slot, own, child, count)

    return swap
