"""Small BAM files, and a slow pileup of them by pysam's objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pysam

from syclade.host.ground.options.calls import CallOptions

EXAMPLE = Path(__file__).resolve().parents[2] / "host" / "calls" / "example"


@dataclass
class Read:
    """A read to write; `cigar` as text."""

    position: int
    bases: str | None
    cigar: str
    qualities: Sequence[int] | None = None
    flag: int = 0
    mapping: int = 60
    name: str = "read"
    tags: dict[str, str] = field(default_factory=dict)


def write_reference(path: Path, sequences: dict[str, str]) -> Path:
    """Write a FASTA file with its index."""
    path.write_text("".join(f">{name}\n{letters}\n" for name, letters in sequences.items()))
    pysam.faidx(str(path))
    return path


def write_bam(
    path: Path,
    contigs: dict[str, int],
    reads: Sequence[tuple[str, Read]],
    *,
    index: bool = True,
    order: str = "coordinate",
) -> Path:
    """Write reads of contigs in the given order."""
    header = {
        "HD": {"VN": "1.6", "SO": order},
        "SQ": [{"SN": one, "LN": size} for one, size in contigs.items()],
    }
    with pysam.AlignmentFile(str(path), "wb", header=header) as out:
        for contig, read in reads:
            one = pysam.AlignedSegment(out.header)
            one.query_name, one.flag = read.name, read.flag
            one.reference_id, one.reference_start = list(contigs).index(contig), read.position
            one.mapping_quality, one.cigarstring = read.mapping, read.cigar
            one.query_sequence = read.bases
            if read.qualities is not None:
                one.query_qualities = pysam.qualitystring_to_array(
                    "".join(chr(33 + q) for q in read.qualities)
                )
            for tag, value in read.tags.items():
                one.set_tag(tag, value)
            out.write(one)
    if index:
        pysam.index(str(path))
    return path


def counts(one: pysam.AlignedSegment, options: CallOptions) -> bool:
    """Return whether a read counts: the definition."""
    if (
        one.flag & (0x4 | 0x100 | 0x200 | 0x400)
        or one.mapping_quality < options.min_mq
        or not one.query_sequence
    ):
        return False
    return options.use_orphan or not one.is_paired or one.is_proper_pair


def used(reads: Iterable[pysam.AlignedSegment], options: CallOptions) -> Iterator[pysam.AlignedSegment]:
    """Yield the reads that count; LoFreq leaves out some of those that begin together where many are kept."""
    kept: list[pysam.AlignedSegment] = []
    last = -1
    for one in reads:
        if not counts(one, options):
            continue
        begin = one.reference_start
        deep = sum((before.reference_end or 0) >= begin for before in kept) >= options.max_depth
        if not (options.compat and deep and begin == last):
            kept.append(one)
            yield one
        last = begin


Column = tuple[int, Counter[tuple[str, bool, int, int]], Counter[tuple[str, bool]]]


def slow_columns(path: Path, contig: str, begin: int, end: int, options: CallOptions) -> list[Column]:
    """Return depth, bases by (base, reverse, mapping quality, quality), and bases by (base, reverse) of each
    column."""
    depth = [0] * (end - begin)
    bases: list[Counter[tuple[str, bool, int, int]]] = [Counter() for _ in depth]
    strands: list[Counter[tuple[str, bool]]] = [Counter() for _ in depth]
    with pysam.AlignmentFile(str(path)) as file:
        for one in used(file.fetch(contig, begin, end), options):
            assert one.query_sequence is not None
            assert one.query_qualities is not None
            place, at = one.reference_start, 0
            for operation, length in one.cigartuples or []:
                for _ in range(length):
                    here = place - begin
                    matching, passing = (
                        operation in (0, 7, 8),
                        operation == 2 or (operation == 3 and options.compat),
                    )
                    inside = (
                        0 <= here < len(depth)
                        and (matching or passing)
                        and (options.compat or depth[here] < options.max_depth)
                    )
                    if inside:
                        depth[here] += 1
                        if matching and one.query_qualities[at] >= 3:
                            base = one.query_sequence[at]
                            strands[here][base if base in "ACGT" else "N", one.is_reverse] += 1
                            if base in "ACGT":
                                quality = min(one.query_qualities[at], 93)
                                bases[here][
                                    base, one.is_reverse, min(one.mapping_quality, options.max_mq), quality
                                ] += 1
                    place += operation in (0, 2, 3, 7, 8)
                    at += operation in (0, 1, 4, 7, 8)
    return list(zip(depth, bases, strands, strict=True))
