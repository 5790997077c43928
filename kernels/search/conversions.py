"""Conversions from a mutation tree to a cell tree and back; neither loses any score.

Columns go to their best node, and those of one node become one leaf; polytomies are resolved at random.
Mutations go to their best edge.
"""

from typing import Any

import numpy as np

from syclade.kernels.search.attachment import node_of_column
from syclade.kernels.search.cell_tree import (
    CellTree,
    above_of,
    joint_row,
    left_of,
    put_joint,
    put_leaf,
    put_root,
    right_of,
)
from syclade.kernels.search.draws import JOINS, below
from syclade.kernels.search.mutation_tree import node_at, put_parent
from syclade.kernels.search.rows import make_rows
from syclade.kernels.target import device_function, in_step

_ZERO = np.int64(0)
_ONE = np.int64(1)
_TWO = np.int64(2)
_NONE = np.int32(-1)


def make_to_cell_tree(lanes: int, tree: CellTree, attach: Any) -> Any:
    """Return the device function (given, here, sweep) -> (root, leaves) of the cell tree."""
    rows = make_rows(lanes)
    fill, copy, add = rows.fill, rows.copy, rows.add
    join = tree.join

    @device_function
    def make_leaves(given, here, attached):
        """Make one leaf per node that has columns; return the number of leaves (int64).

        `kid` gets the number of each node's leaf, or -1.
        """
        rounds, lane = here.gene_rounds, here.lane
        for node in range(here.root + _ONE):
            given.kid[here.tree + np.uint64(node)] = _NONE
        leaves = np.int64(0)
        for column in range(here.columns):
            at = here.tree + np.uint64(node_of_column(given, attached, np.int64(column)))
            leaf = np.int64(given.kid[at])
            if leaf < _ZERO:
                leaf = leaves
                leaves = leaves + _ONE
                given.kid[at] = np.int32(leaf)
                put_leaf(given, here, leaf)
                fill(rounds, lane, given.sums, joint_row(here, leaf), np.int32(0))
            source = np.uint64(np.int64(column) * here.genes)
            add(rounds, lane, given.sums, joint_row(here, leaf), given.columns, source, np.int32(1))
        for made in range(leaves):
            own = joint_row(here, np.int64(made))
            copy(rounds, lane, given.tops, own, given.sums, own)
        return leaves

    @device_function
    def gather(given, here, node):
        """Collect in `chain` the node's own leaf, and what its children became.

        Returns how many there are (int64).
        """
        count = _ZERO
        leaf = given.kid[here.tree + np.uint64(node)]
        if leaf >= np.int32(0):
            given.chain[here.joint] = leaf
            count = _ONE
        child = np.int64(given.first_child[here.tree + np.uint64(node)])
        while child >= _ZERO:
            made = given.taken[here.tree + np.uint64(child)]
            if made >= np.int32(0):
                given.chain[here.joint + np.uint64(count)] = made
                count = count + _ONE
            child = np.int64(given.next_sibling[here.tree + np.uint64(child)])
        return count

    @device_function
    def to_cell_tree(given, here, sweep):
        """Attach the columns and convert the whole mutation tree; return (root, leaves), int64."""
        leaves = make_leaves(given, here, attach(given, here, here.root + _ONE))
        free = leaves
        for done in range(here.root + _ONE):
            node = node_at(given, here, here.root - np.int64(done))
            count = gather(given, here, node)
            while count > _ONE:
                one = below(here, _TWO * free, JOINS, sweep, count)
                count = count - _ONE
                first = here.joint + np.uint64(one)
                last = here.joint + np.uint64(count)
                left, end = np.int64(given.chain[first]), given.chain[last]
                given.chain[first] = end
                other = here.joint + np.uint64(below(here, _TWO * free + _ONE, JOINS, sweep, count))
                right = np.int64(given.chain[other])
                put_joint(given, here, free, left, right)
                join(given, here, free)
                given.chain[other] = np.int32(free)
                free = free + _ONE
            made = _NONE
            if count == _ONE:
                made = given.chain[here.joint]
            given.taken[here.tree + np.uint64(node)] = made
        root = np.int64(given.taken[here.tree + np.uint64(here.root)])
        put_root(given, here, root)
        return root, leaves

    return to_cell_tree


def make_to_mutation_tree(lanes: int) -> Any:
    """Return the device function (given, here, root) that converts back.

    It sets the parents of the mutation tree from the cell tree.
    """
    rows = make_rows(lanes)
    fill = rows.fill
    step = np.uint64(lanes)

    @device_function
    def raise_best(
        given,  # IN sums; IN OUT gene_rows
        here,  # IN Here
        joint,  # IN int64: node below the edge
        best,  # IN uint64: where the spare row of best sums starts
        edges,  # IN uint64: where the spare row of their edges starts
    ):
        """Move each mutation to this edge if its sum here exceeds those on all edges before."""
        own, name = joint_row(here, joint), np.int32(joint)
        for part in range(here.gene_rounds):
            gene = np.uint64(part) * step + here.lane
            value, old = given.sums[own + gene], given.gene_rows[best + gene]
            higher = np.int32(value > old)
            held = given.gene_rows[edges + gene]
            given.gene_rows[best + gene] = np.int32(old + np.int32(higher * np.int32(value - old)))
            given.gene_rows[edges + gene] = np.int32(held + np.int32(higher * np.int32(name - held)))

    @device_function
    def after(
        given,  # IN left, right, above
        here,  # IN Here
        joint,  # IN int64
        root,  # IN int64
    ):
        """Return the next node of the preorder; -1 after the last (int64)."""
        following = left_of(given, here, joint)
        while (following < _ZERO) & (joint != root):
            upper = above_of(given, here, joint)
            if right_of(given, here, upper) != joint:
                following = right_of(given, here, upper)
            joint = upper
        return following

    @device_function
    def find_edges(
        given,  # IN left, right, above, sums; OUT gene_rows
        here,  # IN Here
        root,  # IN int64
        best,  # IN uint64: where the spare row of best sums starts
        edges,  # IN uint64: where the spare row of their edges starts
    ):
        """Find the best edge of each mutation, the first in preorder among equals; -1 if none is positive."""
        fill(here.gene_rounds, here.lane, given.gene_rows, best, np.int32(0))
        fill(here.gene_rounds, here.lane, given.gene_rows, edges, _NONE)
        joint = root
        while joint >= _ZERO:
            raise_best(given, here, joint, best, edges)
            joint = after(given, here, joint, root)

    @device_function
    def to_mutation_tree(given, here, root):
        """Set the parents; mutations of one edge become a chain, in the order of their numbers."""
        best = here.spare_genes
        edges = best + np.uint64(here.genes)
        find_edges(given, here, root, best, edges)
        edges = in_step(edges)
        joint = root
        while joint >= _ZERO:  # `chain` has the last mutation on the path to each edge, or the root
            upper = above_of(given, here, joint)
            last = here.root
            if joint != root:
                last = np.int64(given.chain[here.joint + np.uint64(upper)])
            given.chain[here.joint + np.uint64(joint)] = np.int32(last)
            joint_name = np.int32(joint)
            for gene in range(here.mutations):
                if given.gene_rows[edges + np.uint64(gene)] == joint_name:
                    put_parent(given, here, np.int64(gene), last)
                    last = np.int64(gene)
                    given.chain[here.joint + np.uint64(joint)] = np.int32(last)
            joint = after(given, here, joint, root)
        for gene in range(here.mutations):
            if given.gene_rows[edges + np.uint64(gene)] == _NONE:
                put_parent(given, here, np.int64(gene), here.root)

    return to_mutation_tree
