"""Regions: what is called, from options and files, as merged intervals in the order of the contigs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from syclade.host.calls.windows import WINDOW
from syclade.host.ground.errors import OptionError, ReadsError

__all__ = ["Interval", "Piece", "intersected", "merged", "parse_region", "read_bed", "tiles", "whole"]


class Interval(NamedTuple):
    """Positions of a contig, from 0, without `end`."""

    contig: str
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.contig}:{self.begin + 1}-{self.end}"


class Piece(NamedTuple):
    """Part of an interval, for one thread.

    Attributes:
        contig: name of the contig.
        begin, end: its positions, from 0, without `end`.
        since: reads that begin before this position are counted in an earlier piece.
    """

    contig: str
    begin: int
    end: int
    since: int

    def __str__(self) -> str:
        return str(Interval(self.contig, self.begin, self.end))


def whole(contigs: Mapping[str, int]) -> list[Interval]:
    """Return all positions of all contigs."""
    return [Interval(name, 0, length) for name, length in contigs.items() if length]


def parse_region(text: str, contigs: Mapping[str, int]) -> Interval:
    """Return the interval of a region such as `chr1`, `chr1:1000-2000` or `chr1:1,000-`.

    Raises:
        OptionError: the text is no region, or there is no such contig or position.
    """
    if text in contigs:
        return Interval(text, 0, contigs[text])
    found = re.fullmatch(r"(.+):(\d[\d,]{,14})(?:-(\d[\d,]{,14})?)?", text, re.ASCII)
    if found is None or found[1] not in contigs:
        name = text if found is None else found[1]
        raise OptionError(
            f"region {text!r}: there is no contig {name!r}",
            hint=f"contigs are {', '.join(list(contigs)[:5])}{' and others' if len(contigs) > 5 else ''}",
        )
    length = contigs[found[1]]
    begin = int(found[2].replace(",", ""))
    end = int(found[3].replace(",", "")) if found[3] else length
    if not 1 <= begin <= min(end, length):
        raise OptionError(
            f"region {text!r} is empty",
            hint=f"positions of {found[1]} are 1 to {length}, the first one first",
        )
    return Interval(found[1], begin - 1, min(end, length))


def read_bed(path: str | os.PathLike[str], contigs: Mapping[str, int]) -> list[Interval]:
    """Return the intervals of a file: BED (contig, begin from 0, end) or positions (contig, position from 1).

    Raises:
        ReadsError: the file cannot be read, or a line is not of these forms.
    """
    intervals = []
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ReadsError(f"cannot be read: {reason}", path=path) from problem
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("#", "track", "browser")):
            continue
        intervals.append(_of_line(line, contigs, path, number))
    if not intervals:
        raise ReadsError("there are no regions", path=path)
    return intervals


def _of_line(line: str, contigs: Mapping[str, int], path: str | os.PathLike[str], number: int) -> Interval:
    words = line.split("\t") if "\t" in line else line.split()
    if words[0] not in contigs:
        raise ReadsError(
            f"there is no contig {words[0]!r}",
            path=path,
            line=number,
            hint=f"contigs are {', '.join(list(contigs)[:5])}{' and others' if len(contigs) > 5 else ''}",
        )
    places = words[1:3]
    if not places or not all(re.fullmatch(r"\d{1,12}", place.strip(), re.ASCII) for place in places):
        raise ReadsError(
            "this is neither a region nor a position",
            path=path,
            line=number,
            hint="a line has contig, begin from 0, and end; or contig and position from 1",
        )
    begin, end = (
        (int(places[0]), int(places[1])) if len(places) == 2 else (int(places[0]) - 1, int(places[0]))
    )
    if not 0 <= begin < end <= contigs[words[0]]:
        raise ReadsError(
            f"{words[0]} has no positions {begin + 1} to {end}",
            path=path,
            line=number,
            hint=f"its length is {contigs[words[0]]}",
        )
    return Interval(words[0], begin, end)


def merged(intervals: Iterable[Interval], contigs: Mapping[str, int]) -> list[Interval]:
    """Return intervals in the order of the contigs, those that overlap or touch as one."""
    order = {name: number for number, name in enumerate(contigs)}
    found: list[Interval] = []
    for one in sorted(intervals, key=lambda one: (order[one.contig], one.begin, one.end)):
        if found and found[-1].contig == one.contig and one.begin <= found[-1].end:
            found[-1] = Interval(one.contig, found[-1].begin, max(found[-1].end, one.end))
        else:
            found.append(one)
    return found


def intersected(intervals: Iterable[Interval], other: Interval) -> list[Interval]:
    """Return the parts of intervals that are in another one."""
    parts = [
        Interval(one.contig, max(one.begin, other.begin), min(one.end, other.end))
        for one in intervals
        if one.contig == other.contig
    ]
    return [one for one in parts if one.begin < one.end]


def tiles(intervals: Iterable[Interval], workers: int, *, cut: bool = True) -> list[Piece]:
    """Return intervals, in order, cut into pieces, several for each worker, at multiples of `WINDOW`.

    Args:
        intervals: the intervals.
        workers: number of workers.
        cut: False for a piece of each interval.
    """
    intervals = list(intervals)
    total = sum(one.end - one.begin for one in intervals)
    windows = max(1, min(32, total // (WINDOW * 4 * workers)))
    size = WINDOW * windows
    pieces: list[Piece] = []
    for contig, begin, end in intervals:
        while begin < end:
            stop = min(end, (begin // size + 1) * size) if cut else end
            since = pieces[-1].end if pieces and pieces[-1].contig == contig else 0
            pieces.append(Piece(contig, begin, stop, since))
            begin = stop
    return pieces
