"""Clones in specimens: shares from clones_by_sample.tsv, by specimen and by time point, and a fish plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.scene import MUTED, Box, Item, Line, Polygon, Scene, Text, width_of, wrapped
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnTree, Style, ink_on
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, Interval, add_note, label_of
from syclade.host.ground.errors import OptionError, TableError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import listed

__all__ = ["FILE", "Specimens", "fish_scene", "panels_of", "specimens_of"]

FILE = "clones_by_sample.tsv"


@dataclass(frozen=True, eq=False)
class Specimens:
    """Shares of the clones of a tree in specimens.

    Attributes:
        names: names of the specimens.
        times: time point of each; empty without time points.
        share, low, high: float64, shape (specimens, clones): the shares, and the ends of their intervals.
        numbers: number of each clone.
        identifiable: bool, shape (specimens, clones): whether the specimen tells the clone from all others.
    """

    names: tuple[str, ...]
    times: tuple[str, ...]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    numbers: tuple[int | None, ...]
    identifiable: NDArray[np.bool_]

    @property
    def notes(self) -> list[str]:
        """Messages: clones that specimens do not tell apart, whose own shares are those of the prior."""
        found = []
        for name, own in zip(self.names, self.identifiable.tolist(), strict=True):
            some = [str(number) for number, known in zip(self.numbers, own, strict=True) if not known]
            if some:
                clones = f"{'clone' if len(some) == 1 else 'clones'} {listed(some, 12)}"
                found.append(
                    f"{name} does not tell {clones} from others: only shares of groups are known ({FILE})."
                )
        return found

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


def specimens_of(files: ResultFiles) -> Specimens | None:
    """Return the shares of the clones of the published tree in specimens; None without specimens.

    Raises:
        OptionError: the shares are of the nodes of the most likely tree, not of clones.
        TableError: a specimen lacks a clone.
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
    identifiable = np.ones(shares[0].shape, dtype=np.bool_)
    if "identifiable" in rows[0]:
        for line, value in enumerate(files.column(FILE, "identifiable")):
            identifiable[names.index(samples[line]), numbers[rows[line]["clone"]]] = value != "no"
    share, low, high = shares
    own = tuple(clone.number for clone in files.published.clones)
    return Specimens(tuple(names), known, share, low, high, own, identifiable)


def panels_of(found: Specimens) -> list[tuple[str, list[Interval | None]]]:
    """Return a panel of shares for each specimen, with its time point in the title.

    Clones that a specimen does not tell from others have no share there.
    """
    titles = [
        name if not found.times or found.times[at] == name else f"{name} (time {found.times[at]})"
        for at, name in enumerate(found.names)
    ]
    numbers = (found.share, found.low, found.high, found.identifiable)
    tables = zip(titles, *(one.tolist() for one in numbers), strict=True)
    return [(title, [_interval(*one) for one in zip(*shares, strict=True)]) for title, *shares in tables]


def _interval(share: float, low: float, high: float, identifiable: bool) -> Interval | None:
    if not identifiable:
        return None
    return Interval(share, None, None) if math.isnan(low) else Interval(share, low, high)


FISH_HEIGHT, SHORTEST = 320.0, 110.0
"""Height of a fish plot, and the least distance of two time points, px."""

STEPS = 24
"""Points of a curve between two time points."""


def fish_scene(files: ResultFiles, tree: DrawnTree, style: Style) -> Scene:
    """Return the shares of the clones over the time points, each clone inside its parent.

    Raises:
        OptionError: the result has no time points.
    """
    found = specimens_of(files)
    if found is None:
        raise OptionError(
            f"{files.place} has no {FILE}, as the cells have no specimens",
            hint=f"infer with {flag_of('metadata')} TABLE and {flag_of('time_column')} NAME",
        )
    points, shares = found.by_time()
    labels = [label_of(clone, style, 260.0) for clone in tree.clones]
    key = 40.0 + max(width_of(text, bold=bold) for label in labels for text, bold in label.lines)
    left, top = MARGIN + 36.0, MARGIN + 6.0
    width = max(SHORTEST * (len(points) - 1), min(style.room - left - key - MARGIN, 560.0))
    xs = positions_of(points) * width + left
    bands = bands_of(tree, shares)
    items: list[Item] = [Box(left, top, width, FISH_HEIGHT, "#ffffff", "#999999")]
    grid = np.concatenate([np.linspace(0, 1, STEPS + 1) + at for at in range(len(points) - 1)])
    for at, clone in enumerate(tree.clones):
        if at == 0 or float((bands[at, :, 1] - bands[at, :, 0]).max()) < 1e-4:
            continue
        upper, lower = (smoothed(bands[at, :, side], grid) * FISH_HEIGHT + top for side in (0, 1))
        x = smoothed(xs, grid, straight=True)
        outline = [*zip(x, upper, strict=True), *zip(x[::-1], lower[::-1], strict=True)]
        items.append(
            Polygon(tuple((float(a), float(b)) for a, b in outline), style.colour(clone.number), "#ffffff")
        )
    for part in (0.0, 0.5, 1.0):
        items.append(Text(left - 6, top + FISH_HEIGHT * part, f"{1 - part:.0%}", SMALL, "end", colour=MUTED))
    for x, point in zip(xs.tolist(), points, strict=True):
        items.append(Line(((x, top), (x, top + FISH_HEIGHT)), "#444444", 0.8, True))
        for at, line in enumerate(wrapped([point], SHORTEST - 10, SMALL)):
            items.append(Text(x, top + FISH_HEIGHT + 12 + 14 * at, line, SMALL, "middle"))
    bottom = _key(items, tree, style, left + width + 34, top)
    total = left + width + key + 20
    notes = [
        "Height: share of the cells at each time point that are of the clone or of those inside it; curves "
        "between the dashed lines are interpolated. White: cells without mutations.",
        *([] if is_to_scale(points) else ["The time points are drawn at equal distances, not to scale."]),
        *([f"Not placed by the data: {', '.join(tree.unplaced)}."] if tree.unplaced else []),
        *found.notes,
    ]
    lines = max(len(wrapped([point], SHORTEST - 10, SMALL)) for point in points)
    below = max(bottom, top + FISH_HEIGHT + 20 + 14 * lines)
    bottom = add_note(items, notes, below + 8, total - 2 * MARGIN)
    return Scene(
        "fish", "Shares of the clones over time, each inside its parent", total, bottom + MARGIN / 2, items
    )


def positions_of(points: Sequence[str]) -> NDArray[np.float64]:
    """Return where time points are on the axis, from 0 to 1: by their numbers, or evenly if one is none.

    Points that would be closer than a tenth of the axis are spaced evenly, too.
    """
    numbers = _numbers(points)
    if numbers is None or np.diff(numbers).min() <= 0.1:
        return np.linspace(0.0, 1.0, len(points))
    return numbers


def is_to_scale(points: Sequence[str]) -> bool:
    """Return whether distances of time points on the axis are those of their numbers, or they have none."""
    numbers = _numbers(points)
    return numbers is None or np.allclose(numbers, positions_of(points))


def _numbers(points: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the numbers of time points, from 0 to 1; None if one of them is no number."""
    try:
        numbers = np.array([float(point) for point in points])
    except ValueError:
        return None
    if not np.isfinite(numbers).all() or numbers[-1] == numbers[0]:
        return None
    return np.asarray((numbers - numbers[0]) / (numbers[-1] - numbers[0]))


def bands_of(tree: DrawnTree, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where each clone is at each time point, with its children inside it and space around them.

    Args:
        tree: the tree.
        shares: float64, shape (points, clones): the clones' own shares.

    Returns:
        float64, shape (clones, points, 2): upper and lower end, from 0 to 1.
    """
    own = shares / shares.sum(axis=1, keepdims=True)
    inside = own @ tree.within.T  # of the clone and all below it
    bands = np.zeros((len(tree.clones), len(shares), 2))
    bands[0, :, 1] = 1.0
    children: list[list[int]] = [[] for _ in tree.clones]
    for at, clone in enumerate(tree.clones):
        if at:
            children[clone.parent].append(at)
    for at, below in enumerate(children):
        space = own[:, at] / (len(below) + 1)
        upper = bands[at, :, 0].copy()
        for child in below:
            upper = upper + space
            bands[child, :, 0], bands[child, :, 1] = upper, upper + inside[:, child]
            upper = bands[child, :, 1]
    return bands


def smoothed(
    values: NDArray[np.float64], grid: NDArray[np.float64], *, straight: bool = False
) -> NDArray[np.float64]:
    """Return values between points: along lines, or along curves that are level at the points.

    Args:
        values: float64: a value for each point.
        grid: where, in numbers of points.
        straight: whether along lines.
    """
    at = np.minimum(grid.astype(np.int64), len(values) - 2)
    part = grid - at
    part = part if straight else part * part * (3.0 - 2.0 * part)
    return np.asarray(values[at] + part * (values[at + 1] - values[at]))


def _key(items: list[Item], tree: DrawnTree, style: Style, left: float, top: float) -> float:
    """Add numbers, colours and names of the clones; return the lower end, px."""
    y = top + 8
    for clone in tree.clones[1:]:
        fill = style.colour(clone.number)
        items.append(Box(left, y - 8, 20, 16, fill, "#999999"))
        items.append(Text(left + 10, y, str(clone.number), 10.0, "middle", True, ink_on(fill)))
        for text, bold in label_of(clone, style, 260.0).lines:
            items.append(Text(left + 26, y, text, bold=bold))
            y += 15
        y += math.floor(ROW - 20)
    return y
