"""Conversions from a mutation tree to a cell tree and back, by the rules of `search/conversions.py`."""

import numpy as np

from syclade.kernels.search.batched.cell_tree import (
    above_of,
    first_gene,
    gene_step,
    join,
    joint_at,
    number_joints,
    put_joint,
)
from syclade.kernels.search.batched.mutation_tree import (
    first_child_of,
    following_of,
    node_at,
)
from syclade.kernels.search.batched.rows import attach
from syclade.kernels.search.batched.shuffle import below_word, word_at
from syclade.kernels.search.batched.team import at_joint, clear_scores, everyone, joint_row, own
from syclade.kernels.search.draws import JOINS, word_of
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, lower_to, meet, raise_to, read_fresh

_NONE = np.int32(-1)
_WORD = np.int64(32)
_MASK = np.int64(0xFFFFFFFF)
_LAST = np.int64(0x7FFFFFFF)


@device_function
def holder_of(work, column):
    """Return the node to which a column is attached (control), which its team has found."""
    return control(read_fresh(work.given.holder, work.number * work.cells + column))


@device_function
def make_leaves(work):
    """Make one leaf per node that has columns, in the order of their first columns; return their number.

    `kid` gets the number of each node's leaf, or -1.
    """
    given, none = work.given, np.int32(work.columns)
    for node in range(work.thread, work.root + 1, work.threads):
        given.offset[own(work, node)] = none
    meet()
    for column in range(work.thread, work.columns, work.threads):
        lower_to(given.offset, own(work, holder_of(work, column)), np.int32(column))
    meet()
    for node in range(work.thread, work.root + 1, work.threads):
        mine, leaf = given.offset[own(work, node)], control(0)
        for other in range(work.root + 1):
            leaf = leaf + control(given.offset[own(work, other)] < mine)
        if mine == none:
            leaf = control(-1)
        given.kid[own(work, node)] = np.int32(leaf)
    meet()
    leaves = control(0)
    for node in range(work.root + 1):
        leaves = leaves + control(given.kid[own(work, node)] >= np.int32(0))
    return leaves


@device_function
def sum_leaves(work, leaves):
    """Sum the weights of the columns of each leaf, for the team's mutations; the team meets."""
    given = work.given
    for leaf in range(work.warp, leaves, work.warps):
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            given.sums[joint_row(work, leaf) + gene] = np.int32(0)
    meet()
    for column in range(work.warp, work.columns, work.warps):
        row = joint_row(work, control(given.kid[own(work, holder_of(work, column))]))
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            add_to(given.sums, row + gene, given.columns[column * work.genes + gene])
    meet()
    for leaf in range(work.warp, leaves, work.warps):
        row = joint_row(work, leaf)
        for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
            given.tops[row + gene] = np.int32(read_fresh(given.sums, row + gene))
    meet()


@device_function
def gather(work, node):
    """Collect in `joint_offset` the node's own leaf, and what its children became; return their number."""
    given, count = work.given, control(0)
    leaf = given.kid[own(work, node)]
    if leaf >= np.int32(0):
        given.joint_offset[work.part * work.joints] = leaf
        count = control(1)
    child = first_child_of(work, node)
    while child >= 0:
        made = given.taken[own(work, child)]
        if made >= np.int32(0):
            given.joint_offset[work.part * work.joints + count] = made
            count = count + 1
        child = following_of(work, child)
    return count


@device_function
def join_all(work, leaves):
    """Join leaves to a binary tree, nodes of the mutation tree from the last one on; one thread does."""
    given, base, free = work.given, work.part * work.joints, leaves
    for done in range(work.root + 1):
        node = node_at(work, work.root - done)
        count = gather(work, node)
        while count > 1:
            one = below_word(work, 2 * free, count)
            count = count - 1
            left = control(given.joint_offset[base + one])
            given.joint_offset[base + one] = given.joint_offset[base + count]
            other = below_word(work, 2 * free + 1, count)
            put_joint(work, free, left, control(given.joint_offset[base + other]))
            given.joint_offset[base + other] = np.int32(free)
            free = free + 1
        made = _NONE
        if count == 1:
            made = given.joint_offset[base]
        given.taken[own(work, node)] = made


@device_function
def to_cell_tree(work, sweep):
    """Attach the columns and convert the whole mutation tree; return (root, number of nodes), control."""
    given = work.given
    clear_scores(work, 1)
    attach(work, control(0))
    everyone(work)
    leaves = make_leaves(work)
    joints = 2 * leaves - 1
    for item in range(2 * leaves + work.thread, 2 * joints, work.threads):
        given.words[word_at(work, item)] = np.int64(word_of(work, item, JOINS, sweep))
    for joint in range(work.thread, work.joints, work.threads):
        given.left[at_joint(work, joint)] = _NONE
        given.right[at_joint(work, joint)] = _NONE
        given.above[at_joint(work, joint)] = _NONE
        given.joint_position[at_joint(work, joint)] = _NONE
    sum_leaves(work, leaves)
    if work.thread == 0:
        join_all(work, leaves)
    meet()
    for gene in range(first_gene(work), work.end_gene, gene_step(work)):
        for joint in range(leaves, joints):
            join(work, joint, gene)
    number_joints(work, joints)
    return control(given.taken[own(work, work.root)]), joints


@device_function
def find_edges(work, joints):
    """Find the best edge of each of the team's mutations, the first in preorder; -1 if none is positive."""
    given, base = work.given, work.number * max(work.cells, work.genes)
    for gene in range(work.first_gene + work.thread, work.end_gene, work.threads):
        given.packed[base + gene] = np.int64(0)
    meet()
    each = (joints + work.warps - 1) // work.warps
    for gene in range(work.first_gene + work.lane, work.end_gene, work.lanes):
        best, where = np.int32(0), control(0)
        for place in range(work.warp * each, min((work.warp + 1) * each, joints)):
            value = given.sums[joint_row(work, joint_at(work, place)) + gene]
            if value > best:
                best, where = value, control(place)
        if best > np.int32(0):
            raise_to(given.packed, base + gene, (np.int64(best) << _WORD) | (_LAST - where))
    meet()
    for gene in range(work.first_gene + work.thread, work.end_gene, work.threads):
        found, edge = read_fresh(given.packed, base + gene), control(-1)
        if found > 0:
            edge = joint_at(work, _LAST - (found & _MASK))
        given.edges[work.number * work.genes + gene] = np.int32(edge)


@device_function
def to_mutation_tree(work, joints):
    """Set the parents; mutations of one edge become a chain, in the order of numbers. All teams meet."""
    given = work.given
    find_edges(work, joints)
    everyone(work)
    for joint in range(work.thread, joints, work.threads):
        given.joint_offset[at_joint(work, joint)] = _NONE
    for gene in range(work.thread, work.mutations, work.threads):
        given.kid[own(work, gene)] = np.int32(read_fresh(given.edges, work.number * work.genes + gene))
    meet()
    for gene in range(work.thread, work.mutations, work.threads):
        edge = control(given.kid[own(work, gene)])
        if edge >= 0:
            raise_to(given.joint_offset, at_joint(work, edge), np.int32(gene))
    meet()
    for gene in range(work.thread, work.mutations, work.threads):
        given.parents[own(work, gene)] = np.int32(parent_on_edges(work, control(gene)))
    meet()


@device_function
def parent_on_edges(work, gene):
    """Return the mutation before this one on its edge, or the last one on an edge above, or the root."""
    given = work.given
    edge = control(given.kid[own(work, gene)])
    parent = work.root
    if edge >= 0:
        before = gene - 1
        while before >= 0 and control(given.kid[own(work, before)]) != edge:
            before = before - 1
        parent = before
        while parent < 0 and edge >= 0:
            edge = above_of(work, edge)
            if edge >= 0:
                parent = control(given.joint_offset[at_joint(work, edge)])
        if parent < 0:
            parent = work.root
    return parent
