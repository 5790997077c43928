"""Shares of the clones: of specimens, from clones_by_sample.tsv, and their panels beside the tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import MUTED, Box, Disc, Item, Line, Scene, Text, width_of
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnTree, Style
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, Rows, add_note, lay_out, notes_of
from syclade.host.findings.joint_shares import JointShare, joined_groups, joint_warnings
from syclade.host.ground.errors import OptionError, TableError
from syclade.host.ground.options import flag_of

__all__ = ["FILE", "Interval", "Panel", "Specimens", "clones_scene", "panels_of", "specimens_of"]

FILE = "clones_by_sample.tsv"


GAP = 44.0
"""Distance of two panels, px."""


@dataclass(frozen=True, eq=False)
class Specimens:
    """Shares of the clones of a tree in specimens.

    Attributes:
        names: names of the specimens.
        times: time point of each; empty without time points.
        share, low, high: float64, shape (specimens, clones): the shares, and the ends of their intervals.
        numbers: number of each clone.
        groups: for each specimen, the clones that it does not tell from each other; empty if all tell all.
    """

    names: tuple[str, ...]
    times: tuple[str, ...]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    numbers: tuple[int | None, ...]
    groups: tuple[tuple[JointShare, ...], ...] = ()

    @property
    def notes(self) -> list[str]:
        """Sentences: clones that specimens do not tell from each other."""
        groups = zip(self.names, self.groups, strict=bool(self.groups))
        return [f"{words}." for name, own in groups for words in joint_warnings(f"{name} does", own)]

    def by_time(self) -> tuple[list[str], NDArray[np.float64]]:
        """Return the time points in their order, and the mean shares of the clones at each.

        Raises:
            OptionError: the specimens have no time points, or only one.
        """
        points = list(dict.fromkeys(self.times))
        if len(points) < 2:
            raise OptionError(
                "the result has no two time points", hint=f"infer with {flag_of('time_column')} NAME"
            )
        of = [[time == point for time in self.times] for point in points]
        return points, np.stack([self.share[one].mean(axis=0) for one in of])

    def groups_by_time(self) -> list[list[tuple[int, ...]]]:
        """Return the indices of clones that each time point does not tell from each other, by their group."""
        found: dict[str, list[tuple[int, ...]]] = {time: [] for time in self.times}
        for time, groups in zip(self.times, self.groups, strict=bool(self.groups)):
            found[time] += [tuple(self.numbers.index(clone) for clone in one.clones) for one in groups]
        return [joined_groups(some) for some in found.values()]


def specimens_of(files: ResultFiles) -> Specimens | None:
    """Return the shares of the clones of the published tree in specimens; None without specimens.

    Raises:
        OptionError: the shares are of the nodes of the most likely tree, not of clones.
        TableError: a specimen lacks a clone, or there is no such clone.
    """
    rows = files.table(FILE)
    if not rows:
        return None
    if not files.published.published:
        raise OptionError(
            f"the shares in {FILE} are of nodes of the most likely tree, which figures draw as clones",
            hint=f"infer with {flag_of('support', 'quick')}",
        )
    samples = files.column(FILE, "sample")
    times = files.column(FILE, "time") if "time" in rows[0] else [""] * len(samples)
    numbers = {str(clone.number): at for at, clone in enumerate(files.published.clones)}
    names = list(dict.fromkeys(samples))
    shares = np.full((3, len(names), len(numbers)), np.nan)
    columns = [files.numbers(FILE, name) for name in ("share", "low", "high")]
    for line, clone in enumerate(files.column(FILE, "clone")):
        if clone not in numbers:
            raise TableError(f"there is no clone {clone!r}", path=f"{files.place}/{FILE}", line=line + 2)
        place = names.index(samples[line]), numbers[clone]
        shares[(slice(None), *place)] = [column[line] for column in columns]
    if np.isnan(shares[0]).any():
        raise TableError("a specimen lacks a clone", path=f"{files.place}/{FILE}")
    first = dict(zip(reversed(samples), reversed(times), strict=True))
    known = tuple(first[name] for name in names) if any(times) else ()
    own = tuple(clone.number for clone in files.published.clones)
    groups = _groups_in(files, names, samples) if "joint" in rows[0] else ()
    if lacking := {clone for of in groups for one in of for clone in one.clones} - {*own}:
        raise TableError(f"there is no clone {min(lacking)}", path=f"{files.place}/{FILE}")
    share, low, high = shares
    return Specimens(tuple(names), known, share, low, high, own, groups)


def _groups_in(
    files: ResultFiles, names: Sequence[str], samples: Sequence[str]
) -> tuple[tuple[JointShare, ...], ...]:
    """Return the groups of clones that each specimen does not tell from each other.

    Args:
        files: the files.
        names: the specimens.
        samples: the specimen of each line.
    """
    found: list[dict[str, JointShare]] = [{} for _ in names]
    joint = files.column(FILE, "joint")
    columns = [files.numbers(FILE, f"joint_{name}") for name in ("share", "low", "high")]
    for sample, group, *shares in zip(samples, joint, *columns, strict=True):
        if group:
            found[names.index(sample)][group] = JointShare.of_table(group, *shares)
    return tuple(tuple(one.values()) for one in found)


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


def panels_of(found: Specimens) -> list[Panel]:
    """Return a panel of shares for each specimen, with its time point in the title.

    Clones that a specimen does not tell from others have a share together.
    """
    titles = [
        name if not found.times or found.times[at] == name else f"{name} (time {found.times[at]})"
        for at, name in enumerate(found.names)
    ]
    shares = (one.tolist() for one in (found.share, found.low, found.high))
    panels = []
    for title, groups, *ends in zip(titles, found.groups or ((),) * len(titles), *shares, strict=True):
        joined = {clone for one in groups for clone in one.clones}
        rows = zip(found.numbers, *ends, strict=True)
        own = [None if number in joined else _interval(*one) for number, *one in rows]
        panels.append(Panel(title, own, groups))
    return panels


def _interval(share: float, low: float, high: float) -> Interval:
    return Interval(share, None, None) if math.isnan(low) else Interval(share, low, high)


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
    least = max(90.0, *(width_of(one.title) for one in panels))
    tree_room = max(0.4 * style.room, style.room - len(panels) * 260.0)
    rows = lay_out(tree, style, tree_room, MARGIN + ROW)
    room = style.room - rows.width - 20.0 - MARGIN
    most = max(1, int(room / (least + GAP)))
    side_by_side = math.ceil(len(panels) / math.ceil(len(panels) / most))
    width = min(max(least, room / side_by_side - GAP), 300.0)
    known = [one for panel in panels for one in (*panel.shares, *panel.groups) if one]
    step, end = _axis(max([one.high or one.share for one in known], default=0.0) or 1.0, width)
    items: list[Item] = []
    for first in range(0, len(panels), side_by_side):
        if first:
            rows = lay_out(tree, style, tree_room, rows.bottom + 34 + ROW)
        left = rows.width + 20.0
        items += rows.items
        for panel in panels[first : first + side_by_side]:
            items.append(
                Text(
                    left + width / 2, rows.middles[0] - rows.heights[0] / 2 - ROW / 2, panel.title,
                    anchor="middle", bold=len(panels) > 1,
                )
            )  # fmt: skip
            items += _panel(tree, style, panel, rows, left, width, step, end)
            left += width + GAP
    total = max(rows.width + 20.0 + side_by_side * (width + GAP) - GAP + 24.0, 320.0)
    words = [f"Dots: share of {of} that is of the clone itself. Bars: 90 % intervals."]
    words += notes_of(tree, style)[1:]
    if all(one.low is None for one in known):
        words[0] = f"Dots: share of {of} that is of the clone itself."
    if any(one.groups for one in panels):
        words.append(
            "Brackets: clones that the specimen does not tell from each other, at their share together."
        )
    bottom = add_note(items, [*words, *notes], rows.bottom + 34, total - 2 * MARGIN)
    title = "Shares of the clones, a row for each"
    return Scene("clones", title, total, bottom + MARGIN / 2, items)


def _axis(most: float, width: float) -> tuple[float, float]:
    """Return the distance of ticks, and the end, of an axis of shares of a width in px: labels have room."""
    for step in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0):
        end = step * math.ceil(most / step - 1e-9)
        if (most / step <= 4 or step == 0.5) and width * step / end >= width_of("50%", SMALL) + 6:
            return step, end
    return 1.0, 1.0


def _panel(
    tree: DrawnTree,
    style: Style,
    panel: Panel,
    rows: Rows,
    left: float,
    width: float,
    step: float,
    end: float,
) -> list[Item]:
    """Return the shares of the clones at the rows of the tree, on an axis.

    Args:
        tree, style: as for `clones_scene`.
        panel: the shares.
        rows: the rows of the tree.
        left, width: place of the panel, px.
        step, end: distance of ticks, and end, of the axis.
    """
    items: list[Item] = []
    top = rows.middles[0] - rows.heights[0] / 2
    for tick in range(round(end / step) + 1):
        x = left + width * tick * step / end
        items.append(Line(((x, top), (x, rows.bottom)), "#dddddd", 0.8))
        items.append(Text(x, rows.bottom + 10, f"{tick * step:.0%}", SMALL, "middle", colour=MUTED))
    for clone, share, y in zip(tree.clones, panel.shares, rows.middles, strict=True):
        if share is not None:
            items += _dot(share, style.colour(clone.number), left, width / end, y)
    for group in panel.groups:
        ys = [y for clone, y in zip(tree.clones, rows.middles, strict=True) if clone.number in group.clones]
        items += _bracket(group, left, width / end, (min(ys), max(ys)), left + width)
    return items


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
