"""Shares of the clones with their intervals, beside the tree, in panels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from syclade.host.answer.figures.scene import MUTED, Box, Disc, Item, Line, Scene, Text, width_of
from syclade.host.answer.figures.style import DrawnTree, Style
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note, lay_out, notes_of
from syclade.host.findings.silent import JointShare

__all__ = ["Interval", "Panel", "clones_scene"]

GAP = 44.0
"""Distance of two panels, px."""


@dataclass(frozen=True)
class Interval:
    """A share with the ends of its interval, if it has one."""

    share: float
    low: float | None
    high: float | None


class Panel(NamedTuple):
    """Shares of the clones of a tree.

    Attributes:
        title: title above them.
        shares: the share of each clone; None where it is not known.
        groups: clones, by their numbers, of which only the share together is known.
    """

    title: str
    shares: Sequence[Interval | None]
    groups: Sequence[JointShare] = ()


def clones_scene(
    tree: DrawnTree,
    style: Style,
    panels: Sequence[Panel],
    of: str,
    notes: Sequence[str] = (),
) -> Scene:
    """Return the shares of the clones with their intervals, beside the tree.

    Args:
        tree: the tree.
        style: the style.
        panels: the shares, in panels.
        of: what the shares are parts of.
        notes: sentences below the figure.
    """
    items: list[Item] = []
    top = MARGIN
    least = max(90.0, *(width_of(one.title) for one in panels))
    tree_room = max(0.4 * style.room, style.room - len(panels) * 260.0)
    rows = lay_out(tree, style, tree_room, top + ROW)
    left = rows.width + 20.0
    width = min(max(least, (style.room - left - MARGIN) / len(panels) - GAP), 300.0)
    known = [one for panel in panels for one in (*panel.shares, *panel.groups) if one]
    ends = [one.high or one.share for one in known]
    top_share = max(ends, default=0.0) or 1.0
    step = next(one for one in (0.05, 0.1, 0.2, 0.25, 0.5) if top_share / one <= 4 or one == 0.5)
    end = step * math.ceil(top_share / step - 1e-9)
    for title, shares, groups in panels:
        items.append(Text(left + width / 2, top + ROW / 2, title, anchor="middle", bold=len(panels) > 1))
        for tick in range(round(end / step) + 1):
            x = left + width * tick * step / end
            items.append(Line(((x, top + ROW), (x, rows.bottom)), "#dddddd", 0.8))
            items.append(Text(x, rows.bottom + 10, f"{tick * step:.0%}", SMALL, "middle", colour=MUTED))
        for clone, share, y in zip(tree.clones, shares, rows.middles, strict=True):
            if share is not None:
                items += _dot(share, style.colour(clone.number), left, width / end, y)
        for group in groups:
            ys = [
                y for clone, y in zip(tree.clones, rows.middles, strict=True) if clone.number in group.clones
            ]
            items += _bracket(group, left, width / end, (min(ys), max(ys)), left + width)
        left += width + GAP
    total = max(left - GAP + 24.0, 320.0)
    words = [f"Dots: share of {of} that is of the clone itself. Bars: 90 % intervals.", *notes_of(tree)[1:]]
    if all(one.low is None for one in known):
        words[0] = f"Dots: share of {of} that is of the clone itself."
    if any(one.groups for one in panels):
        words.append(
            "Brackets: clones that the specimen does not tell from each other, at their share together."
        )
    bottom = add_note(items, [*words, *notes], rows.bottom + 34, total - 2 * MARGIN)
    title = "Shares of the clones, a row for each"
    return Scene("clones", title, total, bottom + MARGIN / 2, [*rows.items, *items])


def _dot(share: Interval, colour: str, left: float, scale: float, y: float) -> list[Item]:
    """Return a dot with its interval."""
    x = left + scale * share.share
    edge = "#666666" if colour == "#ffffff" else "#333333"
    return [*_bar(share, left, scale, y), Disc(x, y, 5.0, colour, edge)]


def _bar(share: Interval | JointShare, left: float, scale: float, y: float) -> list[Item]:
    """Return the interval of a share, at this height; nothing if it has none."""
    if share.low is None or share.high is None:
        return []
    low, high = left + scale * share.low, left + scale * share.high
    line = Line(((low, y), (high, y)), "#333333", 2.0)
    return [line, *(Box(end - 0.7, y - 4, 1.4, 8, "#333333") for end in (low, high))]


def _bracket(
    group: JointShare, left: float, scale: float, ends: tuple[float, float], right: float
) -> list[Item]:
    """Return a line over the rows of some clones at their share together, with its interval and their name.

    Args:
        group: the clones with their share.
        left, scale: place of 0 %, and px for 100 %.
        ends: middles of the first and the last row, px.
        right: right end of the panel, px.
    """
    x = left + scale * group.share
    upper, lower = ends[0] - 5, ends[1] + 5
    middle = (upper + lower) / 2
    items: list[Item] = [Line(((x, upper), (x, lower)), "#666666", 2.0)]
    items += [Line(((x - 4, y), (x, y)), "#666666", 2.0) for y in (upper, lower)]
    items += _bar(group, left, scale, middle)
    fits = x + 8 + width_of(group.name, SMALL) <= right
    place, anchor = (x + 8, "start") if fits else (x - 8, "end")
    return [*items, Text(place, middle, group.name, SMALL, anchor, colour=MUTED)]
