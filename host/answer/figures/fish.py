"""Fish plot: shares of the clones over time points, each clone inside its parent.

Clones that a time point does not tell from each other are one band there, in stripes of their colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.clone_shares import FILE, specimens_of
from syclade.host.answer.figures.scene import MUTED, Box, Item, Line, Polygon, Scene, Text, width_of, wrapped
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import DrawnTree, Style, ink_on
from syclade.host.answer.figures.trees import MARGIN, ROW, SMALL, add_note, label_of
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of

__all__ = ["bands_of", "divided_as_known", "fish_scene", "is_to_scale", "positions_of", "runs_of"]

FISH_HEIGHT, SHORTEST = 320.0, 110.0
"""Height of a fish plot, and the least distance of two time points, px."""

STEPS = 24
"""Points of a curve between two time points."""

STRIPES = "Stripes: clones that a time point does not tell from each other; only their sum is known there."

STRIPE = 5.0
"""Height of a stripe of a clone in the band of a group, px."""


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
    groups = found.groups_by_time()
    labels = [label_of(clone, style, 260.0) for clone in tree.clones]
    key = 40.0 + max(width_of(text, bold=bold) for label in labels for text, bold in label.lines)
    left, top = MARGIN + 36.0, MARGIN + 6.0
    width = max(SHORTEST * (len(points) - 1), min(style.room - left - key - MARGIN, 560.0))
    xs = positions_of(points) * width + left
    bands = bands_of(tree, divided_as_known(shares, groups))
    items: list[Item] = [Box(left, top, width, FISH_HEIGHT, "#ffffff", "#999999")]
    for at in range(len(tree.clones)):
        if float((bands[at, :, 1] - bands[at, :, 0]).max()) < 1e-4:
            continue
        for first, last, members in runs_of(at, groups):
            if at or members:
                colours = [style.colour(tree.clones[one].number) for one in members or (at,)]
                items += _band(bands[at], xs, top, (first, last), colours)
    for part in (0.0, 0.5, 1.0):
        items.append(Text(left - 6, top + FISH_HEIGHT * part, f"{1 - part:.0%}", SMALL, "end", colour=MUTED))
    for x, point in zip(xs.tolist(), points, strict=True):
        items.append(Line(((x, top), (x, top + FISH_HEIGHT)), "#444444", 0.8, True))
        for at, line in enumerate(wrapped([point], SHORTEST - 10, SMALL)):
            items.append(Text(x, top + FISH_HEIGHT + 12 + 14 * at, line, SMALL, "middle"))
    for at, some in enumerate(groups):
        items += _names_of(tree, bands[:, at] * FISH_HEIGHT + top, some, xs[at], (left, left + width))
    bottom = _key(items, tree, style, left + width + 34, top)
    total = left + width + key + 20
    notes = [
        "Height: share of the cells at each time point that are of the clone or of those inside it; curves "
        "between the dashed lines are interpolated. White: cells without mutations.",
        *([] if is_to_scale(points) else ["The time points are drawn at equal distances, not to scale."]),
        *([f"Not placed by the data: {', '.join(tree.unplaced)}."] if tree.unplaced else []),
        *([STRIPES] if any(groups) else []),
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
    for at, below in enumerate(tree.children):
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


def divided_as_known(
    shares: NDArray[np.float64], groups: Sequence[Sequence[tuple[int, ...]]]
) -> NDArray[np.float64]:
    """Return shares in which those of a group have the proportions of the nearest point that tells them.

    Nothing is known of their proportions, but a band that is drawn up to half way to such a point must not
    seem to grow or to shrink in its group. Where no point tells them, they are equal.

    Args:
        shares: float64, shape (points, clones).
        groups: for each point, the groups of clones that it does not tell from each other.
    """
    found = shares.copy()
    for at, some in enumerate(groups):
        for group in some:
            clones = list(group)
            untold = [any(set(group) & set(one) for one in of) for of in groups]
            told = sorted((abs(at - other), other) for other, no in enumerate(untold) if not no)
            parts = shares[told[0][1], clones] if told else np.ones(len(clones))
            parts = parts if parts.sum() > 0.0 else np.ones(len(clones))
            found[at, clones] = shares[at, clones].sum() * parts / parts.sum()
    return found


def runs_of(
    clone: int, groups: Sequence[Sequence[tuple[int, ...]]]
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return from where to where a clone has a band, in numbers of points, and the group that it is for.

    The first clone of a group is drawn for all of it, from half way between two points on, and the others are
    not drawn there. The group is empty where the clone is drawn for itself.

    Args:
        clone: index of the clone.
        groups: for each point, the groups of clones that it does not tell from each other.
    """
    found: list[tuple[float, float, tuple[int, ...]]] = []
    last = len(groups) - 1
    for at, some in enumerate(groups):
        group = next((one for one in some if clone in one), ())
        if group and clone != group[0]:
            continue
        start, end = max(at - 0.5, 0.0), min(at + 0.5, float(last))
        if found and found[-1][1:] == (start, group):
            start = found.pop()[0]
        found.append((start, end, group))
    return found


def _band(
    band: NDArray[np.float64],
    xs: NDArray[np.float64],
    top: float,
    ends: tuple[float, float],
    colours: Sequence[str],
) -> list[Item]:
    """Return the band of a clone from one place to another, in stripes if it is of several.

    Args:
        band: float64, shape (points, 2): upper and lower end at each point, from 0 to 1.
        xs: float64, shape (points,): places of the points, px.
        top: upper end of the figure, px.
        ends: from where to where, in numbers of points.
        colours: colours of the clones.
    """
    knots = [at for at in range(len(xs)) if ends[0] < at < ends[1]]
    edges = [ends[0], *map(float, knots), ends[1]]
    grid = np.concatenate([np.linspace(one, two, STEPS + 1) for one, two in pairwise(edges)])
    upper, lower = (smoothed(band[:, side], grid) * FISH_HEIGHT + top for side in (0, 1))
    x = smoothed(xs, grid, straight=True)
    count = 1
    if len(colours) > 1:
        count = len(colours) * max(1, round(float(np.median(lower - upper)) / (STRIPE * len(colours))))
    found: list[Item] = []
    for at in range(count):
        one, two = (upper + (lower - upper) * part / count for part in (at, at + 1))
        outline = [*zip(x, one, strict=True), *zip(x[::-1], two[::-1], strict=True)]
        edge = "#ffffff" if count == 1 else "none"
        points = tuple((float(a), float(b)) for a, b in outline)
        found.append(Polygon(points, colours[at % len(colours)], edge))
    return found


def _names_of(
    tree: DrawnTree,
    bands: NDArray[np.float64],
    groups: Sequence[tuple[int, ...]],
    x: float,
    ends: tuple[float, float],
) -> list[Item]:
    """Return the names of groups at a time point, in the first free part of their bands that is high enough.

    Args:
        tree: the tree.
        bands: float64, shape (clones, 2): ends of the bands, px.
        groups: the groups.
        x: place of the time point, px.
        ends: ends of the figure, px.
    """
    found: list[Item] = []
    for group in groups:
        inner = [at for at, one in enumerate(tree.clones) if at not in group and one.parent in group]
        edges = [bands[group[0], 0], *(edge for at in inner for edge in bands[at]), bands[group[0], 1]]
        free = [(lower - upper, upper) for upper, lower in zip(edges[::2], edges[1::2], strict=True)]
        high, upper = max(free)
        if high < ROW - 8:
            continue
        name = "+".join(str(tree.clones[at].number) for at in group)
        wide = width_of(name, SMALL, True) + 8
        left = min(max(x - wide / 2, ends[0] + 2), ends[1] - wide - 2)
        y = upper + high / 2
        found += [Box(left, y - 7, wide, 14, "#ffffff", "#999999")]
        found += [Text(left + wide / 2, y, name, SMALL, "middle", True)]
    return found
