"""Style of figures: colours of clones, names, what is shown; trees with what is shown of them."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import chosen_mutations, near_names
from syclade.host.data.trees.cells import Clone
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import listed

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.findings.joint_shares import JointShare
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "CLONE_COLOURS",
    "ROOM",
    "SAMPLED",
    "DrawnClone",
    "DrawnTree",
    "Style",
    "hex_of",
    "ink_on",
    "likely_tree",
    "mixed",
    "support_of",
]

Rgb = tuple[int, int, int]

ROOM = 1000.0
"""Width of a figure, px, where none is given."""

OKABE_ITO = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442",
    "#332288", "#882255", "#117733", "#999933", "#aa4499", "#661100", "#888888",
)  # fmt: skip
"""Okabe and Ito's colours, which colour-blind readers can tell apart, then colours of Tol's muted set."""

TOL = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright colours, likewise."""

GREYS = ("#d9d9d9", "#737373", "#bdbdbd", "#525252", "#969696", "#f0f0f0")

CLONE_COLOURS = {"okabe-ito": OKABE_ITO, "tol": TOL, "grey": GREYS}
"""Colours of clones by the name of their set: clone 1 has the first, and later rounds are darker or paler."""

ROOT, PLAIN = "#ffffff", "#0072b2"


@dataclass(frozen=True)
class Style:
    """Style of a figure.

    Attributes:
        title: title above the figure; empty for none.
        names: most names of mutations that a clone shows; None for all, 0 for none.
        highlight: names of mutations that are named first, in bold letters.
        colours: name of a set of `CLONE_COLOURS`.
        room: width that the figure may take, px, with letters of 12 px.
    """

    title: str = ""
    names: int | None = None
    highlight: tuple[str, ...] = ()
    colours: str = "okabe-ito"
    room: float = ROOM

    def checked(self, mutations: tuple[str, ...]) -> Style:
        """Return the style with the mutations for the genes to highlight: names that begin with these words.

        Raises:
            OptionError: a name is not among the mutations, or there is no such set of colours.
        """
        if self.colours not in CLONE_COLOURS:
            raise OptionError(
                f"there are no colours {self.colours!r}", hint=f"use {', '.join(CLONE_COLOURS)}"
            )
        names, unknown = chosen_mutations(self.highlight, mutations)
        if unknown:
            near = near_names(unknown[0], mutations) or list(mutations)
            raise OptionError(
                f"there is no mutation {unknown[0]!r} to highlight",
                hint=f"the result has {listed(near, 12)}",
            )
        return replace(self, highlight=tuple(names))

    def colour(self, number: int | None) -> str:
        """Return the colour of a clone; the root is white, and clones without a number share one colour."""
        if number is None:
            return PLAIN
        if number == 0:
            return ROOT
        colours = CLONE_COLOURS[self.colours]
        turn, place = divmod(number - 1, len(colours))
        return _shaded(colours[place], turn)


def _shaded(colour: str, turn: int) -> str:
    """Return a colour of a later round of the set: darker in the first, paler in the second, and so on."""
    if turn == 0:
        return colour
    hue, light, full = colorsys.rgb_to_hls(*(value / 255 for value in _parts(colour)))
    part = 1.0 - 1.0 / (1.0 + (turn + 1) // 2)
    light += part * ((0.15 if turn % 2 else 0.92) - light)
    return "#" + "".join(f"{round(255 * value):02x}" for value in colorsys.hls_to_rgb(hue, light, full))


def mixed(light: int, first: Rgb, part: float, second: Rgb = (255, 255, 255), other: float = 0.0) -> Rgb:
    """Return a grey with parts of one or two colours in it.

    Args:
        light: the three parts of the grey.
        first, second: the colours.
        part, other: how much of each there is, from 0 to 1; at most 1 together.
    """
    red, green, blue = (
        round(light - part * (light - one) - other * (light - two))
        for one, two in zip(first, second, strict=True)
    )
    return red, green, blue


def hex_of(colour: Rgb) -> str:
    """Return an RGB colour as CSS has it."""
    return "#" + "".join(f"{part:02x}" for part in colour)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ink_on(colour: str) -> str:
    """Return black or white, whichever has the greater contrast on a colour (WCAG's relative luminance)."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (part / 255 for part in _parts(colour))
    ]
    luminance = sum(part * value for part, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "#000000" if luminance > 0.179 else "#ffffff"


SAMPLED = "the sampled trees"
"""Trees that shares of the consensus and of support are of."""


@dataclass(frozen=True)
class DrawnClone:
    """A clone of a drawn tree.

    Attributes:
        number: its number in the files, 0 for the root; None for the most likely tree beside a consensus,
            whose clones have other numbers.
        parent: index of its parent; the root is its own parent.
        depth: number of edges from the root.
        mutations: names of its mutations.
        cells: number of its own cells; of a consensus, the expected one; NaN for a tree without cells.
        share: part of the cells, or of the tissue, that is of the clone itself.
        low, high: ends of the 90 % interval of the share; None if there is none.
        support: share of the sampled trees that have it; None where there is none.
        joint: the clones that some specimens do not tell from it, with it; None if all specimens tell it.
    """

    number: int | None
    parent: int
    depth: int
    mutations: tuple[str, ...]
    cells: float
    share: float
    low: float | None = None
    high: float | None = None
    support: float | None = None
    joint: JointShare | None = None


@dataclass(frozen=True, eq=False)
class DrawnTree:
    """A tree as figures show it.

    Attributes:
        clones: the clones, in preorder; the first is the root.
        cells: index of the clone of each cell; -1 for an unplaced cell.
        second: for each cell that is likely a doublet, the index of the other clone; else -1.
        order: the cells in the order of the tree.
        unplaced: names of the unplaced mutations.
        published: whether it is the consensus.
        of: description of the trees that the support is of; empty without support.
        has: bool, shape (n, cells): the mutations of each cell, in the order of the matrix; None where they
            follow from the clones.
        called: what the tree is, for figures; empty for the consensus, or the most likely tree.
        recurrent: names of the mutation that has two nodes, and of its second one; None for none.
    """

    clones: tuple[DrawnClone, ...]
    cells: NDArray[np.int64]
    second: NDArray[np.int64]
    order: NDArray[np.int64]
    unplaced: tuple[str, ...] = ()
    published: bool = False
    of: str = ""
    has: NDArray[np.bool_] | None = None
    called: str = ""
    recurrent: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """Name of the tree, as the beginning of a sentence."""
        own = "Consensus of the sampled trees" if self.published else "Most likely tree"
        return self.called or own

    @property
    def has_cells(self) -> bool:
        """Return whether cells of the clones are known."""
        return not any(math.isnan(clone.cells) for clone in self.clones)

    @property
    def children(self) -> list[list[int]]:
        """Indices of each clone's children, ascending."""
        found: list[list[int]] = [[] for _ in self.clones]
        for at, clone in enumerate(self.clones[1:], 1):
            found[clone.parent].append(at)
        return found

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """bool, shape (clones, clones): whether the column's clone is the row's, or below it."""
        found = np.eye(len(self.clones), dtype=np.bool_)
        for index in range(1, len(self.clones)):
            found[:, index] |= found[:, self.clones[index].parent]
        return found

    def genotypes(self, mutations: Sequence[str]) -> NDArray[np.bool_]:
        """Return the mutations of each cell: bool, shape (mutations, cells); none of an unplaced one.

        Args:
            mutations: names of the rows, in the order of the matrix.
        """
        if self.has is not None:
            return self.has
        clone_of = {name: at for at, clone in enumerate(self.clones) for name in clone.mutations}
        rows = np.array([clone_of.get(name, -1) for name in mutations], dtype=np.int64)
        has = np.zeros((len(mutations), len(self.cells)), dtype=np.bool_)
        for cells in (self.cells, self.second):
            here = np.flatnonzero(cells >= 0)
            has[:, here] |= self.within[rows][:, cells[here]]
        has[rows < 0] = False
        return has


def likely_tree(
    clones: Sequence[Clone],
    mutations: Sequence[str],
    genotypes: NDArray[np.bool_],
    order: NDArray[np.int64],
    shares: Sequence[float | None] | None,
    of: str,
    *,
    above: NDArray[np.bool_],
    unplaced: Unplaced,
    numbered: bool,
    recurrent: int | None = None,
) -> DrawnTree:
    """Return the most likely tree as figures show it.

    Args:
        clones: its clones, without unplaced mutations and cells.
        mutations: names of the mutations.
        genotypes: bool, shape (n, cells): the mutations of each cell.
        order: the cells in the order of the tree.
        shares: for each clone, the share of trees that have it; None where it is not known.
        of: description of these trees.
        above: bool, shape (n, cells): the nodes above each cell, by their mutations; these are its mutations
            unless one has a second node.
        unplaced: mutations and cells that the tree leaves out.
        numbered: whether its clones have numbers; not beside a consensus, which has others.
        recurrent: number of the mutation whose second node is the last one; None for none.
    """
    everyone = max(clones[0].below, 1)
    drawn = tuple(
        DrawnClone(
            at if numbered else None, clone.parent, clone.depth,
            tuple(mutations[one] for one in clone.mutations),
            float(clone.cells), clone.cells / everyone, support=None if shares is None else shares[at],
        )
        for at, clone in enumerate(clones)
    )  # fmt: skip
    deepest = np.zeros(above.shape[1], dtype=np.int64)
    for at, clone in enumerate(clones):
        if clone.mutations:
            deepest[above[list(clone.mutations)].all(axis=0)] = at
    gone, cells = list(unplaced.mutations), list(unplaced.cells)
    deepest[cells], has = -1, genotypes.copy()
    has[gone], has[:, cells] = False, False
    order = order[np.argsort(deepest[order] < 0, kind="stable")]  # unplaced cells come last
    names = tuple(mutations[one] for one in gone)
    both = None if recurrent is None else (mutations[recurrent], mutations[-1])
    return DrawnTree(drawn, deepest, np.full(len(deepest), -1), order, names, of=of, has=has, recurrent=both)


def support_of(result: Result, clones: list[Clone]) -> tuple[list[float | None] | None, str]:
    """Return for each clone the share of sampled or co-optimal trees that have it: the first finding's.

    Args:
        result: the result of an inference.
        clones: clones of its tree.

    Returns:
        The shares, with None for the root, and a description of the trees. Without samples and without
        further co-optimal trees, None and "".
    """
    for finding in result.findings:
        found = finding.clone_shares(result.parents, clones, result.unplaced)
        if found is not None:
            return found
    return None, ""
