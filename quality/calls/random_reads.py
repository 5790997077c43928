"""Small random BAM files with what aligned reads can have: clips, gaps, skips, flags, two contigs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.reference import BASES
from syclade.host.ground.packages import pysam_of

__all__ = ["CONTIGS", "SimulatedIndel", "random_indels", "repetitive_reference", "write_random_reads"]

CONTIGS = {"first": 700, "second": 400}
READS_PER_BASE = 1.2
SHORTEST, LONGEST = 40, 150
MATCH, INSERTION, DELETION, SKIP, CLIP, HARD_CLIP = range(6)

_FREQUENCIES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.0)
_GAPS = (0.05, 0.1, 0.2, 0.5, 0.9)
_QUALITIES = np.array([2, 5, 6, 12, 20, 23, 30, 32, 37, 40, 41])
_CHANCES = np.array([0.02, 0.02, 0.02, 0.05, 0.06, 0.08, 0.15, 0.2, 0.2, 0.1, 0.1])
_RUNS = (1, 1, 1, 1, 1, 2, 2, 3, 4, 6)
_MAPPING = (0, 3, 20, 40, 60, 60, 60, 60, 255)
_FLAGS = {0x0: 40, 0x10: 40, 0x63: 20, 0x93: 20, 0x41: 3, 0x91: 3, 0x100: 1, 0x210: 1, 0x400: 1, 0x800: 2}
"""Flags and how often they come: single reads, proper and improper pairs, reads that are left out."""


@dataclass(frozen=True)
class SimulatedIndel:
    """An indel.

    Attributes:
        position: position of the base before it, from 0.
        deleted: number of deleted bases.
        inserted: inserted bases by number; empty for a deletion.
        frequency: its part of the molecules.
    """

    position: int
    deleted: int
    inserted: tuple[int, ...]
    frequency: float


def repetitive_reference(length: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return random bases with homopolymers of up to six bases, uint8, (length,)."""
    bases = rng.integers(0, 4, length)
    return np.repeat(bases, rng.choice(_RUNS, length))[:length].astype(np.uint8)


def random_indels(
    reference: NDArray[np.uint8], frequencies: Sequence[float], rng: np.random.Generator
) -> tuple[SimulatedIndel, ...]:
    """Return insertions and deletions of one to six bases in turns, none of which could be further left."""
    places = np.linspace(0, len(reference), len(frequencies) + 2).astype(int)[1:-1]
    found = []
    for number, (place, frequency) in enumerate(zip(places.tolist(), frequencies, strict=True)):
        position, size = place, int(rng.integers(1, 7))
        gap: tuple[int, ...] = (int(reference[position]),)
        while gap[-1] == reference[position]:
            position += 1
            gap = tuple(rng.integers(0, 4, size).tolist())
            if number % 2:
                gap = tuple(reference[position + 1 : position + 1 + size].tolist())
        inserted = () if number % 2 else gap
        found.append(SimulatedIndel(position, size if number % 2 else 0, inserted, frequency))
    return tuple(found)


@dataclass(frozen=True)
class _Molecules:
    """Molecules that the reads of a contig come from.

    Attributes:
        name, number: the contig.
        reference: uint8, its bases, by number.
        variants: alternative base, its part, and the strand that it is limited to (-1: none), by position.
        gaps: length (negative for deletions), inserted bases and part of each indel, by the base before it.
    """

    name: str
    number: int
    reference: NDArray[np.uint8]
    variants: dict[int, tuple[int, float, int]]
    gaps: dict[int, tuple[int, tuple[int, ...], float]]


def write_random_reads(folder: Path, seed: int, *, skips: int = 40) -> Path:
    """Write `reference.fa` and sorted reads with their index, `reads.bam`; return the BAM.

    With skips, write the same reads with tags BI and BD, too, as `tagged.bam`.

    Args:
        folder: where to write.
        seed: seed of the random numbers.
        skips: the largest number of positions that a read skips (N); 0 for none.
    """
    rng = np.random.default_rng(seed)
    pysam = pysam_of()
    molecules = [_molecules(name, at, size, rng) for at, (name, size) in enumerate(CONTIGS.items())]
    fasta = folder / "reference.fa"
    fasta.write_text("".join(f">{one.name}\n{_letters(one.reference.tolist())}\n" for one in molecules))
    pysam.faidx(str(fasta))
    header = pysam.AlignmentHeader.from_dict(
        {
            "HD": {"VN": "1.6", "SO": "coordinate"},
            "SQ": [{"SN": name, "LN": size} for name, size in CONTIGS.items()],
        }
    )
    reads = []
    for one in molecules:
        made = [_read(one, header, skips, rng) for _ in range(int(READS_PER_BASE * len(one.reference)))]
        reads += sorted(made, key=lambda read: read.reference_start)
    path = _written(folder / "reads.bam", header, reads)
    if skips:
        for read in reads:
            for tag in ("BI", "BD"):
                letters = rng.integers(ord("!") + 15, ord("!") + 46, read.query_length)
                read.set_tag(tag, "".join(map(chr, letters.tolist())))
        _written(folder / "tagged.bam", header, reads)
    return path


def _written(path: Path, header: Any, reads: Sequence[Any]) -> Path:
    """Write reads and their index; return the file."""
    pysam = pysam_of()
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for read in reads:
            out.write(read)
    pysam.index(str(path))
    return path


def _molecules(name: str, number: int, size: int, rng: np.random.Generator) -> _Molecules:
    reference = repetitive_reference(size, rng)
    places = rng.choice(np.arange(5, size - 5), len(_FREQUENCIES), replace=False).tolist()
    variants = {
        place: (int(reference[place] + rng.integers(1, 4)) % 4, part, int(rng.integers(-3, 2)))
        for place, part in zip(places, _FREQUENCIES, strict=True)
    }
    gaps = {
        one.position: (len(one.inserted) or -one.deleted, one.inserted, one.frequency)
        for one in random_indels(reference, rng.permutation(_GAPS).tolist(), rng)
    }
    return _Molecules(name, number, reference, variants, gaps)


def _read(source: _Molecules, header: Any, skips: int, rng: np.random.Generator) -> Any:
    """Return a random read of a contig."""
    flag = int(rng.choice(list(_FLAGS), p=np.array(list(_FLAGS.values())) / sum(_FLAGS.values())))
    length = int(rng.integers(SHORTEST, LONGEST))
    start = int(rng.integers(0, len(source.reference) - SHORTEST))
    cigar, bases = _aligned(source, start, length, bool(flag & 0x10), skips, rng)
    quality = rng.choice(_QUALITIES, len(bases), p=_CHANCES)
    for at in np.flatnonzero(rng.random(len(bases)) < 10.0 ** (quality / -10.0)).tolist():
        bases[at] = int(bases[at] + rng.integers(1, 4)) % 4
    if rng.random() < 0.03:
        bases[int(rng.integers(len(bases)))] = 4
    cigar, bases, qualities = _clipped(cigar, bases, quality.tolist(), rng)
    read = pysam_of().AlignedSegment(header)
    read.query_name, read.flag = f"r{rng.integers(10**6)}", flag
    read.reference_id, read.reference_start = source.number, start
    read.mapping_quality = int(rng.choice(_MAPPING))
    read.cigartuples = cigar
    read.query_sequence = _letters(bases)
    read.query_qualities = qualities
    return read


def _aligned(
    source: _Molecules, start: int, length: int, reverse: bool, skips: int, rng: np.random.Generator
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return CIGAR and bases of a read from a position on, without errors."""
    reference, place = source.reference, start
    operations: list[int] = []
    bases: list[int] = []
    while len(bases) < length and place < len(reference):
        base = int(reference[place])
        if place in source.variants:
            alternative, part, strand = source.variants[place]
            if strand in (-1, -2, -3, int(reverse)) and rng.random() < part:
                base = alternative
        operations.append(MATCH)
        bases.append(base)
        place += 1
        gap, inserted = _gap_after(source, place - 1, skips, rng)
        if not 2 < len(bases) < length - 2 or place + abs(gap[1]) + 3 > len(reference):
            continue
        operations += [gap[0]] * gap[1]
        bases += inserted
        place += 0 if gap[0] == INSERTION else gap[1]
        if gap[1] and gap[0] == DELETION and rng.random() < 0.05:
            operations.append(INSERTION)
            bases.append(int(rng.integers(4)))
    while operations[-1] != MATCH:
        if operations.pop() == INSERTION:
            bases.pop()
    return _runs(operations), bases


def _gap_after(
    source: _Molecules, place: int, skips: int, rng: np.random.Generator
) -> tuple[tuple[int, int], list[int]]:
    """Return operation and length of what follows a position, and the inserted bases."""
    if place in source.gaps:
        size, inserted, part = source.gaps[place]
        if rng.random() < part:
            return (INSERTION if size > 0 else DELETION, abs(size)), list(inserted)
    chance = rng.random()
    if chance < 0.001:
        size = int(rng.integers(1, 22))
        return (INSERTION, size), rng.integers(0, 4, size).tolist()
    if chance < 0.002:
        return (DELETION, int(rng.integers(1, 22))), []
    if chance < 0.0025 and skips:
        return (SKIP, int(rng.integers(1, skips + 1))), []
    return (MATCH, 0), []


def _clipped(
    cigar: list[tuple[int, int]], bases: list[int], qualities: list[int], rng: np.random.Generator
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return a read with clips at some ends."""
    for end in (0, 1):
        chance = rng.random()
        if chance > 0.12:
            continue
        size = int(rng.integers(1, 20))
        added = [(HARD_CLIP if chance < 0.03 else CLIP, size)]
        letters = [] if chance < 0.03 else rng.integers(0, 4, size).tolist()
        quality = [int(rng.choice(_QUALITIES)) for _ in letters]
        cigar = cigar + added if end else added + cigar
        bases = bases + letters if end else letters + bases
        qualities = qualities + quality if end else quality + qualities
    return cigar, bases, qualities


def _runs(operations: Sequence[int]) -> list[tuple[int, int]]:
    """Return a CIGAR from one operation for each place."""
    cigar: list[tuple[int, int]] = []
    for one in operations:
        if cigar and cigar[-1][0] == one:
            cigar[-1] = (one, cigar[-1][1] + 1)
        else:
            cigar.append((one, 1))
    return cigar


def _letters(bases: Sequence[int]) -> str:
    return "".join((BASES + "N")[base] for base in bases)
