"""Cells in trees: the leaves of cell trees, or attached to mutation trees, where they show the clones.

A cell tree is a binary parent vector: nodes 0 to m-1 are the cells; the last of the 2m-1 nodes is the root.
The other nodes are internal; their numbers have no meaning. An edge is identified by the node below it; the
edge of the root is above all cells. Each edge with mutations begins a clone. In a mutation tree, mutations
without a branch or a cell between them form one clone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.trees.tree import are_trees, children, node_labels, preorder, validate_parents
from syclade.host.ground.errors import MatrixError, TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = [
    "Clone",
    "are_leaf_trees",
    "attached_cells",
    "canonical",
    "check_cell_names",
    "clades",
    "clones_of",
    "clones_of_cell_tree",
    "default_cell_names",
    "leaf_children",
    "leaf_tree_of",
    "sums_below",
    "validate_leaf_parents",
]

Parents = NDArray[np.int32]


def validate_leaf_parents(parents: ArrayLike) -> Parents:
    """Check that a vector is the parent vector of a cell tree.

    Args:
        parents: integers, shape (2m - 1,), m >= 2.

    Returns:
        The same as a new C-contiguous int32 array.

    Raises:
        TreeError: the vector is not a tree, the tree is not binary, or a cell is not a leaf.
    """
    vector = validate_parents(parents)
    if len(vector) % 2 == 0:
        raise TreeError(f"{len(vector)} nodes", hint="a binary tree of m cells has 2m - 1")
    cells = (len(vector) + 1) // 2
    below = np.bincount(vector[:-1], minlength=len(vector))
    wrong = np.flatnonzero(below != np.where(np.arange(len(vector)) < cells, 0, 2))
    if wrong.size:
        node = int(wrong[0])
        kind, wanted = ("cell", 0) if node < cells else ("internal node", 2)
        raise TreeError(f"{kind} {node} has {below[node]} children", hint=f"every {kind} has {wanted}")
    return vector


def are_leaf_trees(parents: NDArray[np.int32]) -> bool:
    """Return whether `validate_leaf_parents` accepts all rows.

    Args:
        parents: int32, shape (trees, 2m - 1), m >= 2.
    """
    nodes = parents.shape[1]
    if not are_trees(parents):
        return False
    wanted = np.where(np.arange(nodes) < (nodes + 1) // 2, 0, 2)
    rows = np.arange(len(parents), dtype=np.int64)[:, None] * nodes
    below = np.bincount((rows + parents[:, :-1]).ravel(), minlength=parents.size).reshape(parents.shape)
    return bool((below == wanted).all())


def leaf_children(parents: Parents) -> tuple[Parents, Parents]:
    """Return the two children of each node, lower number first; 0 for cells: int32, shape (2m - 1,) each."""
    left, right = np.zeros_like(parents), np.zeros_like(parents)
    for node, below in enumerate(children(parents)):
        if below:
            left[node], right[node] = below
    return left, right


def sums_below(parents: Parents, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every node, the sum of the rows of the cells below it.

    Args:
        parents: a valid cell tree of m cells, int32, shape (2m - 1,).
        rows: int64, shape (m, ...).

    Returns:
        int64, shape (2m - 1, ...).
    """
    sums = np.zeros((len(parents), *rows.shape[1:]), dtype=np.int64)
    sums[: len(rows)] = rows
    root = len(parents) - 1
    for node in preorder(parents)[::-1].tolist():
        if node != root:
            sums[parents[node]] += sums[node]
    return sums


def clades(parents: Parents) -> NDArray[np.bool_]:
    """Return bool, shape (2m - 1, m): true where the column's cell is below the row's node or is the node."""
    cells = (len(parents) + 1) // 2
    return sums_below(parents, np.eye(cells, dtype=np.int64)) > 0


def leaf_tree_of(parents: Parents, attachment: Sequence[int]) -> Parents:
    """Return a cell tree with all clades of a mutation tree with attached cells.

    Nodes with more than two branches are resolved as a ladder.

    Args:
        parents: a valid parent vector of mutations and the root, int32, shape (n + 1,).
        attachment: the node of every cell; m >= 2 cells.

    Returns:
        Parent vector of the cell tree, int32, shape (2m - 1,).
    """
    cells = len(attachment)
    groups: list[list[int]] = [[] for _ in range(len(parents))]
    for cell, node in enumerate(attachment):
        groups[node].append(cell)
    made = np.full(2 * cells - 1, 2 * cells - 2, dtype=np.int32)
    inner = cells
    for node in preorder(parents)[::-1].tolist():
        while len(groups[node]) > 1:
            one, other = groups[node].pop(), groups[node].pop()
            made[[one, other]] = inner
            groups[node].append(inner)
            inner += 1
        if node != len(parents) - 1:
            groups[parents[node]] += groups[node]
    return made


def canonical(parents: Parents) -> Parents:
    """Renumber the internal nodes by the cells below them, so that equal trees get equal vectors.

    Internal nodes are sorted by the number of cells below them, then by these cells. So each node comes after
    the internal nodes below it.
    """
    below = clades(parents)
    cells = below.shape[1]
    joints = sorted(
        range(cells, len(parents)), key=lambda node: (int(below[node].sum()), _cells_of(below[node]))
    )
    number = np.arange(len(parents), dtype=np.int32)
    number[joints] = range(cells, len(parents))
    named = np.empty_like(parents)
    named[number] = number[parents]
    return named


def _cells_of(row: NDArray[np.bool_]) -> Sequence[int]:
    found: list[int] = np.flatnonzero(row).tolist()
    return found


@dataclass(frozen=True)
class Clone:
    """A node of the clonal tree; the first is the root, and parents come before children.

    Attributes:
        node: the first of its nodes in the tree, from the root.
        parent: index of its parent in the list; the root is its own parent.
        depth: number of edges from the root.
        mutations: indices of its mutations, in order from the root; none for the root.
        cells: number of cells of this clone itself.
        below: number of cells of this clone and of those below it.
    """

    node: int
    parent: int
    depth: int
    mutations: tuple[int, ...]
    cells: int
    below: int

    def with_rows(self, rows: Sequence[int]) -> Clone:
        """Return the clone with other indices of its mutations: those of 0, 1, …"""
        return replace(self, mutations=tuple(rows[one] for one in self.mutations))


def clones_of(parents: NDArray[np.int32], attachment: NDArray[np.int32]) -> list[Clone]:
    """Return the clonal tree, in preorder.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        attachment: int32, shape (cells,): the node of every cell.
    """
    root, below_of = len(parents) - 1, children(parents)
    cells = np.bincount(attachment, minlength=root + 1)
    below = cells.copy()
    for node in preorder(parents)[:0:-1].tolist():
        below[parents[node]] += below[node]
    clones = [Clone(root, 0, 0, (), int(cells[root]), int(below[root]))]
    waiting = [(0, node) for node in reversed(below_of[root])]
    while waiting:
        place, node = waiting.pop()
        chain = [node]
        while cells[node] == 0 and len(below_of[node]) == 1:
            node = below_of[node][0]
            chain.append(node)
        depth = clones[place].depth + 1
        clones.append(Clone(chain[0], place, depth, tuple(chain), int(cells[node]), int(below[node])))
        waiting += [(len(clones) - 1, child) for child in reversed(below_of[node])]
    return clones


def clones_of_cell_tree(parents: NDArray[np.int32], placement: NDArray[np.int32]) -> list[Clone]:
    """Return the clonal tree of a cell tree, in preorder.

    Args:
        parents: a valid cell tree, int32, shape (2m - 1,).
        placement: int32, shape (n,): the node below each mutation's edge.
    """
    own: dict[int, list[int]] = {}
    for mutation, node in enumerate(placement.tolist()):
        own.setdefault(node, []).append(mutation)
    root, sizes = len(parents) - 1, clades(parents).sum(axis=1)
    order = preorder(parents).tolist()
    clone_of: dict[int, int] = {}
    heads: list[tuple[int, int, int]] = [(root, 0, 0)]
    for node in order:
        above = 0 if node == root else clone_of[int(parents[node])]
        if node in own:
            heads.append((node, above, heads[above][2] + 1))
            above = len(heads) - 1
        clone_of[node] = above
    leaves = np.bincount([clone_of[cell] for cell in range((root + 2) // 2)], minlength=len(heads))
    return [
        Clone(node, parent, depth, tuple(own[node]) if at else (), int(leaves[at]), int(sizes[node]))
        for at, (node, parent, depth) in enumerate(heads)
    ]


def default_cell_names(n_cells: int) -> tuple[str, ...]:
    """Return ``"s0"`` to ``"s<m-1>"``, the names of the cells in SCITE's trees."""
    return tuple(f"s{number}" for number in range(n_cells))


def check_cell_names(cells: Sequence[str], mutations: Sequence[str]) -> None:
    """Check that the names of cells differ from the labels of nodes in a tree.

    Raises:
        MatrixError: a cell has the name of a mutation or the root.
    """
    both = set(cells) & set(node_labels(mutations))
    if both:
        name = next(cell for cell in cells if cell in both)
        raise MatrixError(
            f"{excerpt(name)} is the name of a cell and of a node, so that trees cannot have both",
            hint=f"give the cells other names ({flag_of('cell_names')}), or leave them out of the trees "
            f"(no {flag_of('attach')})",
        )


def attached_cells(nodes: Sequence[int], cells: Sequence[str], mutations: Sequence[str]) -> list[list[str]]:
    """Return the names of the cells at each of the n + 1 nodes, in the matrix's order.

    Args:
        nodes: the node of every cell.
        cells: names of the cells.
        mutations: the n names of the mutations.

    Raises:
        MatrixError: a cell has the label of a node.
    """
    check_cell_names(cells, mutations)
    attached: list[list[str]] = [[] for _ in range(len(mutations) + 1)]
    for node, cell in zip(nodes, cells, strict=True):
        attached[node].append(cell)
    return attached
