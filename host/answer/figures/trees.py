"""Figures of the tree: a row for each clone, so labels cannot overlap; columns or intervals beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from syclade.host.answer.figures.scene import (
    INK,
    LETTERS,
    MUTED,
    Disc,
    Group,
    Item,
    Line,
    Scene,
    Text,
    moved,
    width_of,
    wrapped,
)
from syclade.host.answer.figures.style import ROOM, DrawnClone, DrawnTree, Style, ink_on
from syclade.host.findings.joint_shares import joint_warnings
from syclade.host.ground.values import counted

__all__ = [
    "MARGIN",
    "Label",
    "Rows",
    "add_note",
    "label_of",
    "lay_out",
    "tree_scene",
    "with_title",
]

MARGIN, RADIUS, LEAST_RADIUS = 12.0, 12.0, 8.0
INDENT, ROW, LINE, SMALL, TITLE = 24.0, 24.0, 15.0, 11.0, 15.0
"""Sizes, px: indent of a child, least height of a row, distance of lines, of small letters and of titles."""

PART_OF_INDENTS, LEAST_INDENT, EDGE = 0.4, 10.0, 3.0
"""Most of the tree's width that indents take, as they shrink with deep trees; the least indent, and the least
length of an edge beside a disc, px."""

NUMBERED, INSIDE, LEAST_NUMBER = 6.0, 0.9, 7.0
"""Least radius of a disc with room for a number, px; the most of its width that the number takes; and the
smallest letters that it may have."""

UNSURE = 0.5
"""Clones in a smaller share of the trees have a dashed edge."""


@dataclass(frozen=True)
class Label:
    """Lines beside a clone: names to highlight in bold letters, and others."""

    bold: tuple[str, ...]
    plain: tuple[str, ...]

    @property
    def lines(self) -> list[tuple[str, bool]]:
        """The lines, each with whether it is bold."""
        return [*((line, True) for line in self.bold), *((line, False) for line in self.plain)]


def label_of(clone: DrawnClone, style: Style, room: float) -> Label:
    """Return the names of a clone's mutations in lines of a width; the root is named as such."""
    if not clone.mutations:
        return Label((), ("root",))
    first = [name for name in clone.mutations if name in style.highlight]
    others = [name for name in clone.mutations if name not in style.highlight]
    most = len(others) if style.names is None else style.names
    shown, more = others[:most], max(0, len(others) - most)
    if more and (first or shown):
        shown.append(f"and {more} more")
    elif more:
        shown = [f"{more} mutation{'' if more == 1 else 's'}"]
    return Label(tuple(wrapped(first, room, bold=True)), tuple(wrapped(shown, room)))


@dataclass(frozen=True)
class Rows:
    """Tree with a row per clone.

    Attributes:
        items: discs, edges and labels.
        middles: middle of each row, px.
        heights: heights of the rows, px.
        width: right end of the widest label, px.
        bottom: lower end of the last row, px.
    """

    items: list[Item]
    middles: list[float]
    heights: list[float]
    width: float
    bottom: float


def lay_out(
    tree: DrawnTree,
    style: Style,
    room: float,
    top: float = MARGIN,
    height_of: Callable[[DrawnClone, Label], float] | None = None,
    *,
    labelled: bool = True,
) -> Rows:
    """Return the rows of a tree.

    Args:
        tree: the tree.
        style: the style.
        room: width that discs and labels may take, px; labels are wrapped to it.
        top: upper end of the first row, px.
        height_of: (clone, label) -> height of its row; by default as its label needs.
        labelled: whether there are labels.
    """
    deepest = max(clone.depth for clone in tree.clones)
    most = max(clone.share for clone in tree.clones) if tree.has_cells else 0.0
    indent = max(LEAST_INDENT, min(INDENT, PART_OF_INDENTS * room / max(deepest, 1)))
    largest = min(RADIUS, indent - EDGE)
    smallest = min(LEAST_RADIUS, largest)
    items: list[Item] = []
    discs: list[Item] = []
    places: list[tuple[float, float, float]] = []
    heights, width = [], 0.0
    for clone in tree.clones:
        x = MARGIN + RADIUS + indent * clone.depth
        left = x + RADIUS + 6
        label = label_of(clone, style, max(room - left, 10 * LETTERS)) if labelled else Label((), ())
        needed = max(ROW, LINE * len(label.lines) + 6)
        heights.append(needed if height_of is None else height_of(clone, label))
        y = top + heights[-1] / 2
        share = clone.share / most if most else 0.0
        radius = smallest + (largest - smallest) * math.sqrt(share)
        radius = max(1.5, min(radius, heights[-1] / 2 - 0.5))
        if places:
            x0, y0, r0 = places[clone.parent]
            dashed = clone.support is not None and clone.support < UNSURE
            items.append(Line(((x0, y0 + r0), (x0, y), (x - radius, y)), dashed=dashed))
        places.append((x, y, radius))
        discs.append(_disc(clone, style, x, y, radius, label, left, tree.of))
        width = max(width, left, *(left + width_of(text, bold=bold) for text, bold in label.lines))
        top += heights[-1]
    return Rows([*items, *discs], [y for _, y, _ in places], heights, width, top)


def _disc(
    clone: DrawnClone, style: Style, x: float, y: float, radius: float, label: Label, left: float, of: str
) -> Group:
    """Return the disc of a clone with its number, and its label."""
    fill = style.colour(clone.number)
    parts: list[Item] = [Disc(x, y, radius, fill, "#666666" if clone.number == 0 else "#ffffff")]
    if clone.number is not None and radius >= NUMBERED:
        number = str(clone.number)
        size = min(10.0, 10.0 * INSIDE * 2 * radius / width_of(number, 10.0, True))
        if size >= LEAST_NUMBER:
            parts.append(Text(x, y, number, size, "middle", True, ink_on(fill)))
    lines = label.lines
    for at, (text, bold) in enumerate(lines):
        line = y + LINE * (at - (len(lines) - 1) / 2)
        parts.append(Text(left, line, text, bold=bold, colour=INK if clone.mutations else MUTED))
    cells = () if math.isnan(clone.cells) else (("cells", _cells_text(clone.cells)),)
    return Group(tuple(parts), title_of(clone, of), "clone", cells)


def _cells_text(cells: float) -> str:
    """Return a number of cells with the four digits that tables have of it, and not in powers of ten."""
    return f"{cells:.4g}" if cells < 9999.5 else f"{cells:.0f}"


def title_of(clone: DrawnClone, of: str) -> str:
    """Return the full description of a clone."""
    who = "root" if not clone.mutations else ", ".join(clone.mutations)
    number = "" if clone.number is None or not clone.mutations else f"clone {clone.number}: "
    words = f"{number}{who}"
    if not math.isnan(clone.cells):
        cells = "cell" if clone.cells == 1 else "cells"
        words += f"; {_cells_text(clone.cells)} {cells} of its own ({clone.share:.1%})"
    if clone.low is not None and clone.high is not None:
        words += f", 90 % interval {clone.low:.1%} to {clone.high:.1%}"
    if clone.joint is not None:
        words += clone.joint.mark
    return words if clone.support is None else f"{words}; in {clone.support:.1%} of {of}"


def with_title(scene: Scene, style: Style) -> Scene:
    """Return a figure with the title of the style above it, wrapped to its width."""
    if not style.title:
        return scene
    lines = words_in_lines(style.title, scene.width - 2 * MARGIN, TITLE, bold=True)
    title = [Text(MARGIN, MARGIN + 8 + 20.0 * at, line, TITLE, bold=True) for at, line in enumerate(lines)]
    height = 20.0 * len(lines) + 8
    return replace(scene, height=scene.height + height, items=[*title, *moved(scene, 0.0, height)])


def words_in_lines(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """Return a text in lines of at most a width, broken between words where it can be."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer, size, bold) <= room:
            lines[-1] = longer
        else:
            lines[len(lines) - (not lines[-1]) :] = wrapped([word], room, size, bold)
    return lines


def add_note(items: list[Item], texts: Sequence[str], y: float, room: float) -> float:
    """Add lines of small letters below a figure, wrapped between words; return their lower end, px."""
    for line in (line for text in texts for line in words_in_lines(text, room, SMALL)):
        items.append(Text(MARGIN, y, line, SMALL, colour=MUTED))
        y += LINE
    return y


def notes_of(tree: DrawnTree, style: Style) -> list[str]:
    """Return what the figures of a tree need to be read; as many names as a clone has."""
    words = [f"{tree.name}: {counted(len(tree.clones) - 1, 'clone', 'clones')}."]
    if tree.published:
        words[0] += " Mutations of a clone are in no known order."
    if any(clone.support is not None for clone in tree.clones):
        words.append(
            f"Support: share of {tree.of or 'the trees'} with just these mutations at and below the clone; "
            "below 50 %, its edge is dashed."
        )
    if tree.unplaced:
        words.append(f"Not placed by the data: {_some_of(tree.unplaced, style)}.")
    return words


def _some_of(names: Sequence[str], style: Style) -> str:
    """Return names as text: as many as a clone has, highlighted ones first, and the number of others."""
    if style.names is None or style.names >= len(names):
        return ", ".join(names)
    shown = [name for name in names if name in style.highlight]
    shown += [name for name in names if name not in style.highlight][: style.names]
    more = len(names) - len(shown)
    if not shown:
        return counted(more, "mutation", "mutations")
    return ", ".join(shown) + (f" and {more} more" if more else "")


JOINT_MARK = " †"
"""Mark of the share of a clone that some specimens do not tell from others."""


def joint_notes(tree: DrawnTree) -> list[str]:
    """Return the groups of clones that some specimens do not tell from each other, as a note."""
    groups = list(dict.fromkeys(clone.joint for clone in tree.clones if clone.joint is not None))
    return [f"{JOINT_MARK.strip()} {note}." for note in joint_warnings("Some specimens do", groups)]


def _columns(tree: DrawnTree) -> list[tuple[str, list[str]]]:
    """Return title and texts of the columns beside the tree."""
    columns = []
    if any(clone.support is not None for clone in tree.clones):
        texts = ["" if clone.support is None else f"{clone.support:.0%}" for clone in tree.clones]
        columns.append(("support", texts))
    if not tree.has_cells:
        return columns
    # Tables have four digits of expected numbers: a decimal of 1000 or more cells would be made up.
    decimals = [int(tree.published and clone.cells < 999.95) for clone in tree.clones]
    texts = [f"{clone.cells:.{some}f}" for clone, some in zip(tree.clones, decimals, strict=True)]
    columns.append(("cells", texts))
    if any(clone.low is not None for clone in tree.clones):
        shares = [
            f"{one.share:.1%} ({'open' if one.low is None else f'{one.low:.1%}–{one.high:.1%}'})"
            f"{'' if one.joint is None else JOINT_MARK}"
            for one in tree.clones
        ]
        columns.append(("share (90 % interval)", shares))
    else:
        columns.append(("share", [f"{clone.share:.1%}" for clone in tree.clones]))
    return columns


def tree_scene(tree: DrawnTree, style: Style, name: str = "tree") -> Scene:
    """Return the tree with its clones' support, cells and shares in columns beside it."""
    items: list[Item] = []
    top = MARGIN
    columns = _columns(tree)
    widths = [max(width_of(text) for text in (title, *texts)) + 16 for title, texts in columns]
    for count in range(len(columns), -1, -1):
        taken = sum(widths[:count]) + MARGIN
        rows = lay_out(tree, style, style.room - taken, top + ROW)
        if rows.width + taken <= style.room or style.room >= ROOM:
            break
    columns, left_out = columns[:count], [title for title, _ in columns[count:]]
    right = rows.width
    for (title, texts), width in zip(columns, widths, strict=False):
        right += width
        items.append(Text(right, top + ROW / 2, title, anchor="end", colour=MUTED))
        items += [
            Text(right, y, text, anchor="end") for y, text in zip(rows.middles, texts, strict=True) if text
        ]
    width = max(right + MARGIN, 320.0)
    items.append(Line(((MARGIN, top + ROW), (width - MARGIN, top + ROW)), "#bbbbbb", 0.8))
    notes = [*notes_of(tree, style), *joint_notes(tree)]
    if left_out:
        notes.append(f"Left out, as the figure is too narrow: {', '.join(left_out)}.")
    bottom = add_note(items, notes, rows.bottom + 16, width - 2 * MARGIN)
    what = "Consensus tree" if tree.published else "Most likely tree"
    title = f"{tree.called or what}, a row for each clone"
    if columns:
        title += f"; beside it: {', '.join(title for title, _ in columns)}"
    return Scene(name, title, width, bottom + MARGIN / 2, [*rows.items, *items])
