"""The matrix beside the tree: a row for each mutation, in the order of the tree; a column for each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import (
    INK,
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
from syclade.host.answer.figures.style import DrawnTree, Style, hex_of, ink_on, mixed
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note, joint_notes, lay_out, notes_of
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.reads import observed_states

__all__ = ["COLOURS", "MOST_COLUMNS", "PALETTE", "entries_in_order", "in_order_of_tree", "matrix_scene"]

COLOURS = {
    "not observed": (240, 240, 240),
    "mutation": (0, 114, 178),
    "homozygous": (0, 60, 100),
    "missing": (255, 255, 255),
    "observed against the tree": (213, 94, 0),
    "in the tree, not observed": (86, 180, 233),
}
"""RGB colours, based on the colour-blind safe palette of Okabe and Ito; pixels are indices in this order."""

_SHADED, _PARTS = (0, 1, 4, 5), (0.25, 0.5, 0.75)
"""Colours that evidence makes paler, and the parts of them that its paler shades have."""

PALETTE = (
    *COLOURS.values(),
    *(mixed(255, list(COLOURS.values())[at], part) for at in _SHADED for part in _PARTS),
)
"""RGB colours of pixels: `COLOURS`, then their shades."""

_SURE = (1 / 3, 2 / 3, 0.9)
"""Differences of the probabilities of both states from which an entry has the next shade; at last, none."""

BLANK = 3
"""Index of the background colour."""

MOST_COLUMNS = 1400
"""Maximum number of cells shown; of more cells, evenly spaced ones are taken."""

NAMED, MAP_HEIGHT = 150, 1200
"""Most mutations that have their names by default; height of the rows of more, px."""

NAME, LEAST_NAME = int(LETTERS) + 2, 80.0
"""Height of a line of a name, and least width of names, px."""

LEAST_MAP, WIDEST_CELL, STRIP, GAP = 240.0, 14.0, 16.0, 3
"""Sizes in px: least width of the map, widest column of a cell, height of the strip of clones, and space
between the rows of clones."""


def in_order_of_tree(
    values: NDArray[np.uint8], genotypes: NDArray[np.bool_], order: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the colour of every entry; rows are mutations as in the matrix, columns are cells in `order`.

    Args:
        values: uint8, shape (n, cells): the observed values.
        genotypes: bool, shape (n, cells): the mutations that the cells have in the tree.
        order: int64, shape (cells,): the cells in the order of the tree.

    Returns:
        uint8, shape (n, cells): indices into COLOURS.
    """
    shown = values.copy()  # 0, 1, 2, 3 are the first four colours
    shown[((values == 1) | (values == 2)) & ~genotypes] = 4
    shown[(values == 0) & genotypes] = 5
    return np.ascontiguousarray(shown[:, order])


def entries_in_order(
    matrix: Matrix, genotypes: NDArray[np.bool_], order: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the colour of every entry, as `in_order_of_tree`; with evidence, paler where it is less sure.

    Args:
        matrix: the matrix.
        genotypes, order: as for `in_order_of_tree`.

    Returns:
        uint8, shape (n, cells): indices into PALETTE.
    """
    if not isinstance(matrix.evidence, Likelihoods):
        return in_order_of_tree(matrix.values, genotypes, order)
    log_odds = matrix.evidence.log_odds
    colours = in_order_of_tree(observed_states(matrix), genotypes, order)
    shades = np.searchsorted(_SURE, np.tanh(np.abs(log_odds[:, order]) / 2.0), side="right")
    paler = np.zeros((len(COLOURS), len(_PARTS) + 1), dtype=np.uint8)
    paler[:] = np.arange(len(COLOURS))[:, None]
    paler[list(_SHADED), :-1] = len(COLOURS) + np.arange(len(_SHADED) * len(_PARTS)).reshape(-1, len(_PARTS))
    return np.asarray(paler[colours, shades])


def matrix_scene(tree: DrawnTree, matrix: Matrix, style: Style, name: str = "matrix") -> Scene:
    """Return the tree with the matrix beside it.

    Args:
        tree: the tree.
        matrix: the matrix, with the cells of the tree.
        style: the style.
        name: name of the figure.
    """
    items: list[Item] = []
    top = MARGIN
    n = matrix.n_mutations
    named = style.names != 0 and (style.names is None or n <= NAMED)
    shown = list(matrix.mutations) if named else [one for one in matrix.mutations if one in style.highlight]
    names = {one: _lines(one, style) for one in shown if one}
    row = NAME if named else max(1, min(NAME, MAP_HEIGHT // n))
    high = {one: max(row, NAME * len(names.get(one, ()))) if named else row for one in matrix.mutations}
    least = int(ROW) - 4 if named or len(tree.clones) <= 60 else 4
    heights = [max(least, sum(high[one] for one in clone.mutations) + GAP) for clone in tree.clones]
    waiting = iter(heights)
    rows = lay_out(
        tree, style, 0.3 * style.room, top + STRIP + 2, lambda _clone, _label: next(waiting), labelled=False
    )
    blocks = [
        (list(clone.mutations), y - height / 2)
        for clone, y, height in zip(tree.clones, rows.middles, heights, strict=True)
    ]
    blocks.append((list(tree.unplaced), rows.bottom + 4))
    unplaced = sum(high[one] for one in tree.unplaced)
    bottom = blocks[-1][1] + unplaced + (GAP if tree.unplaced else 0)
    lines: dict[str, float] = {}
    for some, upper in blocks:
        for one in some:
            lines[one] = upper + high[one] / 2
            upper += high[one]
    texts, left = _names(names, lines, style, rows.width)
    width = min(max(LEAST_MAP, style.room - left - MARGIN), WIDEST_CELL * matrix.n_cells)
    if tree.unplaced:
        items.append(Line(((left, rows.bottom + 1), (left + width, rows.bottom + 1)), "#999999", 0.8, True))
        items.append(Text(MARGIN, rows.bottom + 4 + unplaced / 2, "unplaced", SMALL, colour=MUTED))
    picture, columns = _picture(tree, matrix, lines, high, round(blocks[0][1]), round(bottom))
    words = "Observed values; where they contradict the tree they are orange or light blue"
    items.append(Picture(left, round(blocks[0][1]), width, len(picture), picture, PALETTE, words))
    items += _strip(tree, style, left, width, top, bottom)
    total = max(left + width + MARGIN, 320.0)
    y = _legend(items, matrix, bottom + 18, total)
    notes = _notes(tree, style, columns, matrix.n_cells, named=named)
    y = add_note(items, notes, y, total - 2 * MARGIN)
    title = "Tree, a row for each clone; beside it its mutations' rows of the matrix, a column for each cell"
    return Scene(name, title, total, y + MARGIN / 2, [*rows.items, *texts, *items])


def _picture(
    tree: DrawnTree,
    matrix: Matrix,
    lines: Mapping[str, float],
    high: Mapping[str, int],
    start: int,
    stop: int,
) -> tuple[NDArray[np.uint8], int]:
    """Return the matrix as a picture of numbers in `PALETTE`, and the number of cells in it.

    Args:
        tree, matrix: as for `matrix_scene`.
        lines, high: middle and height of the row of each mutation, px.
        start, stop: upper and lower end of the picture, px.
    """
    place = {one: at for at, one in enumerate(matrix.mutations)}
    genotypes = tree.genotypes(matrix.mutations)
    for one in tree.unplaced:
        genotypes[place[one]] = matrix.values[place[one]] % 3 != 0
    pixels = entries_in_order(matrix, genotypes, tree.order)
    if tree.recurrent is not None:  # the second node has no observations of its own
        pixels[place[tree.recurrent[1]]] = pixels[place[tree.recurrent[0]]]
    columns = np.linspace(0, matrix.n_cells - 1, min(MOST_COLUMNS, matrix.n_cells)).round().astype(np.int64)
    picture = np.full((max(1, stop - start), len(columns)), BLANK, np.uint8)
    for one, y in lines.items():
        first = round(y - high[one] / 2) - start
        picture[first : first + high[one]] = pixels[place[one]][columns]
    return picture, len(columns)


def _notes(tree: DrawnTree, style: Style, shown: int, cells: int, *, named: bool) -> list[str]:
    """Return the sentences below the figure, of which the matrix shows some of the cells."""
    notes = [*notes_of(tree, style)[:1], *joint_notes(tree)]
    if tree.recurrent is not None:
        own, copy = tree.recurrent
        notes.append(f"{copy} is the second node of {own}: its row has the values of {own} again.")
    if shown < cells:
        notes.append(f"{shown} of the {cells} cells are shown, evenly spaced.")
    if not named and style.names != 0:
        notes.append(f"Names of more than {NAMED} mutations are left out.")
    return notes


def _lines(name: str, style: Style) -> list[str]:
    """Return the lines of a mutation's name beside its row."""
    return wrapped([name], max(0.35 * style.room, LEAST_NAME), bold=name in style.highlight)


def _names(
    names: dict[str, list[str]], places: dict[str, float], style: Style, left: float
) -> tuple[list[Item], float]:
    """Return names of mutations, in lines, beside their rows, and the left end of the matrix, px.

    Names are moved apart where their rows are closer than letters are high.
    """
    widths = [width_of(line, bold=one in style.highlight) for one, lines in names.items() for line in lines]
    right = left + max(widths, default=0.0)
    items: list[Item] = []
    last = -math.inf
    for one in sorted(names, key=places.__getitem__):
        lines, half = names[one], (NAME * len(names[one]) - 1) / 2
        y = max(places[one], last + half)
        for at, line in enumerate(lines):
            place = y + NAME * (at - (len(lines) - 1) / 2)
            items.append(Text(right, place, line, anchor="end", bold=one in style.highlight, colour=INK))
        if abs(y - places[one]) > 2:
            items.append(Line(((right + 2, y), (right + 12, places[one])), "#999999", 0.8))
        last = y + half
    moved = any(isinstance(item, Line) for item in items)
    return items, right + (14 if moved else 6)


def _strip(tree: DrawnTree, style: Style, left: float, width: float, top: float, bottom: float) -> list[Item]:
    """Return the clones of the cells above the matrix, and lines between them."""
    items: list[Item] = []
    clones = tree.cells[tree.order]
    ends = [0, *(np.flatnonzero(np.diff(clones)) + 1).tolist(), len(clones)]
    scale = width / max(len(clones), 1)
    for first, end in pairwise(ends):
        number = tree.clones[clones[first]].number if clones[first] >= 0 else None
        fill = style.colour(number) if clones[first] >= 0 else "#eeeeee"
        x, wide = left + scale * first, scale * (end - first)
        items.append(
            Box(x, top, wide, STRIP - 3, fill, "#888888" if fill in ("#ffffff", "#eeeeee") else "none")
        )
        if number is not None and clones[first] >= 0 and width_of(str(number), 9.0, True) <= wide:
            items.append(
                Text(x + wide / 2, top + (STRIP - 3) / 2, str(number), 9.0, "middle", True, ink_on(fill))
            )
        if first and len(ends) < width / 6:
            items.append(Line(((x, top), (x, bottom)), "#ffffff", 1.0))
    return items


def _legend(items: list[Item], matrix: Matrix, y: float, room: float) -> float:
    """Add the colours that the matrix may have; return the lower end, px."""
    x = MARGIN
    for name, colour in COLOURS.items():
        if name == "homozygous" and not (matrix.values == 2).any():
            continue
        width = width_of(name, SMALL) + 28
        if x > MARGIN and x + width > room - MARGIN:
            x, y = MARGIN, y + ROW - 8
        items.append(Box(x, y - 6, 12, 12, hex_of(colour), "#999999"))
        items.append(Text(x + 17, y, name, SMALL))
        x += width
    return y + ROW - 4
