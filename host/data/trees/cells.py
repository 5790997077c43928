"""Cells in trees: their names and attachments."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.data.input.textfile import excerpt
from syclade.host.data.trees.tree import node_labels
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

__all__ = ["attached_cells", "check_cell_names", "default_cell_names"]


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
    hanging: list[list[str]] = [[] for _ in range(len(mutations) + 1)]
    for node, cell in zip(nodes, cells, strict=True):
        hanging[node].append(cell)
    return hanging
