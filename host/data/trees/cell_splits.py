"""Trees whose leaves are cells, of any program: what two of them share of clades, splits and triplets.

Unlike those of `cells`, nodes may have any number of children, and labels of internal nodes are ignored.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.distances import Agreement
from syclade.host.data.trees.labelled import edges_to_parents
from syclade.host.data.trees.named import contracted, tree_titles
from syclade.host.data.trees.newick import newick_edges, newick_texts
from syclade.host.data.trees.tree import preorder
from syclade.host.data.trees.treefile import is_graphviz, is_samples, tree_text
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import short_repr

__all__ = ["CellTree", "cell_trees_in", "read_cell_trees", "shared_splits", "shared_triplets"]


@dataclass(frozen=True, eq=False)
class CellTree:
    """A rooted tree whose leaves are cells.

    Attributes:
        title: name of the tree in tables and messages.
        parents: int32, shape (nodes,): parent of each node; the root is the last, and its own parent.
        cells: names of the leaves, sorted.
        leaf: int32, shape (cells,): node of each leaf.
    """

    title: str
    parents: NDArray[np.int32]
    cells: tuple[str, ...]
    leaf: NDArray[np.int32]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def clades_of(self, cells: Sequence[str]) -> NDArray[np.bool_]:
        """Return the different sets of two or more of some cells below the nodes: bool, shape (sets, cells).

        They are sorted, so that smaller sets come first; the last is that of all cells, if there are two.
        """
        number = {name: at for at, name in enumerate(self.cells)}
        below = np.zeros((len(self.parents), len(cells)), dtype=np.bool_)
        below[self.leaf[[number[name] for name in cells]], np.arange(len(cells))] = True
        for node in preorder(self.parents)[:0:-1].tolist():
            below[self.parents[node]] |= below[node]
        sizes = below.sum(axis=1)
        bits = np.packbits(below, axis=1)
        first = {bits[node].tobytes(): node for node in np.flatnonzero(sizes > 1).tolist()}
        kept = np.array(sorted(first.values(), key=lambda node: int(sizes[node])), dtype=np.int64)
        return below[kept]


def read_cell_trees(path: str | os.PathLike[str], edges: Collection[str] | None = None) -> list[CellTree]:
    """Read all trees of a file in Newick format, or of SCITE's samples; their leaves are cells.

    Args:
        path: the file.
        edges: as for `cell_trees_in`.

    Raises:
        TreeError: the file is not a tree in Newick format, or a leaf occurs twice.
    """
    return cell_trees_in(tree_text(path, samples=True), path, edges)


def cell_trees_in(
    text: str, path: str | os.PathLike[str], edges: Collection[str] | None = None
) -> list[CellTree]:
    """Return all trees of a text in Newick format; see `read_cell_trees`.

    Args:
        text: the content of the file.
        path: the file, for titles and messages.
        edges: labels of the nodes below edges with mutations. The other inner edges are contracted: a binary
            tree parts equal cells in an arbitrary order. None to keep all edges.
    """
    if is_graphviz(text):
        raise TreeError("trees whose leaves are cells are read from Newick files alone", path=path)
    if is_samples(text):  # the last of its columns
        text = "\n".join(line.rpartition("\t")[2] for line in text.split("\n"))
    pieces = newick_texts(text, path)
    found = []
    for title, (line, piece) in zip(tree_titles(path, len(pieces)), pieces, strict=True):
        labels, parents = edges_to_parents(newick_edges(piece, path, joints=edges is None, line=line), path)
        inner = set(parents.tolist())
        leaves = sorted((label, at) for at, label in enumerate(labels) if at not in inner)
        cells, nodes = zip(*leaves, strict=True)
        leaf = np.array(nodes, dtype=np.int32)
        if edges is not None:
            kept = [at for at, label in enumerate(labels) if at in inner and label in edges]
            parents, numbers = contracted(parents, np.array([*nodes, *kept], dtype=np.int32))
            leaf = numbers[: len(nodes)]
        found.append(CellTree(title, parents, cells, leaf))
    return found


def shared_splits(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> tuple[Agreement, Agreement]:
    """Return the agreement of the clades of two trees, and that of the splits of the unrooted trees.

    Args:
        one, two: `CellTree.clades_of` the same cells.
    """
    return (
        _agreement(*(_sets(clades[clades.sum(axis=1) < clades.shape[1]]) for clades in (one, two))),
        _agreement(*(_sets(_splits(clades)) for clades in (one, two))),
    )


def _splits(clades: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the sides without the first cell of splits with two or more cells on either side."""
    sides: NDArray[np.bool_] = clades ^ clades[:, :1]
    sizes = sides.sum(axis=1)
    return np.asarray(sides[(sizes > 1) & (sizes < clades.shape[1] - 1)])


def _sets(rows: NDArray[np.bool_]) -> set[bytes]:
    return {row.tobytes() for row in np.packbits(rows, axis=1)}


def _agreement(found: set[bytes], true: set[bytes]) -> Agreement:
    return Agreement(len(found & true), len(found), len(true))


def shared_triplets(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> Agreement:
    """Return the agreement on triples of cells of which two part last.

    Two cells a and b part at u in one tree and at v in the other. Both trees claim ab|c of each c that is
    neither below u nor below v; their number is m - |u| - |v| + |u and v|. The number of pairs that part at u
    and at v follows from those below u and v by inclusion and exclusion of their children.

    Args:
        one, two: `CellTree.clades_of` the same cells.
    """
    cells = one.shape[1]
    sizes = [clades.sum(axis=1, dtype=np.float64) for clades in (one, two)]
    inner = one.astype(np.float32) @ two.astype(np.float32).T
    outside = cells - sizes[0][:, None] - sizes[1] + inner
    pairs = _parted(_parted(_choose(inner.astype(np.float64)), one), two, axis=1)
    claims = [
        round(float((_parted(_choose(size)[:, None], clades)[:, 0] * (cells - size)).sum()))
        for clades, size in zip((one, two), sizes, strict=True)
    ]
    return Agreement(round(float((pairs * outside).sum())), *claims)


def _choose(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts * (counts - 1.0) / 2.0


def _parted(below: NDArray[np.float64], clades: NDArray[np.bool_], axis: int = 0) -> NDArray[np.float64]:
    """Return sums over the pairs that part at each node, from sums over the pairs below it.

    Args:
        below: float64, with the nodes along the axis.
        clades: bool, shape (nodes, cells): the sets below the nodes, smaller ones first.
        axis: the axis of the nodes.
    """
    upper = _upper(clades)
    children = np.flatnonzero(upper >= 0)
    found = np.moveaxis(below.copy(), axis, 0)
    np.subtract.at(found, upper[children], np.moveaxis(below, axis, 0)[children])
    return np.moveaxis(found, 0, axis)


def _upper(clades: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the smallest set that has each set, -1 for the last: int64, shape (sets,)."""
    upper = np.full(len(clades), -1, dtype=np.int64)
    latest = np.full(clades.shape[1], -1, dtype=np.int64)  # largest set so far with each cell
    for number, row in enumerate(clades):
        inside = latest[row]
        upper[inside[inside >= 0]] = number
        latest[row] = number
    return upper
