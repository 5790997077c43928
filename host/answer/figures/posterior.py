"""Figure of the posterior: relations of pairs of mutations in the sampled trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import (
    LETTERS,
    MUTED,
    Box,
    Item,
    Line,
    Picture,
    Scene,
    Text,
    width_of,
    wrapped,
)
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnTree, Style, hex_of, mixed
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of

__all__ = ["posterior_scene", "relations_of"]

BEFORE, APART = (0, 114, 178), (230, 159, 0)
LEVELS = 20
"""Colours of both relations, and the steps in which a pixel mixes them with white."""

_MIXED = [(one, two) for one in range(LEVELS + 1) for two in range(LEVELS + 1 - one)]
_PALETTE = [mixed(255, BEFORE, one / LEVELS, APART, two / LEVELS) for one, two in _MIXED]


LEAST_NAME, ALWAYS_NAMED = 80.0, 12
"""Least width of names, px, and most mutations that have their names however narrow the figure is."""


def relations_of(files: ResultFiles) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return the placed mutations in the order of the tree, and their relations in the sampled trees.

    Args:
        files: the files of a result with relations.tsv.

    Returns:
        The names; float64, shape (n, n): the probability that the row's mutation is before the column's, and
        that both are apart; NaN for pairs that the table leaves out.

    Raises:
        OptionError: no trees were sampled.
    """
    if files.table("relations.tsv") is None:
        raise OptionError(
            f"{files.place} has no relations.tsv, as no mutation trees were sampled",
            hint=f"infer with {flag_of('support', 'quick')}, or {flag_of('samples')} K",
        )
    names = [name for clone in files.published.clones for name in clone.mutations]
    place = {name: at for at, name in enumerate(names)}
    before, apart = np.full((2, len(names), len(names)), np.nan)
    columns = [
        files.column("relations.tsv", name) for name in ("first", "second", "before", "after", "apart")
    ]
    for first, second, up, down, two in zip(*columns, strict=True):
        if second:
            one, other = place[first], place[second]
            before[one, other], before[other, one] = float(up), float(down)
            apart[one, other] = apart[other, one] = float(two)
    return names, before, apart


def _sizes(names: Sequence[str], style: Style) -> tuple[float, float, dict[str, list[str]]]:
    """Return the size of a pair and of letters, and the lines of each name, px: the largest that fit.

    Names that do not fit are left out if there are many; all if the style has none.
    """
    room = style.room - 2 * MARGIN - ROW - 6
    n = max(len(names), 1)
    for letters, part in product((LETTERS, 11.0, 10.0, 9.0, 8.0, 7.6), (0.3, 0.2)):
        if style.names == 0:
            break
        most = max(part * style.room, LEAST_NAME)
        labels = {one: wrapped([one], most, letters, one in style.highlight) for one in names}
        highest = max(map(len, labels.values()), default=1)
        wide = max((width_of(line, letters, one in style.highlight) for one in names for line in labels[one]),
                   default=0.0)  # fmt: skip
        for size in (16.0, letters / 0.95):
            size = max(size, highest * letters / 0.95)
            if wide + size * n <= room:
                return size, letters, labels
    if style.names != 0 and (style.names is None or n <= ALWAYS_NAMED):
        return size, letters, labels
    return min(16.0, max(room, 1.0) / n), LETTERS, {}


def posterior_scene(files: ResultFiles, style: Style) -> Scene:
    """Return the relations of all pairs of mutations in the sampled trees as a square."""
    names, before, apart = relations_of(files)
    left_out = np.isnan(before) & ~np.eye(len(names), dtype=np.bool_)
    before, apart = _with_sure(files.published, before, apart)
    items: list[Item] = []
    n = max(len(names), 1)
    top = MARGIN
    size, letters, labels = _sizes(names, style)
    named = bool(labels)
    widths = [width_of(line, letters, one in style.highlight) for one in labels for line in labels[one]]
    space = max(widths, default=0.0) + 6 if named else 0.0
    left, top = MARGIN + space + ROW, top + space + ROW
    with np.errstate(invalid="ignore"):
        up, two = np.rint(np.stack([before, apart]) * LEVELS)
    number = {pair: at for at, pair in enumerate(_MIXED)}
    blank, grey = len(_PALETTE), len(_PALETTE) + 1
    pixels = np.full((n, n), blank, np.uint8)
    for row in range(len(names)):
        for column in range(len(names)):
            if row != column:
                one, other = up[row, column], two[row, column]
                known = not math.isnan(one)
                pixels[row, column] = number[int(one), int(min(other, LEVELS - one))] if known else grey
    words = "Relations of pairs of mutations in the sampled trees"
    palette = [*_PALETTE, (255, 255, 255), (190, 190, 190)]
    items.append(Picture(left, top, size * n, size * n, pixels, palette, words))
    items.append(Line(((left, top), (left + size * n, top + size * n)), "#999999", 0.8))
    _sides(items, files, style, labels, left, top, size, letters)
    total = max(left + size * n + MARGIN, min(420.0, max(380.0, style.room)))
    y = top + size * n + 20
    for colour, words in ((BEFORE, "row before column"), (APART, "apart: on different branches")):
        y = _scale(items, y, colour, words)
    notes = ["White: the column is before the row; paler colours are less probable, mixed ones undecided."]
    if left_out.any():
        notes.append(
            "Pairs that relations.tsv leaves out are the surest of so many mutations: they have the relation "
            f"that the tree has{', or are grey in one clone' if np.isnan(before[left_out]).any() else ''}."
        )
    if not named and style.names != 0:
        notes.append("Names of so many mutations are left out.")
    y = add_note(items, notes, y + 4, total - 2 * MARGIN)
    title = "Posterior of pairs of mutations: how probable each order is, in the order of the tree"
    return Scene("posterior", title, total, y + MARGIN / 2, items)


_SURE = 0.9
"""Largest probability in a table from which the pairs that it leaves out, the surest, are as in the tree."""


def _with_sure(
    tree: DrawnTree, before: NDArray[np.float64], apart: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return relations of mutations in which pairs that the table leaves out have those of the tree.

    Pairs of one clone stay unknown, and all do if the table's surest pairs are not sure.

    Args:
        tree: the published tree.
        before, apart: as `relations_of` returns them.
    """
    known = ~np.isnan(before)
    if not known.any() or max(before[known].max(), apart[known].max()) < _SURE:
        return before, apart
    of = np.repeat(np.arange(len(tree.clones)), [len(clone.mutations) for clone in tree.clones])
    above = tree.within[np.ix_(of, of)]
    fill = ~known & (of[:, None] != of)
    return np.where(fill, above, before), np.where(fill, ~above & ~above.T, apart)


def _sides(
    items: list[Item], files: ResultFiles, style: Style, labels: dict[str, list[str]],
    left: float, top: float, size: float, letters: float,
) -> None:  # fmt: skip
    """Add the clones along both sides of the square, and the names beside them."""
    start = 0.0
    for clone in files.published.clones[1:]:
        wide = size * len(clone.mutations)
        fill = style.colour(clone.number)
        items.append(Box(left - 12, top + start, 9, wide, fill))
        items.append(Box(left + start, top - 12, wide, 9, fill))
        start += wide
    for at, (name, lines) in enumerate(labels.items()):
        bold = name in style.highlight
        for line, text in enumerate(lines):
            middle = size * (at + 0.5) + letters / 0.95 * (line - (len(lines) - 1) / 2)
            items.append(Text(left - 16, top + middle, text, letters, "end", bold))
            items.append(Text(left + middle, top - 16, text, letters, "start", bold, upright=True))


def _scale(items: list[Item], y: float, colour: tuple[int, int, int], words: str) -> float:
    """Add the scale of a colour, from 0 to 1; return its lower end, px."""
    for step in range(LEVELS):
        part = (step + 0.5) / LEVELS
        items.append(Box(MARGIN + 16 + 6 * step, y - 6, 6.5, 12, hex_of(mixed(255, colour, part))))
    items.append(Text(MARGIN + 12, y, "0", SMALL, "end", colour=MUTED))
    items.append(Text(MARGIN + 20 + 6 * LEVELS, y, "1", SMALL, colour=MUTED))
    items.append(Text(MARGIN + 36 + 6 * LEVELS, y, words))
    return y + ROW - 4
