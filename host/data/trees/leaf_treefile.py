"""Reader of cell trees in Newick format: ours, or SCITE's, which numbers the cells from 1."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.textfile import excerpt, read_text
from syclade.host.data.trees.cells import default_cell_names
from syclade.host.data.trees.labelled import LabelledEdge
from syclade.host.data.trees.leaf import canonical, validate_leaf_parents
from syclade.host.data.trees.newick import newick_edges
from syclade.host.ground.errors import TreeError
from syclade.host.ground.options import flag_of

__all__ = ["leaf_parents_from_newick", "read_leaf_tree"]


def read_leaf_tree(
    path: str | os.PathLike[str], cells: Sequence[str] | None, count: int
) -> NDArray[np.int32]:
    """Read a cell tree from a file; see `leaf_parents_from_newick`."""
    return leaf_parents_from_newick(read_text(path, TreeError), cells, count, path)


def leaf_parents_from_newick(
    text: str, cells: Sequence[str] | None, count: int, path: str | os.PathLike[str] | None = None
) -> NDArray[np.int32]:
    """Parse a cell tree from text.

    Args:
        text: a binary tree; all leaves need labels; labels of internal nodes are ignored.
        cells: names of the cells in the matrix's order; None if they have no names. Then the leaves are
            s0, s1, …, or all are numbers 1, 2, … as in SCITE's files.
        count: number of cells.
        path: the file, for messages.

    Returns:
        Canonical parent vector, int32, shape (2 * count - 1,).

    Raises:
        TreeError: the text is not Newick, not a binary tree, or not a tree of these cells.
    """
    edges = newick_edges(text, path, joints=True)
    joints = {edge.parent for edge in edges}
    leaves = [edge for edge in edges if edge.child not in joints]
    number = _numbers(leaves, cells, count)
    unknown = next((edge for edge in leaves if edge.child not in number), None)
    if unknown is not None:
        raise TreeError(
            f"the leaf {excerpt(unknown.child)} is not a cell of the matrix",
            path=path,
            line=unknown.line,
            hint=f"in a cell tree all leaves are cells ({flag_of('cell_names')})",
        )
    if len(leaves) != count:
        found = {edge.child for edge in leaves}
        missing = next((name for name in number if name not in found), "")
        raise TreeError(f"the cell {excerpt(missing)} is not a leaf of the tree", path=path)
    # The root is the only internal node without a parent; it gets the last number.
    below = {edge.child for edge in edges}
    ordered = sorted(joints, key=lambda label: (label not in below, label))
    place = {**number, **{label: count + at for at, label in enumerate(ordered)}}
    if len(place) != 2 * count - 1:
        raise TreeError(
            f"{len(joints)} internal nodes for {count} cells",
            path=path,
            hint=f"a binary tree has {count - 1}: resolve nodes with more than two children",
        )
    parents = np.arange(2 * count - 1, dtype=np.int32)
    for edge in edges:
        parents[place[edge.child]] = place[edge.parent]
    try:
        return canonical(validate_leaf_parents(parents))
    except TreeError as error:
        raise TreeError(error.message, path=path, hint=error.hint) from None


def _numbers(leaves: Sequence[LabelledEdge], cells: Sequence[str] | None, count: int) -> dict[str, int]:
    """Return the number of each cell, by its label in the tree."""
    names = default_cell_names(count) if cells is None else tuple(cells)
    of_scite = [str(number) for number in range(1, count + 1)]
    if cells is None and {edge.child for edge in leaves} <= set(of_scite):
        names = tuple(of_scite)
    return {name: number for number, name in enumerate(names)}
