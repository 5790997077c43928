"""Recall and false calls of indels on simulated reads, at several depths, beside those of LoFreq's way.

Reads have errors that insert or delete one base, with the probability that the model gives them: larger
before a homopolymer. Gaps are aligned as far to the left as possible, as aligners do.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.p_values import indel_qualities
from syclade.host.calls.reference import BASES, Reference
from syclade.host.calls.regions import whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.packages import pysam_of
from syclade.quality.calls.random_reads import SimulatedIndel, random_indels, repetitive_reference
from syclade.quality.studies.calls.truth import FREQUENCIES, Score, print_table

__all__ = [
    "DEPTHS",
    "score_depth",
    "write_indel_reads",
]

DEPTHS = (300, 1000, 3000, 10000)
LENGTH, READ, QUALITY = 1000, 100, 37
CONTIG = "simulated"
_LETTERS = np.frombuffer(BASES.encode(), dtype=np.uint8)


def write_indel_reads(
    reference: NDArray[np.uint8],
    indels: Sequence[SimulatedIndel],
    depth: int,
    folder: Path,
    seed: int,
    *,
    errors: float = 1.0,
) -> Path:
    """Write `reference.fa` and a sorted BAM of simulated reads, with their indexes; return the BAM.

    Args:
        reference: uint8, its bases by number.
        indels: the indels; a read carries each with its frequency.
        depth: mean depth.
        folder: where to write.
        seed: seed of the random numbers.
        errors: factor of the probability of errors that insert or delete a base.
    """
    pysam = pysam_of()
    rng = np.random.default_rng(seed)
    fasta, path = folder / "reference.fa", folder / "reads.bam"
    fasta.write_text(f">{CONTIG}\n{_text(reference)}\n")
    pysam.faidx(str(fasta))
    rate = errors * 10.0 ** (indel_qualities(reference, 0, len(reference)) / -10.0)
    rate[-1] = 0.0
    qualities = array("B", [QUALITY] * READ)
    header = {"HD": {"VN": "1.6", "SO": "coordinate"}, "SQ": [{"SN": CONTIG, "LN": len(reference)}]}
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        number = depth * len(reference) // READ
        for name, start in enumerate(np.sort(rng.integers(0, len(reference) - READ - 20, number)).tolist()):
            gaps = _gaps(reference, indels, rate, start, rng)
            bases, cigar = _read(reference, gaps, start)
            wrong = rng.random(READ) < 10.0 ** (-QUALITY / 10.0)
            bases[wrong] = (bases[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
            read = pysam.AlignedSegment(out.header)
            read.query_name, read.flag = str(name), 16 * int(rng.integers(2))
            read.reference_id, read.reference_start, read.mapping_quality = 0, start, 60
            read.cigartuples, read.query_sequence = cigar, _text(bases)
            read.query_qualities = qualities
            out.write(read)
    pysam.index(str(path))
    return path


def _text(bases: NDArray[np.uint8]) -> str:
    return _LETTERS[bases].tobytes().decode()


def _gaps(
    reference: NDArray[np.uint8],
    indels: Sequence[SimulatedIndel],
    rate: NDArray[np.float64],
    start: int,
    rng: np.random.Generator,
) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Return deleted length and inserted bases of a read's gaps, by the position before each."""
    gaps: dict[int, tuple[int, tuple[int, ...]]] = {}
    inside = range(start + 3, start + READ - 15)
    for at in (start + np.flatnonzero(rng.random(READ) < rate[start : start + READ])).tolist():
        following = int(reference[at + 1])
        if following != reference[at] and at in inside:  # else it would be aligned further left
            gaps[at] = (1, ()) if rng.random() < 0.5 else (0, (following,))
    for indel in indels:
        if indel.position in inside and rng.random() < indel.frequency:
            gaps = {at: gap for at, gap in gaps.items() if abs(at - indel.position) > 12}
            gaps[indel.position] = (indel.deleted, indel.inserted)
    return gaps


def _read(
    reference: NDArray[np.uint8], gaps: dict[int, tuple[int, tuple[int, ...]]], start: int
) -> tuple[NDArray[np.uint8], list[tuple[int, int]]]:
    """Return the bases of a read, and its CIGAR as (operation, length)."""
    parts: list[NDArray[np.uint8]] = []
    cigar: list[tuple[int, int]] = []
    place, left = start, READ
    for at in sorted(gaps):
        deleted, inserted = gaps[at]
        run = at + 1 - place
        if run < 1 or run + len(inserted) + 1 > left:
            continue
        parts += [reference[place : at + 1], np.array(inserted, dtype=np.uint8)]
        cigar += [(0, run), (2, deleted) if deleted else (1, len(inserted))]
        place, left = at + 1 + deleted, left - run - len(inserted)
    parts.append(reference[place : place + left])
    return np.concatenate(parts), [*cigar, (0, left)]


def score_depth(depth: int, seed: int, modes: Sequence[CallOptions]) -> list[Score]:
    """Return the score of each mode on reads of one depth."""
    rng = np.random.default_rng(seed)
    letters = repetitive_reference(LENGTH, rng)
    indels = random_indels(letters, FREQUENCIES, rng)
    truth = {_place(letters, one): one.frequency for one in indels}
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        path = write_indel_reads(letters, indels, depth, Path(folder), seed)
        reference = Reference(Path(folder) / "reference.fa")
        samples = samples_of([path], reference)
        for options in modes:
            called = call_variants(reference, samples, whole(reference.lengths), options)
            passed = [call.allele for one in called.variants for call in one.calls if not call.filters]
            found = {(one.position, one.reference, one.alternative) for one in passed}
            right = [truth[place] for place in found & truth.keys()]
            scores.append((len(right), len(found - truth.keys()), min(right, default=1.0)))
        reference.close()
    return scores


def _place(reference: NDArray[np.uint8], indel: SimulatedIndel) -> tuple[Any, ...]:
    """Return position, REF and ALT of an indel."""
    anchor, end = indel.position, indel.position + 1 + indel.deleted
    alternative = np.array([reference[anchor], *indel.inserted], dtype=np.uint8)
    return anchor, _text(reference[anchor:end]), _text(alternative)


if __name__ == "__main__":
    both = CallOptions(call_indels=True), CallOptions(call_indels=True, compat=True, drop_filtered=True)
    print_table(score_depth, DEPTHS, both)
