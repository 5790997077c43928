"""Comparison and consensus of trees: of files of any program, folders of results, and results."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from syclade.host.answer.output.result import Result
from syclade.host.data.input.matrix import Names
from syclade.host.data.input.names import default_names, read_names
from syclade.host.data.input.source import read_text
from syclade.host.data.trees.comparison import (
    CellComparison,
    Comparison,
    compare_cell_trees,
    compare_trees,
)
from syclade.host.data.trees.named import (
    BAR,
    CellTree,
    NamedTree,
    Reading,
    cell_trees_in,
    named_trees_in,
    natural_order,
    read_cell_trees,
    read_named_trees,
)
from syclade.host.findings.consensus.given import (
    CellTreeConsensus,
    TreeConsensus,
    consensus_of_cell_trees,
    consensus_of_trees,
)
from syclade.host.findings.consensus.tables import separator_of
from syclade.host.findings.kinds.cell_trees import CELL
from syclade.host.ground.errors import OptionError, TableError, TreeError
from syclade.host.ground.files import entries_of, is_file, is_folder
from syclade.host.ground.values import ParsedJson, counted, shown

__all__ = ["KINDS", "LIKELY", "PUBLISHED", "compare", "compare_many", "consensus"]

TreeSource: TypeAlias = "str | os.PathLike[str] | Result"
"""Trees: a file of one or more trees, a folder of a result or of tree files, or a result."""

T = TypeVar("T", NamedTree, CellTree)

PUBLISHED, LIKELY = "published", "likely"
"""Trees of a result: the consensus, or the most likely tree where there is none; the most likely tree."""

MUTATIONS, CELLS = "mutations", "cells"
KINDS = (MUTATIONS, CELLS)
"""Kinds of trees."""

_SUMMARY, _TREE, _CONSENSUS = "summary.json", "tree.newick", "consensus.newick"
_ENDINGS = (".gv", ".dot", ".newick", ".nwk", ".nhx", ".tree", ".tre")
"""Ends of the names of tree files, of which the first counts for files of one name: SCITE's .gv has names."""


@dataclass(frozen=True)
class _Sources:
    """How trees are read from files, folders and results; see `compare`."""

    kind: str
    which: str
    reading: Reading

    def mutation_trees(self, source: TreeSource) -> list[NamedTree]:
        """Return the trees of mutations of a source."""
        if isinstance(source, Result):
            published = self.which == PUBLISHED and source.consensus is not None
            text = source.consensus.to_newick() if published and source.consensus else source.to_newick()
            placed = source.consensus.mutations if source.consensus else ()
            reading = _reading(source.mutations, source.cells, placed if published else None)
            return named_trees_in(text, self._named(reading), "the result")
        path = Path(os.fspath(source))
        if not is_folder(path):
            return read_named_trees(path, self.reading)
        if is_file(path / _SUMMARY):
            file, summary = self._of_result(path)
            return read_named_trees(file, self._named(_reading_of(summary, file.name == _CONSENSUS)))
        return [tree for file in _tree_files(path) for tree in read_named_trees(file, self.reading)]

    def cell_trees(self, source: TreeSource) -> list[CellTree]:
        """Return the trees of cells of a source."""
        if isinstance(source, Result):
            published = self.which == PUBLISHED and source.samples is not None
            texts = source.samples.files() if published and source.samples is not None else {}
            if _CONSENSUS in texts:
                return cell_trees_in(str(texts[_CONSENSUS]), "the result")
            labels = source.kind.labels(source.mutations, source.cells)
            edges = {labels[node] for node in source.assignment.node.tolist()}
            return cell_trees_in(source.to_newick(), "the result", edges)
        path = Path(os.fspath(source))
        if not is_folder(path):
            return read_cell_trees(path)
        if is_file(path / _SUMMARY):
            file = self._of_result(path)[0]
            return read_cell_trees(file, _edges_in(path) if file.name == _TREE else None)
        files = _tree_files(path, [end for end in _ENDINGS if end not in (".gv", ".dot")])
        return [tree for file in files for tree in read_cell_trees(file)]

    def _named(self, reading: Reading) -> Reading:
        """Return how the tree of a result is read: with the given names, if it has numbers alone."""
        given, own = self.reading.mutations, reading.mutations
        if given is None or own is None or len(given) != len(own) or own != default_names(len(own)):
            return reading
        return replace(reading, mutations=given, separator=BAR)

    def _of_result(self, folder: Path) -> tuple[Path, ParsedJson]:
        """Return the file of the tree in a folder of a result, and its summary."""
        try:
            summary = json.loads((folder / _SUMMARY).read_text("utf-8"))
            assert isinstance(summary, dict)
        except (OSError, ValueError, AssertionError):
            raise TreeError("not the summary of a result", path=folder / _SUMMARY) from None
        kind = CELLS if summary.get("tree") == CELL.name else MUTATIONS
        if kind != self.kind:
            raise TreeError(f"the result has a tree of {kind}, not of {self.kind}", path=folder)
        file = folder / _CONSENSUS
        return (file if self.which == PUBLISHED and is_file(file) else folder / _TREE), summary


def likely_tree_in(folder: Path, kind: str) -> Path:
    """Return the file of the most likely tree in a folder of a result.

    Args:
        folder: the folder.
        kind: `MUTATIONS` or `CELLS`.

    Raises:
        TreeError: it is no folder of a result, or its tree is of another kind.
    """
    if not is_file(folder / _SUMMARY):
        raise TreeError(
            f"the folder has no {_SUMMARY}, so it is no result", path=folder, hint="give the file of a tree"
        )
    return _Sources(kind, LIKELY, Reading())._of_result(folder)[0]


def _edges_in(folder: Path) -> set[str] | None:
    """Return the labels of the nodes below edges with mutations, in a folder with a tree of cells."""
    path = folder / CELL.table_name
    if not is_file(path):
        return None
    rows = csv.DictReader(io.StringIO(read_text(path, TableError)), delimiter="\t")
    return {row["edge"] for row in rows if row.get("edge")}


def _reading_of(summary: ParsedJson, clones: bool) -> Reading:
    """Return how a tree of a result with this summary is read."""
    names, cells = (tuple(map(str, summary.get(name) or ())) for name in ("mutations", "cells"))
    clone_of = (summary.get("consensus") or {}).get("clone_of") or [None] * len(names)
    placed = [name for name, clone in zip(names, clone_of, strict=False) if clone is not None]
    return _reading(names, cells, placed if clones else None)


def _reading(names: tuple[str, ...], cells: tuple[str, ...], placed: Sequence[str] | None) -> Reading:
    """Return how a tree of a result is read.

    Args:
        names, cells: names of the mutations and cells.
        placed: mutations of the consensus; None for a tree with one mutation at each node.
    """
    return Reading(names, cells, BAR if placed is None else separator_of(placed))


def _tree_files(folder: Path, endings: Sequence[str] = _ENDINGS) -> list[Path]:
    """Return the tree files of a folder in the order of their names, with numbers by value; one of each
    name."""
    found: dict[str, Path] = {}
    for ending in endings:
        for file in entries_of(folder):
            if file.name.lower().endswith(ending):
                found.setdefault(file.name[: -len(ending)], file)
    if not found:
        raise TreeError(
            "the folder has no tree files", path=folder, hint=f"their names end with {', '.join(endings)}"
        )
    return [found[name] for name in sorted(found, key=natural_order)]


def _sources(kind: str, which: str, names: Names, cell_names: Names, separator: str) -> _Sources:
    """Check the options of reading."""
    for name, value, values in (("kind", kind, KINDS), ("which", which, (PUBLISHED, LIKELY))):
        if value not in values:
            raise OptionError(f"{name} is {shown(value)}", hint=f"use one of {', '.join(values)}")
    if not separator:
        raise OptionError("the separator is empty", hint="give the text between the mutations of a node")
    mutations, cells = _names(names, "mutation"), _names(cell_names, "cell")
    return _Sources(kind, which, Reading(mutations, cells or (), separator))


def _names(names: Names, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    return read_names(names, what) if isinstance(names, (str, os.PathLike)) else tuple(map(str, names))


def compare(
    tree: TreeSource,
    true: TreeSource,
    *,
    kind: str = MUTATIONS,
    which: str = PUBLISHED,
    names: Names = None,
    cell_names: Names = None,
    separator: str | tuple[str, str] = BAR,
) -> Comparison | CellComparison:
    """Compare a tree with another, such as the true one.

    Trees of mutations may have several mutations at a node, and different ones: they are compared on those
    that both have. Trees of cells have cells as leaves.

    Args:
        tree, true: a file in Newick or GraphViz format, a folder of a result, or a result.
        kind: mutations or cells.
        which: tree of a result: published (the consensus if there is one) or likely (the most likely tree).
        names: names of the mutations in the order of the matrix, or a file of them, for trees with SCITE's
            numbers.
        cell_names: names of attached cells, or a file of them, which are left out of trees of mutations.
        separator: text between the mutations of a node; or two texts, for `tree` and for `true`.

    Raises:
        TreeError: a source is not one tree, or they share no mutation or no cell.
        OptionError: an option has a wrong value.
    """
    found = compare_many(
        [tree],
        true,
        kind=kind,
        which=which,
        names=names,
        cell_names=cell_names,
        separator=separator,
        slow=True,
    )
    if len(found) > 1:
        raise TreeError(f"{len(found)} trees in {shown(tree)}", hint="compare_many compares several")
    return found[0]


def compare_many(
    trees: Iterable[TreeSource],
    true: TreeSource,
    *,
    kind: str = MUTATIONS,
    which: str = PUBLISHED,
    names: Names = None,
    cell_names: Names = None,
    separator: str | tuple[str, str] = BAR,
    slow: bool | None = None,
) -> Sequence[Comparison | CellComparison]:
    """Compare trees with another; a source of several trees stands for all of them. See `compare`.

    Args:
        trees: the sources of the trees.
        true, kind, which, names, cell_names, separator: as for `compare`.
        slow: whether to compute MLTD and MP3, too; by default for a single tree.
    """
    own, others = (separator, separator) if isinstance(separator, str) else separator
    read, read_true = (_sources(kind, which, names, cell_names, text) for text in (own, others))
    if kind == CELLS:
        cell_trees = [tree for source in trees for tree in read.cell_trees(source)]
        return compare_cell_trees(cell_trees, _one(read_true.cell_trees(true)))
    named = [tree for source in trees for tree in read.mutation_trees(source)]
    return compare_trees(named, _one(read_true.mutation_trees(true)), slow=slow)


def _one(trees: list[T]) -> T:
    """Return the only tree."""
    if len(trees) != 1:
        raise TreeError(
            f"{counted(len(trees), 'tree', 'trees')}, where one is expected",
            path=trees[0].title.rpartition(":")[0],
        )
    return trees[0]


def consensus(
    trees: Iterable[TreeSource],
    *,
    weights: Sequence[float] | None = None,
    kind: str = MUTATIONS,
    which: str = PUBLISHED,
    names: Names = None,
    cell_names: Names = None,
    separator: str = BAR,
) -> TreeConsensus | CellTreeConsensus:
    """Return the consensus of trees, such as equally good ones: a tree that claims only what most of them
    share.

    Of trees of mutations, it is the clone tree that `infer` makes of samples; of trees of cells, the tree of
    all clades in more than half of them.

    Args:
        trees: the sources of the trees; a source of several trees stands for all of them.
        weights: weight of each tree; equal by default.
        kind, which, names, cell_names, separator: as for `compare`.

    Raises:
        TreeError: there is no tree, a source is not a tree, or no mutation or cell is in all trees.
        OptionError: an option has a wrong value, or weights do not fit the trees.
    """
    read = _sources(kind, which, names, cell_names, separator)
    if kind == CELLS:
        cell_trees = [tree for source in trees for tree in read.cell_trees(source)]
        return consensus_of_cell_trees(_some(cell_trees), weights)
    return consensus_of_trees(
        _some([tree for source in trees for tree in read.mutation_trees(source)]), weights
    )


def _some(trees: list[T]) -> list[T]:
    if not trees:
        raise TreeError("there is no tree", hint="give at least one")
    return trees
