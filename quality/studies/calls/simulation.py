"""Aligned reads simulated from a reference with known variants, as FASTA and BAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.reference import BASES
from syclade.host.ground.packages import pysam_of

__all__ = ["Simulated", "SimulatedVariant", "random_variants", "sequence", "simulate_reads", "write_reads"]

CONTIG = "simulated"
READ, INSERT, SPREAD = 100, 260, 30
"""Length of reads; mean and standard deviation of the fragments' lengths."""

_QUALITIES = np.array([2, 12, 23, 32, 37, 40])
_CHANCES = np.array([0.01, 0.03, 0.06, 0.20, 0.50, 0.20])
_LETTERS = np.frombuffer(BASES.encode(), dtype=np.uint8)


@dataclass(frozen=True)
class SimulatedVariant:
    """A variant: position from 0, number of the alternative base, and its part of the molecules."""

    position: int
    alternative: int
    frequency: float


@dataclass(frozen=True)
class Simulated:
    """Simulated reads, sorted by position; mates are proper pairs.

    Attributes:
        reference: uint8, bases of the contig, by number.
        variants: the variants.
        position: int64, (reads,).
        reverse: bool, (reads,).
        mate: int64, (reads,): number of the pair.
        mate_position: int64, (reads,).
        bases, qualities: uint8, (reads, READ).
    """

    reference: NDArray[np.uint8]
    variants: tuple[SimulatedVariant, ...]
    position: NDArray[np.int64]
    reverse: NDArray[np.bool_]
    mate: NDArray[np.int64]
    mate_position: NDArray[np.int64]
    bases: NDArray[np.uint8] = field(repr=False)
    qualities: NDArray[np.uint8] = field(repr=False)


def random_variants(
    reference: NDArray[np.uint8], frequencies: Sequence[float], rng: np.random.Generator
) -> tuple[SimulatedVariant, ...]:
    """Return variants at random positions that are not close to one another or to the ends."""
    places = np.linspace(0, len(reference), len(frequencies) + 2).astype(int)[1:-1]
    places = places + rng.integers(-2, 3, len(places))
    others = (reference[places] + rng.integers(1, 4, len(places))) % 4
    return tuple(
        SimulatedVariant(int(at), int(base), float(part))
        for at, base, part in zip(places, others, frequencies, strict=True)
    )


def simulate_reads(
    length: int, depth: int, frequencies: Sequence[float], seed: int, *, one_way: bool = False
) -> Simulated:
    """Simulate reads of a random reference.

    Each fragment carries each variant with its frequency. A base is wrong with the probability of its
    quality, and then any of the three others.

    Args:
        length: length of the reference, at least twice the fragments' length.
        depth: mean depth.
        frequencies: those of the variants.
        seed: seed of the random numbers.
        one_way: whether all reads are on the forward strand, without mates.
    """
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, 4, length).astype(np.uint8)
    variants = random_variants(reference, frequencies, rng)
    return sequence(reference, variants, depth, rng, one_way=one_way)


def sequence(
    reference: NDArray[np.uint8],
    variants: Sequence[SimulatedVariant],
    depth: int,
    rng: np.random.Generator,
    *,
    one_way: bool = False,
) -> Simulated:
    """Simulate reads of a reference with given variants; see `simulate_reads`."""
    length, frequencies = len(reference), [one.frequency for one in variants]
    fragments = depth * length // (READ if one_way else 2 * READ)
    size = np.clip(rng.normal(INSERT, SPREAD, fragments).astype(np.int64), READ, length)
    start = rng.integers(0, length - size + 1)
    first, second = start, start + size - READ
    carries = rng.random((fragments, len(variants))) < np.array(frequencies)
    parts = [(first, second, False)] if one_way else [(first, second, False), (second, first, True)]
    pieces = [_reads(reference, variants, at, carries, rng) for at, _, _ in parts]
    position = np.concatenate([at for at, _, _ in parts])
    order = np.argsort(position, kind="stable")
    return Simulated(
        reference,
        tuple(variants),
        position[order],
        np.concatenate([np.full(fragments, reverse) for _, _, reverse in parts])[order],
        np.concatenate([np.arange(fragments)] * len(parts))[order],
        np.concatenate([mate for _, mate, _ in parts])[order],
        np.concatenate([bases for bases, _ in pieces])[order],
        np.concatenate([qualities for _, qualities in pieces])[order],
    )


def _reads(
    reference: NDArray[np.uint8],
    variants: Sequence[SimulatedVariant],
    position: NDArray[np.int64],
    carries: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return bases and qualities of reads at positions."""
    bases = reference[position[:, None] + np.arange(READ)]
    for number, variant in enumerate(variants):
        column = variant.position - position
        chosen = np.flatnonzero(carries[:, number] & (column >= 0) & (column < READ))
        bases[chosen, column[chosen]] = variant.alternative
    qualities = rng.choice(_QUALITIES, size=bases.shape, p=_CHANCES).astype(np.uint8)
    wrong = rng.random(bases.shape) < 10.0 ** (qualities / -10.0)
    bases[wrong] = (bases[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
    return bases, qualities


def write_reads(simulated: Simulated, folder: Path, name: str = "reads", sample: str = "sample") -> Path:
    """Write `reference.fa` with its index, and a sorted BAM with its index; return the BAM."""
    pysam = pysam_of()
    fasta = folder / "reference.fa"
    letters = _LETTERS[simulated.reference].tobytes().decode()
    lines = "\n".join(letters[at : at + 60] for at in range(0, len(letters), 60))
    fasta.write_text(f">{CONTIG}\n{lines}\n")
    pysam.faidx(str(fasta))
    header = {
        "HD": {"VN": "1.6", "SO": "coordinate"},
        "SQ": [{"SN": CONTIG, "LN": len(letters)}],
        "RG": [{"ID": sample, "SM": sample}],
    }
    path = folder / f"{name}.bam"
    paired = bool(simulated.reverse.any())
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for at in range(len(simulated.position)):
            out.write(_record(pysam, out.header, simulated, at, sample, paired))
    pysam.index(str(path))
    return path


def _record(
    pysam: object, header: object, simulated: Simulated, at: int, sample: str, paired: bool
) -> object:
    read = pysam.AlignedSegment(header)  # type: ignore[attr-defined]
    reverse = bool(simulated.reverse[at])
    read.query_name = str(simulated.mate[at])
    read.flag = (0x1 | 0x2 | (0x10 | 0x80 if reverse else 0x20 | 0x40)) if paired else 0
    read.reference_id = 0
    read.reference_start = int(simulated.position[at])
    read.mapping_quality = 60
    read.cigartuples = [(0, READ)]
    read.query_sequence = _LETTERS[simulated.bases[at]].tobytes().decode()
    read.query_qualities = simulated.qualities[at].tolist()
    if paired:
        read.next_reference_id = 0
        read.next_reference_start = int(simulated.mate_position[at])
    read.set_tag("RG", sample)
    return read
