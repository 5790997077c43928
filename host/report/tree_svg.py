"""The clonal tree as an SVG: a row a clone, so that no label can meet another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.report.clones import Clone, words_for

__all__ = ["Row", "TreePicture", "picture_of"]

ROW, INDENT, MARGIN, RADIUS = 22.0, 18.0, 12.0, 9.0
LETTER = 7.0
"""Width of a letter of 12 px, on the safe side."""

DEEPEST = 24
"""Indents: what is deeper stands no farther to the right."""


@dataclass(frozen=True)
class Row:
    """A clone's place.

    Attributes:
        x, y: of its disc's centre, px.
        radius: of the disc: its area grows with the cells.
        text: its label; begins at `text_x`.
        text_x: px.
        title: all that the label has no room for.
        elbow: path of the edge from its parent; empty for the root.
    """

    x: float
    y: float
    radius: float
    text: str
    text_x: float
    title: str
    elbow: str


@dataclass(frozen=True)
class TreePicture:
    """All rows, and the size of the picture in px."""

    rows: tuple[Row, ...]
    width: float
    height: float


def picture_of(clones: Sequence[Clone], names: Sequence[str]) -> TreePicture:
    """Where everything is.

    Args:
        clones: in preorder.
        names: of the mutations.
    """
    most = max((clone.cells for clone in clones), default=0)
    rows: list[Row] = []
    for at, clone in enumerate(clones):
        x = MARGIN + RADIUS + INDENT * min(clone.depth, DEEPEST)
        y = MARGIN + ROW * (at + 0.5)
        radius = 3.0 + (RADIUS - 3.0) * math.sqrt(clone.cells / most) if most else 3.0
        own = [names[mutation] for mutation in clone.mutations]
        label = words_for(own) if own else "root"
        cells = f"{clone.cells} cell{'' if clone.cells == 1 else 's'}"
        text = f"{label} · {cells}" if clone.cells else label
        title = f"{', '.join(own) or 'root'}: {cells} here, {clone.below} here and below"
        elbow = ""
        if at:
            upper = rows[clone.parent]
            elbow = f"M{upper.x:.1f} {upper.y:.1f}V{y:.1f}H{x:.1f}"
        rows.append(Row(x, y, radius, text, x + RADIUS + 5, title, elbow))
    width = max(row.text_x + LETTER * len(row.text) for row in rows) + MARGIN
    return TreePicture(tuple(rows), width, 2 * MARGIN + ROW * len(rows))
