"""Layout of the clonal tree: one row per clone, so that labels cannot overlap, beside the matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.data.trees.clones import Clone

__all__ = ["Row", "TreePicture", "picture_of"]

ROWS = ((60, 22), (600, 16))
"""(maximum number of clones, height of a row in px). With more clones, rows have LEAST px, and only clones
with enough space have labels.
"""

LEAST = 5

LINE = 15.0
"""Minimum vertical distance of two labels, px."""

INDENT, MARGIN, RADIUS = 18.0, 12.0, 9.0
LETTER = 7.0
"""Upper estimate of the width of a letter at 12 px, px."""

WIDEST = 560.0
"""Maximum width of the tree, px: indents shrink and labels are cut to fit."""

LEAST_LABEL = 30
"""Minimum number of letters that a label has room for."""


@dataclass(frozen=True)
class Row:
    """Layout of one clone.

    Attributes:
        x, y: centre of its disc, px.
        radius: radius of its disc, px; the area grows with the number of cells.
        text: its label; empty if there is no space.
        text_x: left end of the label, px.
        title: full description, for which the label has no space.
        elbow: SVG path of the edge from its parent; empty for the root.
        cells: number of cells attached to it.
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
    """Layout of the whole tree.

    Attributes:
        rows: the rows, in preorder.
        heights: height of each row, px.
        width, height: size of the picture, px.
    """

    rows: tuple[Row, ...]
    heights: tuple[int, ...]
    width: float
    height: float


def picture_of(
    clones: Sequence[Clone], names: Sequence[str], shares: Sequence[float | None] | None = None, of: str = ""
) -> TreePicture:
    """Return the layout of a clonal tree.

    Args:
        clones: the clones, in preorder.
        names: names of the mutations.
        shares: for each clone, the share of trees that have it; None where it is not known.
        of: description of these trees.
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
            label, title = f"{label} · {share:.0%}", f"{title}; in {share:.1%} of {of}"
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
    """Return the label and the title of a clone."""
    own = [names[mutation] for mutation in clone.mutations]
    label = words_for(own, 3) if own else "root"
    cells = f"{clone.cells} cell{'' if clone.cells == 1 else 's'}"
    title = f"{', '.join(own) or 'root'}: {cells} here, {clone.below} here and below"
    return (f"{label} · {cells} ({clone.cells / everyone:.0%})" if clone.cells else label), title


def words_for(names: Sequence[str], most: int = 4) -> str:
    """Return up to `most` names as one line, with the number of the others."""
    shown = ", ".join(name if len(name) <= 24 else name[:23] + "…" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
