"""Clones and cells of trees.

In a mutation tree, mutations without a branch or a cell between them form one clone. In a cell tree, each
edge with mutations begins a clone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.textfile import excerpt
from syclade.host.data.trees.leaf import clades
from syclade.host.data.trees.tree import children, node_labels, preorder
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

__all__ = [
    "Clone", "attached_cells", "check_cell_names", "clones_of", "clones_of_cell_tree",
    "default_cell_names",
]  # fmt: skip


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
