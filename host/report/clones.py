"""The clonal tree: consecutive mutations without a branch or a cell between them form one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.trees.tree import children, preorder

__all__ = ["Clone", "clones_of"]


@dataclass(frozen=True)
class Clone:
    """A node of the clonal tree; the first is the root, and parents come before children.

    Attributes:
        parent: index of its parent in the list; the root is its own parent.
        depth: number of edges from the root.
        mutations: indices of its mutations, in order from the root; none for the root.
        cells: number of cells attached to its last mutation.
        below: number of cells attached there or below.
    """

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
    clones = [Clone(0, 0, (), int(cells[root]), int(below[root]))]
    waiting = [(0, node) for node in reversed(below_of[root])]
    while waiting:
        place, node = waiting.pop()
        chain = [node]
        while cells[node] == 0 and len(below_of[node]) == 1:
            node = below_of[node][0]
            chain.append(node)
        depth = clones[place].depth + 1
        clones.append(Clone(place, depth, tuple(chain), int(cells[node]), int(below[node])))
        waiting += [(len(clones) - 1, child) for child in reversed(below_of[node])]
    return clones


def words_for(names: Sequence[str], most: int = 4) -> str:
    """Return up to `most` names as one line, with the number of the others."""
    shown = ", ".join(name if len(name) <= 24 else name[:23] + "…" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
