"""Sums of mutations' weights over what is below nodes, for a batch of mutations.

Teams add the weights of their columns at the nodes where these are attached. Sums below nodes follow from the
preorder, and are the same in all teams.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import BATCH
from syclade.kernels.search.batched.mutation_tree import (
    interval_of,
    node_at,
    parent_of,
    size_of,
    start_of,
)
from syclade.kernels.search.batched.rows import weight_at
from syclade.kernels.search.batched.team import own
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, read_fresh, warp_prefix, warp_sum


@device_function
def hopes_start(work):
    """Return where hopes start in a buffer of sums, after the gains (control)."""
    return BATCH * work.nodes


@device_function
def present_start(work):
    """Return where what mutations add now starts in a buffer of sums (control)."""
    return 2 * BATCH * work.nodes


@device_function
def own_item(work, item, node):
    """Return where a node is in the team's arrays over items and nodes (control)."""
    return (work.part * BATCH + item) * work.nodes + node


@device_function
def add_weights(
    work,  # IN weights, holder, the tree; OUT gains
    start,  # IN control: where the buffer of sums starts
    v,  # IN control: the mutation
    item,  # IN control: its place in the batch
):
    """Add v's weights at the nodes of the team's columns, those at v to its parent, and what v adds now."""
    given, old = work.given, parent_of(work, v)
    first, stop = control(0), control(0)
    if old != v:
        first, stop = interval_of(work, v)
    direct = start + item * work.nodes
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        weight = weight_at(work, v, cell)
        if weight != np.int32(0):
            node = control(given.holder[work.number * work.cells + cell])
            place = start_of(work, node)
            if place >= first and place < stop:
                add_to(given.gains, start + present_start(work) + item, weight)
            if node == v:
                node = old
            add_to(given.gains, direct + node, weight)
            if weight > np.int32(0):
                add_to(given.gains, direct + hopes_start(work) + node, weight)


@device_function
def copy_weights(
    work,  # IN gains, order; OUT gain, hope
    start,  # IN control: where the buffer of sums starts
    item,  # IN control: a mutation's place in the batch
    part,  # IN control: part of the positions, of `parts`
    parts,  # IN control
):
    """Copy a mutation's weights at each position, and its positive ones at each node; a warp does."""
    given, direct = work.given, start + item * work.nodes
    for place in range(part * work.lanes + work.lane, size_of(work, work.root), parts * work.lanes):
        node = node_at(work, place)
        given.gain[own_item(work, item, place)] = np.int32(read_fresh(given.gains, direct + node))
        hope = np.int32(read_fresh(given.gains, direct + hopes_start(work) + node))
        given.hope[own_item(work, item, node)] = hope


@device_function
def sum_below(
    work,  # IN OUT gain
    item,  # IN control: the mutation's place in the batch
):
    """Sum a mutation's weights up to each position, from the weights there; a warp does."""
    given, count = work.given, size_of(work, work.root)
    sum_before = np.int32(0)
    for first in range(0, count, work.lanes):
        place, here = first + work.lane, np.int32(0)
        if place < count:
            here = given.gain[own_item(work, item, place)]
        upto = np.int32(sum_before + warp_prefix(here))
        if place < count:
            given.gain[own_item(work, item, place)] = upto
        sum_before = np.int32(sum_before + warp_sum(here))


@device_function
def add_hopes(
    work,  # IN OUT Team
    v,  # IN control: the mutation
    item,  # IN control: place in the batch
    part,  # IN control: part of the places, of `parts`
    parts,  # IN control
):
    """Add what is below children of nodes, without v, to the hopes of these nodes; see `gain_at`."""
    given, old = work.given, parent_of(work, v)
    for place in range(1 + part * work.lanes + work.lane, size_of(work, work.root), parts * work.lanes):
        node = node_at(work, place)
        if node != v:
            gain = gain_at(work, item, node)
            if gain > np.int32(0):
                above = parent_of(work, node)
                if above == v:
                    above = old
                add_to(given.hope, own_item(work, item, above), gain)


@device_function
def gain_at(work, item, node):
    """Return the sum of a batch's mutation below a node (int32)."""
    start, stop = interval_of(work, node)
    given, before = work.given, np.int32(0)
    if start > 0:
        before = given.gain[own_item(work, item, start - 1)]
    return np.int32(given.gain[own_item(work, item, stop - 1)] - before)


@device_function
def hope_at(work, item, node):
    """Return what a batch's mutation would add below a node (int64)."""
    return control(work.given.hope[own_item(work, item, node)])


@device_function
def mark_taken(work, item):
    """Mark the nodes below which a batch's mutation gains; positions and sizes are those of its sums."""
    for node in range(work.thread, work.root, work.threads):
        if parent_of(work, node) != node:
            work.given.taken[own(work, node)] = np.int32(gain_at(work, item, node) > np.int32(0))
