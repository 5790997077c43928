"""Cells in trees: what they are called, and where they hang."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.errors import MatrixError
from syclade.host.input.textfile import excerpt
from syclade.host.trees.tree import node_labels

__all__ = ["attached_cells", "check_cell_names", "default_cell_names"]


def default_cell_names(n_cells: int) -> tuple[str, ...]:
    """``"s0"`` to ``"s<m-1>"``: what SCITE calls the cells in its trees."""
    return tuple(f"s{number}" for number in range(n_cells))


def check_cell_names(cells: Sequence[str], mutations: Sequence[str]) -> None:
    """Checks that cells can be told from nodes in a tree.

    Raises:
        MatrixError: a cell is called like a mutation or the root.
    """
    both = set(cells) & set(node_labels(mutations))
    if both:
        name = next(cell for cell in cells if cell in both)
        raise MatrixError(
            f"{excerpt(name)} is the name of a cell and of a node, so that trees cannot have both",
            hint="give the cells other names (--cell-names), or leave them out of the trees (no --attach)",
        )


def attached_cells(nodes: Sequence[int], cells: Sequence[str], mutations: Sequence[str]) -> list[list[str]]:
    """The names of the cells at each of the n + 1 nodes, in the matrix's order.

    Args:
        nodes: of every cell.
        cells: their names.
        mutations: the n names of the mutations.

    Raises:
        MatrixError: a cell is called like a node.
    """
    check_cell_names(cells, mutations)
    hanging: list[list[str]] = [[] for _ in range(len(mutations) + 1)]
    for node, cell in zip(nodes, cells, strict=True):
        hanging[node].append(cell)
    return hanging
