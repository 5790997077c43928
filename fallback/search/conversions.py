"""Conversion of a mutation tree to a cell tree and back; neither direction loses any score.

The mirror of `kernels/search/conversions.py`.
"""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.attachment import attach
from syclade.fallback.search.cell_tree import CellTree
from syclade.fallback.search.draws import JOINS, Draws
from syclade.fallback.search.mutation_tree import MutationTree


def to_cell_tree(tree: MutationTree, draws: Draws, sweep: int) -> CellTree:
    """Convert a mutation tree to a cell tree.

    Columns are at their best nodes, with one leaf per node. Polytomies are resolved at random.
    """
    attached = attach(tree).tolist()
    # Leaves are numbered by their first columns.
    leaf_of = {node: leaf for leaf, node in enumerate(dict.fromkeys(attached))}
    sums = np.zeros((len(leaf_of), tree.root), dtype=np.int32)
    np.add.at(sums, [leaf_of[node] for node in attached], tree.weights.T)
    cells = CellTree(sums, root=0)
    free = len(leaf_of)
    made: dict[int, int] = {}  # node of the cell tree for the part below each node
    for node in reversed(tree.order.tolist()):
        loose = [leaf_of[node]] if node in leaf_of else []
        loose += [made[child] for child in tree.children[node] if child in made]
        joins = len(loose) - 1
        if loose:
            made[node] = _join_at_random(cells, loose, free, draws, sweep)
            free += joins
    cells.root = made[tree.root]
    return cells


def _join_at_random(cells: CellTree, loose: list[int], free: int, draws: Draws, sweep: int) -> int:
    """Join nodes two by two until one is left, and return that one.

    The internal nodes are numbered from `free`.
    """
    counts = np.arange(len(loose), 1, -1)
    items = 2 * free + 2 * np.arange(len(counts))
    ones = draws.below(items, JOINS, sweep, counts)
    others = draws.below(items + 1, JOINS, sweep, counts - 1)
    for joint, (one, other) in enumerate(zip(ones, others, strict=True), free):
        left, loose[one] = loose[one], loose[-1]
        loose.pop()
        cells.join(joint, left, loose[other])
        loose[other] = joint
    return loose[0]


def to_mutation_tree(cells: CellTree) -> NDArray[np.int64]:
    """Return the parents, (mutations + 1,) int64, with every mutation on its best edge, or below the root.

    Ties go to the first edge in preorder. Mutations of one edge become a chain, in the order of their
    numbers.
    """
    order, (_, mutations) = cells.preorder(), cells.sums.shape
    sums = np.vstack((np.zeros(mutations, dtype=np.int32), cells.sums[order]))
    best = sums.argmax(axis=0)  # 0: no edge has a positive sum
    parents = np.full(mutations + 1, mutations, dtype=np.int64)
    last = {-1: mutations}  # the last mutation on the way to each edge, or the root
    for place, joint in enumerate(order, 1):
        upper = last[cells.above[joint]]
        for gene in np.flatnonzero(best == place).tolist():
            parents[gene], upper = upper, gene
        last[joint] = upper
    return parents
