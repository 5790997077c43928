"""Sites: alleles of a VCF that get records in any case."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from syclade.host.calls.reference import BASES, Reference
from syclade.host.common.errors import ReadsError

__all__ = ["Sites", "read_sites"]

Sites = Mapping[str, Mapping[int, tuple[int, ...]]]
"""Numbers of the alternative bases, by contig and position from 0."""


def read_sites(path: str | os.PathLike[str], reference: Reference) -> tuple[Sites, int]:
    """Return the sites of a VCF, and the number of its alleles that are no single bases, which are left out.

    Raises:
        ReadsError: the file cannot be read, is no VCF, or does not fit the reference.
    """
    found: dict[str, dict[int, set[int]]] = {}
    others = 0
    for number, line in _lines(path):
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
        if ref != there:
            raise ReadsError(
                f"REF is {ref!r}, and the reference has {there!r} at {contig}:{position + 1}",
                path=path,
                line=number,
                hint="give a VCF that was made with this reference",
            )
        for alternative in words[4].upper().split(","):
            if len(ref) == 1 and len(alternative) == 1 and alternative in BASES and alternative != ref:
                found.setdefault(contig, {}).setdefault(position, set()).add(BASES.index(alternative))
            else:
                others += 1
    if not found and not others:
        raise ReadsError("there are no records", path=path)
    sites = {
        contig: {position: tuple(sorted(bases)) for position, bases in places.items()}
        for contig, places in found.items()
    }
    return sites, others


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
