"""Regions to call, as merged intervals in the order of the contigs, and sites that always get records."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO, cast

from syclade.host.calls.reference import BASES, Reference
from syclade.host.calls.windows import WINDOW
from syclade.host.ground.errors import OptionError, ReadsError

__all__ = [
    "TO_ALT",
    "VCF_FIELDS",
    "Here",
    "Interval",
    "Piece",
    "Site",
    "Sites",
    "fields_of",
    "intersected",
    "merged",
    "normalized",
    "parse_region",
    "read_bed",
    "read_sites",
    "tiles",
    "vcf_lines_of",
    "whole",
]  # fmt: skip

VCF_FIELDS = ("CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO")
"""Fields that each record of a VCF has."""

TO_ALT = 5
"""How many of them say what the variant is."""

_POSITION = re.compile(r"\d{1,12}", re.ASCII)


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

    A single position has no `-`: other programs take it as the position, or as the begin of the rest.

    Raises:
        OptionError: the text is no region, or there is no such contig or position.
    """
    if text in contigs:
        return Interval(text, 0, contigs[text])
    found = re.fullmatch(r"(.+):(\d[\d,]{,14})(-(\d[\d,]{,14})?)?", text, re.ASCII)
    if found is None or found[1] not in contigs:
        name = text if found is None else found[1]
        raise OptionError(f"region {text!r}: there is no contig {name!r}", hint=_contigs_hint(contigs))
    length = contigs[found[1]]
    begin = int(found[2].replace(",", ""))
    if found[3] is None:
        raise OptionError(
            f"region {text!r} has one position",
            hint=f"give {found[1]}:{begin}-{begin} for this position, or {found[1]}:{begin}- for the rest",
        )
    end = int(found[4].replace(",", "")) if found[4] else length
    if not 1 <= begin <= min(end, length) or end > length:
        what = "is empty" if end <= length else f"ends after {found[1]}"
        raise OptionError(
            f"region {text!r} {what}",
            hint=f"positions of {found[1]} are 1 to {length}, the first one first",
        )
    return Interval(found[1], begin - 1, end)


def _contigs_hint(contigs: Mapping[str, int]) -> str:
    return f"contigs are {', '.join(list(contigs)[:5])}{' and others' if len(contigs) > 5 else ''}"


def read_bed(path: str | os.PathLike[str], contigs: Mapping[str, int]) -> list[Interval]:
    """Return the intervals of a file: BED (contig, begin from 0, end) or positions (contig, position from 1).

    Args:
        path: the file, plain or compressed.
        contigs: lengths of the contigs.

    Raises:
        ReadsError: the file cannot be read, or a line is not of these forms.
    """
    intervals = []
    try:
        with _text_of(path) as text:
            lines = text.read().splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        raise _unreadable(path, problem) from problem
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("#", "track", "browser")):
            continue
        intervals.append(_of_line(line, contigs, path, number))
    if not intervals:
        raise ReadsError("there are no regions", path=path)
    return intervals


def _of_line(line: str, contigs: Mapping[str, int], path: str | os.PathLike[str], number: int) -> Interval:
    wrong = partial(ReadsError, path=path, line=number)
    words = line.split("\t") if "\t" in line else line.split()
    if words[0] not in contigs:
        raise wrong(f"there is no contig {words[0]!r}", hint=_contigs_hint(contigs))
    places = words[1:3]
    if not places or not all(_POSITION.fullmatch(place.strip()) for place in places):
        raise wrong(
            "this is neither a region nor a position",
            hint="a line has contig, begin from 0, and end; or contig and position from 1",
        )
    begin, end = (*map(int, places),) if len(places) == 2 else (int(places[0]) - 1, int(places[0]))
    if not 0 <= begin < end <= contigs[words[0]]:
        raise wrong(
            f"{words[0]} has no positions {begin + 1} to {end}", hint=f"its length is {contigs[words[0]]}"
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


class Site(NamedTuple):
    """An allele: its letters as in a VCF, those that are not A, C, G or T as N, and its ID."""

    reference: str
    alternative: str
    name: str

    @property
    def is_base(self) -> bool:
        """Return whether it is a single base."""
        return len(self.reference) == len(self.alternative) == 1

    @property
    def gap(self) -> int:
        """Number of inserted bases; negative, of deleted ones."""
        return len(self.alternative) - len(self.reference)

    @property
    def is_indel(self) -> bool:
        """Return whether it is an insertion or a deletion after a base."""
        shorter, longer = sorted((self.reference, self.alternative), key=len)
        return len(shorter) == 1 and len(longer) > 1 and longer[0] == shorter


Here = Mapping[int, tuple[Site, ...]]
"""Sites of a contig, by position from 0."""

Sites = Mapping[str, Here]
"""Sites by contig."""


def read_sites(
    path: str | os.PathLike[str], reference: Reference, *, bases: bool = True, indels: bool = False
) -> tuple[Sites, int]:
    """Return the sites of a VCF, and the number of its alleles of other kinds, which are left out.

    Indels are moved to the left, where aligners put them.

    Args:
        path: the VCF.
        reference: the reference.
        bases, indels: whether single bases and indels are wanted.

    Raises:
        ReadsError: the file cannot be read, is not a VCF, or does not fit the reference.
    """
    names: dict[tuple[str, int, str, str], list[str]] = {}
    others = 0
    for number, line in vcf_lines_of(path):
        if line.startswith("#"):
            continue
        contig, position, name, ref, alternatives = _record(line, reference, path, number)
        for alternative in alternatives:
            at, letters, other = normalized(reference.sequence(contig), position, ref, alternative)
            site = Site(_plain(letters), _plain(other), name)
            if (bases and site.is_base and site.alternative in BASES) or (indels and site.is_indel):
                names.setdefault((contig, at, *site[:2]), []).append(name)
            else:
                others += 1
    if not names and not others:
        raise ReadsError("there are no records", path=path)
    found: dict[str, dict[int, tuple[Site, ...]]] = {}
    for (contig, at, ref, alternative), given in sorted(names.items()):
        name = ";".join(dict.fromkeys(one for one in given if one != ".")) or "."
        here = found.setdefault(contig, {})
        here[at] = (*here.get(at, ()), Site(ref, alternative, name))
    return found, others


def normalized(sequence: str, position: int, ref: str, alternative: str) -> tuple[int, str, str]:
    """Return position, REF and ALT of an allele in the shortest form, and as far to the left as possible.

    Source: Tan et al., "Unified representation of genetic variants", Bioinformatics 31 (2015).
    """
    if ref == alternative or not set(alternative) <= set("ACGTN"):
        return position, ref, alternative
    while ref[-1] == alternative[-1] and (position > 0 or min(len(ref), len(alternative)) > 1):
        ref, alternative = ref[:-1], alternative[:-1]
        if not ref or not alternative:
            position -= 1
            ref, alternative = sequence[position] + ref, sequence[position] + alternative
    while ref[0] == alternative[0] and min(len(ref), len(alternative)) > 1:
        position, ref, alternative = position + 1, ref[1:], alternative[1:]
    return position, ref, alternative


def _plain(letters: str) -> str:
    return "".join(one if one in BASES else "N" for one in letters) if letters.isalpha() else letters


def _record(
    line: str, reference: Reference, path: str | os.PathLike[str], number: int
) -> tuple[str, int, str, str, list[str]]:
    """Return contig, position from 0, ID, REF and the alternatives of a record."""
    fields = fields_of(line, TO_ALT, path, number)
    contig, position, ref = fields[0], int(fields[1]) - 1, fields[3].upper()
    if contig not in reference.lengths or not 0 <= position < reference.lengths[contig]:
        raise ReadsError(
            f"the reference has no position {position + 1} of a contig {contig!r}", path=path, line=number
        )
    there = reference.sequence(contig)[position : position + len(ref)]
    if ref != there or not ref:
        raise ReadsError(
            f"REF is {ref!r}, and the reference has {there!r} at {contig}:{position + 1}",
            path=path,
            line=number,
            hint="give a VCF that was made with this reference",
        )
    alternatives = fields[4].upper().split(",")
    if not all(alternatives):
        raise ReadsError(
            f"ALT {fields[4]!r} has an empty allele",
            path=path,
            line=number,
            hint="a record without one has .",
        )
    return contig, position, fields[2] or ".", ref, alternatives


def fields_of(line: str, least: int, path: str | os.PathLike[str], number: int | None) -> list[str]:
    """Return the fields of a record of a VCF.

    Args:
        line: its line.
        least: how many of `VCF_FIELDS` it needs.
        path: the file.
        number: the number of the line, if it is known.

    Raises:
        ReadsError: it has fewer, or no position.
    """
    fields = line.split("\t")
    if len(fields) < least or not _POSITION.fullmatch(fields[1]):
        needed = f"{', '.join(VCF_FIELDS[: least - 1])} and {VCF_FIELDS[least - 1]}"
        raise ReadsError(
            "this is not a record of a VCF",
            path=path,
            line=number,
            hint=f"it needs at least {needed}, separated by tabs",
        )
    return fields


def vcf_lines_of(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line of a VCF, plain or compressed; empty ones are left out.

    Raises:
        ReadsError: the file cannot be read, or is not a VCF.
    """
    try:
        with _text_of(path) as text:
            for number, line in enumerate(text, 1):
                line = line.rstrip("\r\n")
                if number == 1 and not line.startswith("##fileformat=VCF"):
                    raise ReadsError(
                        "this is not a VCF: the first line is not ##fileformat=VCF", path=path, line=1
                    )
                if line:
                    yield number, line
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        raise _unreadable(path, problem) from problem


def _text_of(path: str | os.PathLike[str]) -> TextIO:
    """Open a text, plain or compressed; a byte-order mark is left out."""
    with Path(path).open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    kind = "utf-8-sig"
    return cast("TextIO", gzip.open(path, "rt", encoding=kind) if packed else Path(path).open(encoding=kind))


def _unreadable(path: str | os.PathLike[str], problem: Exception) -> ReadsError:
    return ReadsError(f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=path)
