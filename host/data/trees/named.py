"""Trees by name, read from files of any program: nodes have mutations, or leaves are cells.

A mutation tree has one mutation at each node but the root, a clone tree several, and other programs' trees
also nodes without any. Trees of cells, unlike those of `cells`, may have any number of children, and labels
of their internal nodes are ignored. Trees of different mutations or cells can be compared (`distances`): they
keep names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.graphviz import graphviz_edges
from syclade.host.data.trees.labelled import LabelledEdge, edges_to_parents, without_cells
from syclade.host.data.trees.newick import newick_edges, newick_texts
from syclade.host.data.trees.tree import preorder, validate_parents
from syclade.host.data.trees.treefile import is_graphviz, is_samples, tree_text
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import counted, excerpt, short_repr

__all__ = [
    "BAR",
    "CellTree",
    "NamedTree",
    "Reading",
    "cell_trees_in",
    "contracted",
    "named_tree",
    "named_tree_of",
    "named_trees_in",
    "natural_order",
    "read_cell_trees",
    "read_named_trees",
    "tree_titles",
]

BAR = "|"
"""Text between the mutations of a node in our files, if no name has it."""


@dataclass(frozen=True, eq=False)
class NamedTree:
    """A rooted tree whose nodes have sets of mutations.

    Attributes:
        title: name of the tree in tables and messages: its file, with a number if the file has several trees.
        parents: int32, shape (nodes,): parent of each node; the root is the last, and its own parent.
        names: names of the mutations, sorted, without those at the root.
        node: int32, shape (names,): node of each mutation.
        top: names at the root, which are mutations only if another tree says so (`rooted`).
    """

    title: str
    parents: NDArray[np.int32]
    names: tuple[str, ...]
    node: NDArray[np.int32]
    top: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def rooted(self, known: Collection[str]) -> NamedTree:
        """Return the tree with the names at its root as mutations, if one of them is known as a mutation.

        Then they are in a clone below a new root. Otherwise the root stands for the normal cell, whatever its
        label.

        Args:
            known: names of the mutations of other trees.
        """
        if not set(self.top) & set(known):
            return self
        clone = len(self.parents) - 1
        parents = np.append(self.parents, clone + 1).astype(np.int32)
        parents[clone] = clone + 1
        node = dict(zip(self.names, self.node.tolist(), strict=True)) | dict.fromkeys(self.top, clone)
        return _placed(self.title, parents, node)

    def at(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Return the nodes of some of its mutations: int32, shape (names,)."""
        number = {name: at for at, name in enumerate(self.names)}
        return self.node[[number[name] for name in names]]


def _placed(
    title: str, parents: NDArray[np.int32], node: dict[str, int], top: Sequence[str] = ()
) -> NamedTree:
    """Return a tree with its mutations sorted by name."""
    names = sorted(node)
    return NamedTree(
        title, parents, tuple(names), np.array([node[name] for name in names], np.int32), tuple(top)
    )


def named_tree_of(parents: NDArray[np.int32], mutations: Sequence[str], title: str = "the tree") -> NamedTree:
    """Return a mutation tree with its names.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        mutations: the n names.
        title: name of the tree in messages.
    """
    return _placed(title, parents, {name: at for at, name in enumerate(mutations)})


def contracted(
    parents: NDArray[np.int32], node: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a tree without its nodes that have no mutations, but for the root: parents, and mutations'
    nodes.

    Args:
        parents: int32, shape (nodes,): parents of the nodes, the root last.
        node: int32, shape (n,): node of each mutation.
    """
    kept = np.zeros(len(parents), dtype=np.bool_)
    kept[node] = kept[-1] = True
    upper = parents.copy()
    for at in preorder(parents)[1:].tolist():
        if not kept[upper[at]]:
            upper[at] = upper[upper[at]]
    number = (np.cumsum(kept) - 1).astype(np.int32)
    return number[upper[kept]], number[node]


@dataclass(frozen=True)
class Reading:
    """How labels of a tree file are read.

    Attributes:
        mutations: names of the mutations in the order of the matrix, for files with SCITE's numbers; None if
            they are not known.
        cells: names of cells, beside s0, s1, …, whose leaves are left out.
        separator: text between the mutations of one node.
    """

    mutations: tuple[str, ...] | None = None
    cells: tuple[str, ...] = ()
    separator: str = BAR


_USUAL = Reading()


def read_named_trees(path: str | os.PathLike[str], reading: Reading = _USUAL) -> list[NamedTree]:
    """Read all trees of a file: one or more Newick trees, a GraphViz digraph, or SCITE's samples.

    Raises:
        TreeError: the file is not a tree; with file and line.
    """
    return named_trees_in(tree_text(path, samples=True), reading, path)


def named_trees_in(text: str, reading: Reading, path: str | os.PathLike[str]) -> list[NamedTree]:
    """Return all trees of a text; see `read_named_trees`.

    Args:
        text: the content of the file.
        reading: how labels are read.
        path: the file, for titles and messages.
    """
    if is_graphviz(text):
        edges = graphviz_edges(text, reading.mutations or (), path)
        return [named_tree(edges, reading, os.fspath(path), path)]
    if is_samples(text):
        return _sampled_trees(text, reading, path)
    pieces = newick_texts(text, path)
    return [
        named_tree(newick_edges(piece, path, unnamed=True, line=line), reading, title, path)
        for title, (line, piece) in zip(tree_titles(path, len(pieces)), pieces, strict=True)
    ]


def _sampled_trees(text: str, reading: Reading, path: str | os.PathLike[str]) -> list[NamedTree]:
    """Return the trees of SCITE's samples: lines whose last column has all parents, from 0."""
    rows = [(line, row) for line, row in enumerate(text.split("\n"), 1) if row.strip()]
    found = []
    for title, (line, row) in zip(tree_titles(path, len(rows)), rows, strict=True):
        vector = row.rstrip().rpartition("\t")[2].split()
        names = reading.mutations or default_names(len(vector))
        try:
            parents = validate_parents([*map(int, vector), len(vector)])
        except (TreeError, ValueError) as problem:
            raise TreeError(f"not a sampled tree of mutations: {problem}", path=path, line=line) from None
        if len(names) != len(vector):
            raise TreeError(
                f"the tree has {counted(len(vector), 'mutation', 'mutations')}, the names are {len(names)}",
                path=path,
                line=line,
            )
        found.append(named_tree_of(parents, names, title))
    return found


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key by which names are sorted with their numbers by value: M2 before M10."""
    return [(int(piece) if piece.isdecimal() else -1, piece) for piece in re.split(r"([0-9]+)", name)]


def tree_titles(path: str | os.PathLike[str], count: int) -> list[str]:
    """Return names for the trees of a file: its path, with a number from 1 if there are several."""
    title = os.fspath(path)
    return [title] if count == 1 else [f"{title}:{number}" for number in range(1, count + 1)]


def named_tree(
    edges: Sequence[LabelledEdge], reading: Reading, title: str, path: str | os.PathLike[str] | None = None
) -> NamedTree:
    """Return the tree of some edges.

    Args:
        edges: all edges, in the order of the file.
        reading: how labels are read.
        title: name of the tree.
        path: the file, for messages.

    Raises:
        TreeError: the edges are not a tree, or a mutation is at two nodes.
    """
    edges = without_cells(edges, reading.mutations or (), reading.cells)
    labels, parents = edges_to_parents(edges, path)
    node: dict[str, int] = {}
    for at, label in enumerate(labels):
        for name in _names_of(label, reading):
            if node.setdefault(name, at) != at:
                raise TreeError(
                    f"the mutation {excerpt(name)} is at two nodes",
                    path=path,
                    hint="a mutation occurs once; a copy of it needs a name of its own",
                )
    root = len(labels) - 1
    top = [name for name, at in node.items() if at == root]
    below = {name: at for name, at in node.items() if at != root}
    mutations = reading.mutations
    if mutations is not None and _are_numbers(below, mutations):
        below = {mutations[int(name) - 1]: at for name, at in below.items()}
    tree = _placed(title, parents, below, top)
    return tree.rooted(top) if len(top) > 1 else tree  # a label of the normal cell is one name


def _names_of(label: str, reading: Reading) -> Iterator[str]:
    """Yield the names of the mutations in a label; none of an unlabelled node."""
    if label.startswith("\0"):
        return
    if reading.mutations is not None and label in reading.mutations:
        yield label
        return
    for name in label.split(reading.separator):
        if name.strip():
            yield name.strip()


def _are_numbers(names: Collection[str], mutations: Sequence[str]) -> bool:
    """Return whether names are SCITE's numbers of these mutations, which have other names."""
    numbers = set(default_names(len(mutations)))
    return set(names) <= numbers and numbers != set(mutations)


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
