"""Kinds of figures by name: figures of a result as scenes, and of trees that were not inferred here."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.answer.figures.clone_shares import Interval, Panel, clones_scene, panels_of, specimens_of
from syclade.host.answer.figures.convergence import convergence_scene
from syclade.host.answer.figures.fish import fish_scene
from syclade.host.answer.figures.heat_map import matrix_scene
from syclade.host.answer.figures.posterior import posterior_scene
from syclade.host.answer.figures.scene import Scene
from syclade.host.answer.figures.source import MOVED, ResultFiles, files_in
from syclade.host.answer.figures.style import DrawnClone, DrawnTree, Style
from syclade.host.answer.figures.trees import tree_scene, with_title
from syclade.host.data.input.source import read_text
from syclade.host.data.trees.named import NamedTree, read_named_trees
from syclade.host.findings.consensus.clone_tree import clone_tree_at
from syclade.host.ground.errors import OptionError, OutputError, TableError, TreeError
from syclade.host.ground.files import is_file
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, path_of

if TYPE_CHECKING:
    import matplotlib.figure

__all__ = [
    "KINDS",
    "TREES",
    "check_kind",
    "draw_figure",
    "drawn_tree_of",
    "files_of_folder",
    "files_of_source",
    "plot_tree",
]

TREES = ("published", "likely")
"""Trees that figures show: the one to publish, and the most likely one."""


@dataclass(frozen=True)
class FigureKind:
    """A kind of figures.

    Attributes:
        shows: what it shows, as a phrase.
        make: (files of a result, tree to show, style) -> the figure.
    """

    shows: str
    make: Callable[[ResultFiles, DrawnTree, Style], Scene]


def _tree(_files: ResultFiles, tree: DrawnTree, style: Style) -> Scene:
    return tree_scene(tree, style)


def _matrix(files: ResultFiles, tree: DrawnTree, style: Style) -> Scene:
    return matrix_scene(tree, files.matrix, style)


def _clones(files: ResultFiles, tree: DrawnTree, style: Style) -> Scene:
    found = specimens_of(files) if tree.published else None
    if found is not None:
        return clones_scene(tree, style, panels_of(found), "the tissue", found.notes)
    shares = [Interval(clone.share, clone.low, clone.high) for clone in tree.clones]
    return clones_scene(tree, style, [Panel("share of the cells", shares)], "the cells")


def _fish(files: ResultFiles, _tree: DrawnTree, style: Style) -> Scene:
    return fish_scene(files, files.published, style)


def _posterior(files: ResultFiles, _tree: DrawnTree, style: Style) -> Scene:
    return posterior_scene(files, style)


def _convergence(files: ResultFiles, _tree: DrawnTree, style: Style) -> Scene:
    return convergence_scene(files, style)


KINDS = {
    "tree": FigureKind("the tree with the support, cells and share of each clone", _tree),
    "matrix": FigureKind("the tree beside the matrix, cells grouped by clone", _matrix),
    "clones": FigureKind("the shares of the clones with their intervals, in each specimen", _clones),
    "fish": FigureKind("the shares of the clones over time points, each inside its parent", _fish),
    "posterior": FigureKind("how probable each order of two mutations is", _posterior),
    "convergence": FigureKind("searches, chains and diagnostics of the sampled trees", _convergence),
}
"""Kinds of figures, by name."""

NAMES_OF_CLONE = 12
"""Most names of mutations of a clone, beside the highlighted ones, where the number is not given."""


def draw_figure(
    files: ResultFiles, kind: str, style: Style, *, names: str | int = "auto", tree: str = "published"
) -> Scene:
    """Return a figure.

    Args:
        files: the files of the result.
        kind: a name of `KINDS`.
        style: the style; its number of names is replaced.
        names: most names of mutations that a clone shows; all or none; auto for as many as are readable.
        tree: published or likely.

    Raises:
        OptionError: there is no such kind or tree, the result lacks what the figure shows, or a name to
            highlight is unknown.
    """
    for name, value, known in (("kind of figures", kind, KINDS), ("tree", tree, TREES)):
        if value not in known:
            raise OptionError(f"there is no {name} {value!r}", hint=f"use {', '.join(known)}")
    with files.as_a_whole():
        style = style.checked(files.mutations)
        shown = files.likely if tree == "likely" else files.published
    many = sum(len(clone.mutations) for clone in shown.clones) + len(shown.unplaced)
    if names == "auto":
        dense = kind in ("matrix", "posterior") or many > 100
        most = NAMES_OF_CLONE if dense else None
    else:
        most = None if names == "all" else 0 if names == "none" else _number(names)
    with files.as_a_whole():
        return with_title(KINDS[kind].make(files, shown, replace(style, names=most)), style)


def _number(names: str | int) -> int:
    """Return the number of names of a clone."""
    try:
        found = int(names)
    except ValueError:
        found = -1
    if found < 0:
        raise OptionError(f"names is {names!r}", hint="use auto, all, none, or the most names of a clone")
    return found


OF_TREES: tuple[str, ...] = ("tree",)
OF_CONSENSUS: tuple[str, ...] = ("tree", "posterior")
"""Figures of a tree in a file, and of a consensus of given trees."""


def drawn_tree_of(tree: NamedTree, called: str) -> DrawnTree:
    """Return a tree as figures show it: without cells, its clones numbered in preorder.

    Args:
        tree: the tree; nodes without mutations are passed over.
        called: what it is, for the figure.
    """
    clones = clone_tree_at(tree.parents, tree.node)
    drawn: list[DrawnClone] = []
    for number, parent in enumerate(clones.parents.tolist()):
        depth = drawn[parent].depth + 1 if number else 0
        names = tuple(tree.names[one] for one in clones.members[number])
        drawn.append(DrawnClone(number, parent, depth, names, math.nan, math.nan))
    none = np.zeros(0, dtype=np.int64)
    return DrawnTree(tuple(drawn), none, none, none, called=called)


def _of_file(path: Path) -> ResultFiles:
    """Return the tree of a file as that of a result without other files.

    Raises:
        TreeError: the file has no tree, or several.
    """
    trees = read_named_trees(path)
    if len(trees) != 1:
        raise TreeError(
            f"the file has {counted(len(trees), 'tree', 'trees')}",
            path=path,
            hint=f"syclade consensus {flag_of('out')} DIR sums up several, and there is a figure of DIR",
        )
    drawn = drawn_tree_of(trees[0], f"Tree of {path.name}")
    summary = json.dumps({"tree": "mutation", "mutations": trees[0].names})
    return ResultFiles(str(path), lambda name: summary if name == "summary.json" else None, best=drawn)


def files_of_folder(folder: Path, matrix: Path | None = None, moved: str = MOVED) -> ResultFiles:
    """Return the files of a folder of `infer`, or of a consensus of given trees.

    Args:
        folder, matrix, moved: as for `files_in`.

    Raises:
        OptionError: this is no such folder.
    """
    if _is_consensus(folder):
        return _of_consensus(folder)
    return files_in(folder, matrix, moved)


def _is_consensus(folder: Path) -> bool:
    """Return whether a folder is of `syclade consensus`, which writes no summary."""
    return is_file(folder / "clones.tsv") and not is_file(folder / "summary.json")


def _of_consensus(folder: Path) -> ResultFiles:
    """Return the files of a consensus of given trees; it has no summary, but names in relations.tsv."""

    def read(name: str) -> str | None:
        path = folder / name
        if name != "summary.json":
            return read_text(path, TableError) if is_file(path) else None
        text = read_text(folder / "relations.tsv", TableError)
        rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
        pairs = [name for row in rows for name in (row.get("first"), row.get("second")) if name]
        return json.dumps({"tree": "mutation", "mutations": list(dict.fromkeys(pairs))})

    return ResultFiles(str(folder), read)


def files_of_source(source: Path, matrix: Path | None = None, moved: str = MOVED) -> ResultFiles:
    """Return the files of a result, or of a tree in a file.

    Args:
        source: a folder, or the file of a tree: Newick, NEXUS or GraphViz.
        matrix, moved: as for `files_in`.
    """
    return _of_file(source) if is_file(source) else files_of_folder(source, matrix, moved)


def check_kind(source: Path, kind: str) -> None:
    """Check that a source has a figure of a kind; raise an OptionError if it is only a tree."""
    if is_file(source):
        kinds, what = OF_TREES, "the file of a tree"
    elif _is_consensus(source):
        kinds, what = OF_CONSENSUS, "a consensus of given trees"
    else:
        return
    if kind not in kinds:
        raise OptionError(
            f"{source} is {what}, without cells, so it has no {kind}",
            hint=f"use {' or '.join(kinds)}, or the folder that syclade infer makes",
        )


def plot_tree(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    highlight: Sequence[str] = (),
    names: str | int = "auto",
    colours: str = "okabe-ito",
    width: float | None = None,
    font_size: float = 9.0,
    font: str = "",
    force: bool = False,
) -> matplotlib.figure.Figure:
    """Draw a tree of any program with matplotlib; `syclade plot` draws the same figure.

    Args:
        source: a file with one tree (Newick, NEXUS or GraphViz; `compare` reads the same), or a folder that
            `syclade infer` or `syclade consensus` has made.
        path: a file to write the figure to; its extension gives the format, such as png, pdf or svg.
        title, highlight, names, colours, width, font_size, font, force: as for `Result.plot`.

    Raises:
        TreeError: the file has no tree, or several.
        OptionError: matplotlib is not installed (the extra `report`), or it does not know the extension.
        OutputError: the file exists and `force` is not given, or it cannot be written.
    """
    from syclade.host.answer.figures.canvas import room_of, written_figure
    from syclade.host.answer.figures.style import Style

    place = path_of("the tree", source, OptionError)
    style = Style(title, highlight=tuple(highlight), colours=colours, room=room_of(width, font_size))
    scene = draw_figure(files_of_source(place), "tree", style, names=names)
    target = None if path is None else path_of("the figure", path, OutputError)
    return written_figure(scene, target, force, {"the tree": place}, width, font_size, font)
