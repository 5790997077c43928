"""Conversions from a mutation tree to a cell tree and back; neither loses any score.

Columns go to their best node, and those of one node become one leaf; polytomies are resolved at random.
Mutations go to their best edge.
"""

import numpy as np

from syclade.kernels.search.attachment import attach, node_of_column
from syclade.kernels.search.cell_tree import (
    above_of,
    column_row,
    join,
    joint_row,
    left_of,
    put_joint,
    put_leaf,
    put_root,
    right_of,
)
from syclade.kernels.search.draws import JOINS, below
from syclade.kernels.search.mutation_tree import first_child_of, next_sibling_of, node_at, put_parent
from syclade.kernels.search.rows import add, copy, fill
from syclade.kernels.search.slot import at_joint, at_node, lane_at, spare_gene_row
from syclade.kernels.target import address, control, device_function, in_step

_ZERO = control(0)
_ONE = control(1)
_TWO = control(2)
_NONE = np.int32(-1)


@device_function
def make_leaves(slot, attached):
    """Make one leaf per node that has columns; return the number of leaves (int64).

    `kid` gets the number of each node's leaf, or -1.
    """
    given = slot.given
    rounds = slot.gene_rounds
    for node in range(slot.root + _ONE):
        given.kid[at_node(slot, node)] = _NONE
    leaves = control(0)
    for column in range(slot.columns):
        at = slot.tree + address(node_of_column(slot, attached, control(column)))
        leaf = control(given.kid[at])
        if leaf < _ZERO:
            leaf = leaves
            leaves = leaves + _ONE
            given.kid[at] = np.int32(leaf)
            put_leaf(slot, leaf)
            fill(slot, rounds, given.sums, joint_row(slot, leaf), np.int32(0))
        source = column_row(slot, column)
        add(slot, rounds, given.sums, joint_row(slot, leaf), given.columns, source, np.int32(1))
    for made in range(leaves):
        own = joint_row(slot, control(made))
        copy(slot, rounds, given.tops, own, given.sums, own)
    return leaves


@device_function
def gather(slot, node):
    """Collect in `chain` the node's own leaf, and what its children became.

    Returns how many there are (int64).
    """
    given = slot.given
    count = _ZERO
    leaf = given.kid[at_node(slot, node)]
    if leaf >= np.int32(0):
        given.chain[slot.joint] = leaf
        count = _ONE
    child = first_child_of(slot, node)
    while child >= _ZERO:
        made = given.taken[at_node(slot, child)]
        if made >= np.int32(0):
            given.chain[at_joint(slot, count)] = made
            count = count + _ONE
        child = next_sibling_of(slot, child)
    return count


@device_function
def to_cell_tree(slot, sweep):
    """Attach the columns and convert the whole mutation tree; return (root, leaves), int64."""
    given = slot.given
    leaves = make_leaves(slot, attach(slot, slot.root + _ONE))
    free = leaves
    for done in range(slot.root + _ONE):
        node = node_at(slot, slot.root - control(done))
        count = gather(slot, node)
        while count > _ONE:
            one = below(slot, _TWO * free, JOINS, sweep, count)
            count = count - _ONE
            first = at_joint(slot, one)
            last = at_joint(slot, count)
            left, end = control(given.chain[first]), given.chain[last]
            given.chain[first] = end
            other = at_joint(slot, below(slot, _TWO * free + _ONE, JOINS, sweep, count))
            right = control(given.chain[other])
            put_joint(slot, free, left, right)
            join(slot, free)
            given.chain[other] = np.int32(free)
            free = free + _ONE
        made = _NONE
        if count == _ONE:
            made = given.chain[slot.joint]
        given.taken[at_node(slot, node)] = made
    root = control(given.taken[at_node(slot, slot.root)])
    put_root(slot, root)
    return root, leaves


@device_function
def raise_best(
    slot,  # IN sums; IN OUT gene_rows
    joint,  # IN control: node below the edge
    best,  # IN address: where the spare row of best sums starts
    edges,  # IN address: where the spare row of their edges starts
):
    """Move each mutation to this edge if its sum here exceeds those on all edges before."""
    given = slot.given
    own, name = joint_row(slot, joint), np.int32(joint)
    for part in range(slot.gene_rounds):
        gene = lane_at(slot, part)
        value, old = given.sums[own + gene], given.gene_rows[best + gene]
        higher = np.int32(value > old)
        held = given.gene_rows[edges + gene]
        given.gene_rows[best + gene] = np.int32(old + np.int32(higher * np.int32(value - old)))
        given.gene_rows[edges + gene] = np.int32(held + np.int32(higher * np.int32(name - held)))


@device_function
def after(
    slot,  # IN left, right, above
    joint,  # IN control
    root,  # IN control
):
    """Return the next node of the preorder; -1 after the last (control)."""
    following = left_of(slot, joint)
    while (following < _ZERO) & (joint != root):
        upper = above_of(slot, joint)
        if right_of(slot, upper) != joint:
            following = right_of(slot, upper)
        joint = upper
    return following


@device_function
def find_edges(
    slot,  # IN left, right, above, sums; OUT gene_rows
    root,  # IN control
    best,  # IN address: where the spare row of best sums starts
    edges,  # IN address: where the spare row of their edges starts
):
    """Find the best edge of each mutation, the first in preorder among equals; -1 if none is positive."""
    fill(slot, slot.gene_rounds, slot.given.gene_rows, best, np.int32(0))
    fill(slot, slot.gene_rounds, slot.given.gene_rows, edges, _NONE)
    joint = root
    while joint >= _ZERO:
        raise_best(slot, joint, best, edges)
        joint = after(slot, joint, root)


@device_function
def to_mutation_tree(slot, root):
    """Set the parents; mutations of one edge become a chain, in the order of their numbers."""
    given = slot.given
    best = spare_gene_row(slot, _ZERO)
    edges = spare_gene_row(slot, _ONE)
    find_edges(slot, root, best, edges)
    edges = in_step(edges)
    joint = root
    while joint >= _ZERO:  # `chain` has the last mutation on the path to each edge, or the root
        upper = above_of(slot, joint)
        last = slot.root
        if joint != root:
            last = control(given.chain[at_joint(slot, upper)])
        given.chain[at_joint(slot, joint)] = np.int32(last)
        joint_name = np.int32(joint)
        for gene in range(slot.mutations):
            if given.gene_rows[edges + address(gene)] == joint_name:
                put_parent(slot, control(gene), last)
                last = control(gene)
                given.chain[at_joint(slot, joint)] = np.int32(last)
        joint = after(slot, joint, root)
    for gene in range(slot.mutations):
        if given.gene_rows[edges + address(gene)] == _NONE:
            put_parent(slot, control(gene), slot.root)
