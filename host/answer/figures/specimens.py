"""Clones in specimens: shares from clones_by_sample.tsv, by specimen and by time point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.clone_shares import Interval, Panel
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.findings.silent import JointShare, joined_groups, joint_warnings
from syclade.host.ground.errors import OptionError, TableError
from syclade.host.ground.options import flag_of

__all__ = ["FILE", "Specimens", "panels_of", "specimens_of"]

FILE = "clones_by_sample.tsv"


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
    own = tuple(clone.number for clone in files.published.clones)
    groups = _groups_in(files, names, samples) if "joint" in rows[0] else ()
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
