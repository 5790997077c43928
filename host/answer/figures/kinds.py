"""Kinds of figures by name, and a figure of a result as a scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from syclade.host.answer.figures.diagrams import convergence_scene, posterior_scene
from syclade.host.answer.figures.drawn_tree import DrawnTree
from syclade.host.answer.figures.heat_map import matrix_scene
from syclade.host.answer.figures.scene import Scene
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.specimens import fish_scene, panels_of, specimens_of
from syclade.host.answer.figures.style import Style
from syclade.host.answer.figures.trees import Interval, clones_scene, tree_scene, with_title
from syclade.host.ground.errors import OptionError

__all__ = ["KINDS", "TREES", "draw_figure"]

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
        return clones_scene(tree, style, panels_of(found), "the tissue")
    shares = [Interval(clone.share, clone.low, clone.high) for clone in tree.clones]
    return clones_scene(tree, style, [("share of the cells", shares)], "the cells")


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
    many = sum(len(clone.mutations) for clone in shown.clones)
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
