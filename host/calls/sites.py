"""Sites: alleles of a VCF that get records in any case."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from syclade.host.calls.reference import BASES, Reference
from syclade.host.ground.errors import ReadsError

__all__ = ["Here", "Site", "Sites", "normalized", "read_sites"]


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
        ReadsError: the file cannot be read, is no VCF, or does not fit the reference.
    """
    names: dict[tuple[str, int, str, str], list[str]] = {}
    others = 0
    for number, line in _lines(path):
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
    words = line.split("\t")
    if len(words) < 5 or not re.fullmatch(r"\d{1,12}", words[1], re.ASCII):
        raise ReadsError(
            "this is no record of a VCF",
            path=path,
            line=number,
            hint="it needs at least CHROM, POS, ID, REF and ALT, separated by tabs",
        )
    contig, position, ref = words[0], int(words[1]) - 1, words[3].upper()
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
    return contig, position, words[2] or ".", ref, words[4].upper().split(",")


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each record's line; the file may be compressed."""
    try:
        with Path(path).open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt", encoding="utf-8") if packed else Path(path).open(encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                line = line.rstrip("\r\n")
                if number == 1 and not line.startswith("##fileformat=VCF"):
                    raise ReadsError(
                        "this is no VCF: the first line is not ##fileformat=VCF", path=path, line=1
                    )
                if line and not line.startswith("#"):
                    yield number, line
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ReadsError(f"cannot be read: {reason}", path=path) from problem
