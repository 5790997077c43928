"""Reads that are left out, clipped, or without qualities; contigs without reads; another reference."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pysam
import pytest

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.read_filter import REASONS, ReadCounts, clipped_cigar, reason_of
from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import Interval, whole
from syclade.host.calls.run import Called, call_variants, samples_of
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import EXAMPLE, Read, counts, write_bam, write_reference
from tests.support.commands import printed_by

LETTERS = "".join(np.random.default_rng(4).choice(list("ACGT"), 6000))


def read_at(position: int, length: int = 50, **other: Any) -> Read:
    given = {"cigar": f"{length}M", "qualities": [37] * length, **other}
    return Read(position, LETTERS[position : position + length], **given)


def written(folder: Path, reads: Sequence[Read], length: int = 200) -> tuple[Path, Path]:
    """Write a reference and reads of its contig `one`."""
    fasta = write_reference(folder / "reference.fa", {"one": LETTERS[:length]})
    return fasta, write_bam(folder / "reads.bam", {"one": length}, [("one", read) for read in reads])


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[list[str], str]:
    """Return the records and the standard error of `syclade call`."""
    status, lines, said = printed_by(capsys, "call", *arguments)
    assert status == 0, said
    return [line for line in lines if not line.startswith("#")], said


def in_process(fasta: Path, path: Path, **given: Any) -> Called:
    reference = Reference(fasta)
    samples = samples_of([path], reference)
    given = {"intervals": whole(samples[0].contigs), "options": CallOptions(), "threads": 1, **given}
    return call_variants(reference, samples, **given)


# ---- reads that are left out

LEFT_OUT: dict[str, tuple[dict[str, Any], str]] = {
    "unmapped": ({"flag": 0x4}, "30 unmapped"),
    "secondary": ({"flag": 0x100}, "30 secondary alignments"),
    "failed": ({"flag": 0x200}, "30 of failed quality"),
    "duplicate": ({"flag": 0x400 | 0x1}, "30 duplicates"),
    "mapping_quality": ({"mapping": 10}, "30 of lower mapping quality (--min-mq sets the limit)"),
    "improper_pair": ({"flag": 0x1}, "30 improperly paired (--use-orphan uses them)"),
    "no_bases": ({"bases": None, "qualities": None}, "30 without bases"),
}


def test_every_reason_has_a_case() -> None:
    assert [one.name for one in REASONS] == list(LEFT_OUT)


@pytest.mark.parametrize("name", LEFT_OUT)
@pytest.mark.parametrize("compat", [False, True])
def test_reads_that_are_left_out_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, compat: bool
) -> None:
    """Nothing was tested, so there are 0 tests; a warning says why."""
    changed, words = LEFT_OUT[name]
    reads = [read_at(10 + number) for number in range(30)]
    for read in reads:
        for attribute, value in changed.items():
            setattr(read, attribute, value)
    fasta, path = written(tmp_path, reads)
    out = tmp_path / "calls.vcf"
    given = ("-f", fasta, "-o", out, "-m", 20, path, *(["--compat"] if compat else []))
    _, said = called(capsys, *given)
    assert f"warning: reads: no base was tested: 30 of 30 reads were left out, {words}" in said
    assert "0 variants, 0 pass; 0 tests\n" in said
    assert f"0 of 30 reads used, left out: {words.split(' (')[0]}" in said
    status, lines, _ = printed_by(capsys, "call", *given, "--json", "--force")
    (sample,) = json.loads("\n".join(lines))["samples"]
    assert status == sample["tests"] == sample["columns_tested"] == 0
    expected = {"total": 30, "used": 0, "left_out": {name: 30}, "clipped": 0, "assumed_quality": 0}
    assert sample["alignments"] == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("-q", "40"), "no column has 1 bases (--min-cov), one of quality 40 (--min-bq)"),
        (("-C", "50"), "no column has 50 bases (--min-cov), one of quality 6 (--min-bq)"),
        (("-r", "one:150-160"), "there are no reads"),
    ],
)
def test_columns_that_cannot_be_tested_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], words: str
) -> None:
    fasta, path = written(tmp_path, [read_at(10 + number) for number in range(30)])
    assert f"no base was tested: {words}" in called(capsys, "-f", fasta, *given, path)[1]
    assert "no base was tested" not in called(capsys, "-f", fasta, path)[1]


def test_reads_without_a_position_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are at the end of the file, and only its index tells their number."""
    fasta, path = written(tmp_path, [read_at(10)])
    with pysam.AlignmentFile(str(path)) as source:
        header, (read,) = source.header, list(source)
    with pysam.AlignmentFile(str(path), "wb", header=header) as sink:
        sink.write(read)
        read.flag, read.reference_id, read.reference_start, read.cigarstring = 0x4, -1, -1, None
        for _ in range(4):
            sink.write(read)
    pysam.index(str(path))
    assert "1 of 5 reads used, left out: 4 unmapped" in called(capsys, "-f", fasta, path)[1]
    assert "1 of 1 reads used\n" in called(capsys, "-f", fasta, path, "-r", "one:1-100")[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_read_is_counted_once(tmp_path: Path, threads: int) -> None:
    """Reads that reach from one piece, or one region, into the next are seen in both."""
    reads = [read_at(at, 300, flag=0x400 * (at % 3 == 0)) for at in range(0, 5700, 10)]
    fasta, path = written(tmp_path, reads, 6000)
    left_out = sum(read.flag != 0 for read in reads)
    every = in_process(fasta, path, threads=threads).reads
    assert every == (ReadCounts(len(reads), {"duplicate": left_out}, 0, 0),)
    parts = [Interval("one", at, at + 60) for at in range(0, 6000, 100)]
    seen = [read for read in reads if read.position % 100 < 60 or read.position // 100 * 100 + 100 < 5990]
    (counted,) = in_process(fasta, path, threads=threads, intervals=parts).reads
    assert counted.total == len(seen)


@pytest.mark.parametrize("options", [{}, {"use_orphan": True}, {"min_mq": 20}], ids=str)
def test_reasons_are_those_of_the_definition(options: dict[str, Any]) -> None:
    one, chosen = pysam.AlignedSegment(), CallOptions(**options)
    one.query_sequence = "A"
    for flag in range(0, 0x1000, 1):
        one.flag, one.mapping_quality = flag & ~0x28, 10 * (flag & 3)
        assert (reason_of(one.flag, one.mapping_quality, chosen) is None) == counts(one, chosen)


# ---- reads that are changed


@pytest.mark.parametrize(
    ("cigar", "positions", "expected"),
    [
        ("10M", 10, "10M"),
        ("10M", 4, "4M6S"),
        ("3S10M2S", 4, "3S4M8S"),
        ("2H3S10M2S5H", 4, "2H3S4M8S5H"),
        ("10M5H", 4, "4M6S5H"),
        ("4M3D6M", 4, "4M6S"),
        ("4M3D6M", 6, "4M6S"),
        ("4M3D6M", 8, "4M3D1M5S"),
        ("4M3N6M", 5, "4M6S"),
        ("4M2I6M", 4, "4M8S"),
        ("4M2I6M", 5, "4M2I1M5S"),
        ("4=1X5=", 5, "4=1X5S"),
        ("2S3D4M", 2, "6S"),
    ],
)
def test_clipped_cigars(cigar: str, positions: int, expected: str) -> None:
    one = pysam.AlignedSegment()
    one.cigarstring = cigar
    assert one.cigartuples is not None
    one.cigartuples = clipped_cigar(one.cigartuples, positions)
    assert one.cigarstring == expected


@pytest.mark.parametrize("reverse", [0, 0x10])
@pytest.mark.parametrize("region", [(), ("-r", "one:100-190")])
def test_reads_beyond_the_end_are_clipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reverse: int, region: tuple[str, ...]
) -> None:
    """Reads of a circular genome have the calls of reads that are clipped in the file."""
    records = []
    for name, cigar in (("beyond", "100M"), ("clipped", "80M20S")):
        reads = []
        for _ in range(20):
            read = read_at(120, 100, cigar=cigar, flag=reverse)
            assert read.bases is not None
            read.bases = read.bases[:60] + "CGTA"["ACGT".index(read.bases[60])] + read.bases[61:]
            reads.append(read)
        folder = tmp_path / name
        folder.mkdir()
        fasta, path = written(folder, reads)
        found, said = called(capsys, "-f", fasta, *region, path)
        records.append(found)
        assert ("warning: reads: 20 reads were clipped at the end of their contig" in said) == (
            name == "beyond"
        )
    assert records[0] == records[1]
    assert len(records[0]) == 1


@pytest.mark.parametrize("indels", [(), ("--call-indels",)])
def test_a_quality_can_be_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], indels: tuple[str, ...]
) -> None:
    records = []
    for name, qualities in (("without", None), ("with", [25] * 100)):
        reads = []
        for number in range(40):
            read = read_at(50, 100, flag=0x10 * (number % 2))
            assert read.bases is not None
            read.bases = read.bases[:60] + "CGTA"["ACGT".index(read.bases[60])] + read.bases[61:]
            read.qualities = [25] * 100 if number < 10 else qualities
            reads.append(read)
        folder = tmp_path / name
        folder.mkdir()
        fasta, path = written(folder, reads)
        given = ("-f", fasta, *indels, "--assume-quality", 25, path)
        found, said = called(capsys, *given, "--json", "-o", folder / "calls.vcf")[1], ""
        records.append((folder / "calls.vcf").read_text().splitlines()[-1])
        assert (found, said) == ("", "")
    assert records[0] == records[1]
    status, _, said = printed_by(capsys, "call", "-f", tmp_path / "without" / "reference.fa",
                                 tmp_path / "without" / "reads.bam")  # fmt: skip
    assert (status, "has no base qualities" in said, "--assume-quality" in said) == (2, True, True)


# ---- contigs without reads, and contigs that are not in the reference

CONTIGS = {name: 300 for name in ("a", "b", "c", "d")}


def of_contigs(folder: Path, used: str, kind: str, missing: str = "") -> tuple[Path, Path]:
    """Write a reference and reads of some contigs, as BAM or CRAM."""
    sequences = {name: LETTERS[:300] for name in CONTIGS}
    fasta = write_reference(folder / "reference.fa", sequences)
    reads = []
    for name in used:
        for number in range(20):
            read = read_at(10, name=f"{name}{number}")
            assert read.bases is not None
            read.bases = read.bases[:20] + "CGTA"["ACGT".index(read.bases[20])] + read.bases[21:]
            reads.append((name, read))
    path = write_bam(folder / "reads.bam", CONTIGS, reads)
    if kind == "cram":
        other = folder / "reads.cram"
        with pysam.AlignmentFile(str(path)) as source, pysam.AlignmentFile(
            str(other), "wc", template=source, reference_filename=str(fasta)
        ) as sink:  # fmt: skip
            for one in source:
                sink.write(one)
        pysam.index(str(other))
        path = other
    if kind == "no counts":
        drop_counts(Path(f"{path}.bai"))
    if missing:
        fasta = write_reference(
            folder / "other.fa", {name: s for name, s in sequences.items() if name != missing}
        )
    return fasta, path


def drop_counts(index: Path) -> None:
    """Remove the numbers of reads from an index of BAM, as of programs that do not write them."""
    data, at, out = index.read_bytes(), 8, b""
    (contigs,) = struct.unpack_from("<i", data, 4)
    for _ in range(contigs):
        (bins,) = struct.unpack_from("<i", data, at)
        at, kept = at + 4, []
        for _ in range(bins):
            number, chunks = struct.unpack_from("<Ii", data, at)
            if number != 37450:
                kept.append(data[at : at + 8 + 16 * chunks])
            at += 8 + 16 * chunks
        (intervals,) = struct.unpack_from("<i", data, at)
        out += struct.pack("<i", len(kept)) + b"".join(kept) + data[at : at + 4 + 8 * intervals]
        at += 4 + 8 * intervals
    index.write_bytes(data[:8] + out)


@pytest.mark.parametrize("kind", ["bam", "cram", "no counts"])
@pytest.mark.parametrize("used", ["b", "bd", ""])
def test_contigs_without_reads_are_passed_over(tmp_path: Path, kind: str, used: str) -> None:
    """An index that has no counts does not say that there are no reads."""
    fasta, path = of_contigs(tmp_path, used, kind)
    seen: list[str] = []
    found = in_process(fasta, path, progress=lambda _done, _total, piece: seen.append(piece[0]))
    assert [variant.contig for variant in found.variants] == list(used)
    assert found.positions == 1200
    knows = {"bam": True, "cram": bool(used), "no counts": not used}[kind]
    assert seen == list(used if knows else CONTIGS)


def test_sites_of_contigs_without_reads_have_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fasta, path = of_contigs(tmp_path, "b", "bam")
    sites = tmp_path / "sites.vcf"
    base = LETTERS[9]
    sites.write_text(f"##fileformat=VCFv4.2\nc\t10\t.\t{base}\t{'CGTA'['ACGT'.index(base)]}\n")
    records, _ = called(capsys, "-f", fasta, "--sites", sites, path)
    assert [line.split("\t")[0] for line in records] == ["b", "c"]
    assert records[1].split("\t")[9].startswith("./.")


@pytest.mark.parametrize("kind", ["bam", "cram"])
def test_a_contig_that_is_not_in_the_reference_needs_no_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    fasta, path = of_contigs(tmp_path, "bd", kind, missing="c")
    assert [line[0] for line in called(capsys, "-f", fasta, path)[0]] == ["b", "d"]
    fasta, path = of_contigs(tmp_path, "bd", kind, missing="d")
    status, _, said = printed_by(capsys, "call", "-f", fasta, path)
    assert (status, "contig d is not in the reference" in said) == (2, True)


def test_cram_leaves_nothing_beside_the_reference(tmp_path: Path) -> None:
    fasta, path = of_contigs(tmp_path, "b", "cram")
    Path(f"{fasta}.fai").unlink()
    before = sorted(tmp_path.iterdir())
    assert len(in_process(fasta, path).variants) == 1
    assert sorted(tmp_path.iterdir()) == before


# ---- another genome


def test_a_reference_of_another_genome_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names and lengths are equal, and three of four columns differ."""
    fasta, path = written(tmp_path, [read_at(at) for at in range(0, 140, 2)])
    words = "most bases differ from the reference: is it the one that the reads were aligned to?"
    assert words not in called(capsys, "-f", fasta, path)[1]
    other = write_reference(tmp_path / "other.fa", {"one": LETTERS[1000:1200]})
    _, said = called(capsys, "-f", other, path)
    differing = sum(one != two for one, two in zip(LETTERS[:188], LETTERS[1000:1188], strict=True))
    assert f"warning: reads: in {differing} of 188 columns, {words}" in said


def test_a_few_variants_are_no_other_genome(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = called(capsys, "-f", EXAMPLE / "reference.fa", EXAMPLE / "reads.bam")
    assert "warning" not in said
    assert "1400 of 1400 reads used\n" in said


def test_the_index_tells_the_contigs(tmp_path: Path) -> None:
    fasta, path = of_contigs(tmp_path, "b", "cram")
    with open_alignments(path, Reference(fasta)) as opened:
        assert opened.without_reads == {"a", "c", "d"}


# ---- indels in homopolymers

BEFORE, AFTER = LETTERS[:60], LETTERS[60:160]


def with_homopolymer(folder: Path, length: int, *gaps: tuple[int, int]) -> tuple[Path, Path]:
    """Write reads of a homopolymer of A; `gaps` has numbers of reads with an insertion (or deletion) of A."""
    before, after = BEFORE.rstrip("A") + "C", "C" + AFTER
    letters = before + "A" * length + after
    start, behind = len(before) - 30, length + 30
    reads = []
    for gap, number in gaps:
        bases = before[start:] + "A" * (length + gap) + after[:30]
        rest = f"1I{behind}M" if gap > 0 else f"1D{behind - 1}M" if gap < 0 else f"{behind}M"
        cigar = f"30M{rest}" if gap else f"{30 + behind}M"
        for at in range(number):
            reads.append(("one", Read(start, bases, cigar, [37] * len(bases), 16 * (at % 2))))
    fasta = write_reference(folder / "reference.fa", {"one": letters})
    return fasta, write_bam(folder / "reads.bam", {"one": len(letters)}, reads)


@pytest.mark.parametrize(
    ("length", "gaps", "left_out", "called_then"),
    [
        (25, ((0, 40), (1, 40)), 1, ["+"]),
        (25, ((0, 40), (-1, 40)), 1, ["-"]),
        (18, ((0, 40), (1, 40)), 0, ["+"]),
        (4, ((0, 92), (1, 4), (-1, 4)), 2, ["+", "-"]),
        (25, ((0, 100),), 0, []),
    ],
)
def test_indels_left_out_in_homopolymers_are_counted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    length: int,
    gaps: tuple[tuple[int, int], ...],
    left_out: int,
    called_then: list[str],
) -> None:
    fasta, path = with_homopolymer(tmp_path, length, *gaps)
    given = ("-f", fasta, "--call-indels", "--only-indels", path)
    found, said = called(capsys, *given)
    counts = f"{left_out} indel{'s' * (left_out != 1)}"
    assert (f"{counts} in homopolymers not tested (--keep-homopolymers tests them)" in said) == (left_out > 0)
    assert len(found) == (0 if left_out else len(called_then))
    kept, said = called(capsys, *given, "--keep-homopolymers")
    assert "not tested" not in said
    assert re.search(rf"\b{len(gaps) - 1} tests? of indels", said)
    signs = ["+" if len(line.split("\t")[4]) > len(line.split("\t")[3]) else "-" for line in kept]
    assert signs == called_then


def test_lofreq_leaves_out_indels_in_homopolymers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fasta, path = with_homopolymer(tmp_path, 4, (0, 20))
    status, _, said = printed_by(capsys, "call", "-f", fasta, "--compat", "--keep-homopolymers", path)
    assert (status, "--keep-homopolymers does not go with --compat" in said) == (2, True)
