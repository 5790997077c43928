"""Figures of trees that were not inferred here: in a file of any program, or the consensus of such trees."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.answer.figures.drawn_tree import DrawnClone, DrawnTree
from syclade.host.answer.figures.source import MOVED, ResultFiles, files_in
from syclade.host.data.input.textfile import read_text
from syclade.host.data.trees.named import NamedTree, read_named_trees
from syclade.host.findings.consensus.clone_tree import clone_tree_at
from syclade.host.ground.errors import OptionError, OutputError, TableError, TreeError
from syclade.host.ground.files import is_file
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, path_of

if TYPE_CHECKING:
    import matplotlib.figure

__all__ = ["check_kind", "drawn_tree_of", "files_of_folder", "files_of_source", "plot_tree"]

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
    from syclade.host.answer.figures.kinds import draw_figure
    from syclade.host.answer.figures.style import Style

    place = path_of("the tree", source, OptionError)
    style = Style(title, highlight=tuple(highlight), colours=colours, room=room_of(width, font_size))
    scene = draw_figure(files_of_source(place), "tree", style, names=names)
    target = None if path is None else path_of("the figure", path, OutputError)
    return written_figure(scene, target, force, {"the tree": place}, width, font_size, font)
