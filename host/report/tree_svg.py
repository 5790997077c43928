"""The clonal tree as an SVG: a row a clone, so that no label can meet another, with the matrix beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.report.clones import Clone, words_for

__all__ = ["Row", "TreePicture", "picture_of"]

ROWS = ((60, 22), (600, 16))
"""(clones, height of a row in px): up to so many; of more, LEAST, and labels where there is room."""

LEAST = 5

LINE = 15.0
"""px that two labels, one above the other, are apart."""

INDENT, MARGIN, RADIUS = 18.0, 12.0, 9.0
LETTER = 7.0
"""Width of a letter of 12 px, on the safe side."""

WIDEST = 560.0
"""Of the tree: indents shrink, and labels are cut."""

LEAST_LABEL = 30
"""Letters that a label has at least."""


@dataclass(frozen=True)
class Row:
    """A clone's place.

    Attributes:
        x, y: of its disc's centre, px.
        radius: of the disc: its area grows with the cells.
        text: its label, which begins at `text_x`; empty where there is no room.
        text_x: px.
        title: all that the label has no room for.
        elbow: path of the edge from its parent; empty for the root.
        cells: how many sit there.
    """

    x: float
    y: float
    radius: float
    text: str
    text_x: float
    title: str
    elbow: str
    cells: int


@dataclass(frozen=True)
class TreePicture:
    """All rows.

    Attributes:
        rows: in preorder.
        heights: of each row, px.
        width, height: of the picture, px.
    """

    rows: tuple[Row, ...]
    heights: tuple[int, ...]
    width: float
    height: float


def picture_of(
    clones: Sequence[Clone], names: Sequence[str], shares: Sequence[float | None] | None = None, of: str = ""
) -> TreePicture:
    """Where everything is.

    Args:
        clones: in preorder.
        names: of the mutations.
        shares: of the trees that have the edge to each clone; None where nothing is known.
        of: what trees these are, in words.
    """
    row = next((height for most, height in ROWS if len(clones) <= most), LEAST)
    heights = [max(row, len(clone.mutations)) for clone in clones]
    most = max((clone.cells for clone in clones), default=0)
    everyone = max(clones[0].below, 1)
    deepest = max(clone.depth for clone in clones)
    indent = min(INDENT, (WIDEST - 2 * MARGIN - LEAST_LABEL * LETTER) / max(deepest, 1))
    largest = min(RADIUS, row / 2 - 1)
    rows: list[Row] = []
    top, labelled = MARGIN, -LINE
    for at, clone in enumerate(clones):
        x, y = MARGIN + RADIUS + indent * clone.depth, top + row / 2
        radius = 1.5 + (largest - 1.5) * math.sqrt(clone.cells / most) if most else 1.5
        label, title = _words(clone, names, everyone)
        if shares is not None and (share := shares[at]) is not None:
            label, title = f"{label} · {share:.0%}", f"{title}; this edge is in {share:.1%} of {of}"
        if y - labelled < LINE:
            label = ""
        labelled = y if label else labelled
        text_x = x + RADIUS + 5
        letters = int((WIDEST - MARGIN - text_x) / LETTER)
        label = label if len(label) <= letters else label[: letters - 1] + "…"
        elbow = ""
        if at:
            upper = rows[clone.parent]
            elbow = f"M{upper.x:.1f} {upper.y:.1f}V{y:.1f}H{x:.1f}"
        rows.append(Row(x, y, radius, label, text_x, title, elbow, clone.cells))
        top += heights[at]
    width = max(one.text_x + LETTER * len(one.text) for one in rows) + MARGIN
    return TreePicture(tuple(rows), tuple(heights), width, top + MARGIN)


def _words(clone: Clone, names: Sequence[str], everyone: int) -> tuple[str, str]:
    """A clone's label and title."""
    own = [names[mutation] for mutation in clone.mutations]
    label = words_for(own, 3) if own else "root"
    cells = f"{clone.cells} cell{'' if clone.cells == 1 else 's'}"
    title = f"{', '.join(own) or 'root'}: {cells} here, {clone.below} here and below"
    return (f"{label} · {cells} ({clone.cells / everyone:.0%})" if clone.cells else label), title
