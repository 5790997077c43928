"""Calls of insertions and deletions: records, qualities against plain Python, options, tags and errors."""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import Any

import pysam
import pytest

from syclade.host.calls.alignment_quality import GAPS_OF_READS
from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.kernels import BANDS, banded_kernel
from syclade.host.calls.reference import BASES, Reference
from syclade.host.calls.windows import WindowCounter
from syclade.host.device.compile.machine_code import _load_compiled, load_machine_code
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.calls import CallOptions
from syclade.quality.oracle.baq import gap_error, posteriors
from syclade.quality.oracle.tails import exact_tail
from tests.calls.support import Read, write_bam, write_reference
from tests.calls.test_baq import error_of
from tests.calls.test_call_cli import call, found_in, refused
from tests.calls.test_indel_counts import quality_of

LETTERS = "GATTACAGTCCGATGCAAAAAATCGCTTGACCTGAGTCATGCATTCGGATATATATCGTCAGGCTAACGTTGCACTGATCGTAGCC" * 2
"""A reference with a homopolymer (16 to 21) and a repeat of two bases (48 to 56)."""

RUN, REPEAT, PLAIN = 15, 47, 33
"""Positions of the base before the homopolymer, before the repeat, and of a base far from both."""


def read_with(
    length: int, at: int, start: int = 2, inserted: str = "", *, size: int = 70, **other: Any
) -> Read:
    """Return a read with a gap after a position: an insertion, or a deletion of `length`."""
    before = at + 1 - start
    tail = LETTERS[at + 1 + length :]
    letters = (LETTERS[start : at + 1] + inserted + tail)[:size]
    after = size - before - len(inserted)
    gap = f"{len(inserted)}I" if inserted else f"{length}D" if length else ""
    cigar = f"{before}M{gap}{after}M" if gap else f"{size}M"
    return Read(start, letters, cigar, [35] * size, **other)


def plain(start: int = 2, *, size: int = 70, **other: Any) -> Read:
    return Read(start, LETTERS[start : start + size], f"{size}M", [35] * size, **other)


def mixed(gaps: list[Read], number: int) -> list[Read]:
    """Return reads with gaps, and some without, on both strands, sorted by position."""
    reads = [*gaps, *(plain(1 + at % 3, mapping=60 - 20 * (at % 2)) for at in range(number))]
    for at, read in enumerate(reads):
        read.flag, read.name = 16 * (at % 2), str(at)
    return sorted(reads, key=lambda read: read.position)


def written(folder: Path, reads: list[Read], name: str = "reads") -> tuple[Path, Path]:
    fasta = write_reference(folder / "reference.fa", {"one": LETTERS})
    path = write_bam(folder / f"{name}.bam", {"one": len(LETTERS)}, [("one", read) for read in reads])
    return fasta, path


def records(fasta: Path, path: Path, *options: object) -> list[list[str]]:
    given = ["-f", fasta, "--quiet", "--call-indels", *options, path]
    return [line.split("\t") for line in found_in(call(*given).stdout)]


def three() -> list[Read]:
    """Return twelve reads with an insertion in the homopolymer, a deletion in the repeat, and a third gap."""
    return [
        *(read_with(0, RUN, inserted="A", start=at % 3) for at in range(12)),
        *(read_with(2, REPEAT, start=at % 3) for at in range(12)),
        *(read_with(3, PLAIN, start=at % 3) for at in range(12)),
    ]


def test_records_are_anchored_and_described(tmp_path: Path) -> None:
    fasta, path = written(tmp_path, mixed(three(), 24))
    found = records(fasta, path, "--compat")
    assert [words[:5] for words in found] == [
        ["one", "16", ".", "C", "CA"],
        ["one", "34", ".", "GAGT", "G"],
        ["one", "48", ".", "GAT", "G"],
    ]
    assert [words[6] for words in found] == ["PASS"] * 3
    infos = [words[7].split(";") for words in found]
    assert infos[0] == ["DP=60", "AF=0.200000", "SB=0", "DP4=24,24,6,6", "INDEL", "HRUN=6"]
    assert infos[1][4:] == ["INDEL", "HRUN=1"]


def test_the_default_mode_has_samples_that_other_tools_read(tmp_path: Path) -> None:
    fasta, path = written(tmp_path, mixed(three(), 24))
    out = tmp_path / "calls.vcf.gz"
    summary = json.loads(call("-f", fasta, "-o", out, "--call-indels", "--json", path).stdout)
    (sample,) = summary["samples"]
    assert sample["variants"] == sample["indel_tests"] == sample["indels_tested"] == 3
    assert sample["min_indel_quality"] == int(-10 * math.log10(0.01 / 3))
    with pysam.VariantFile(str(out)) as vcf:
        assert "min_indelqual_24" in vcf.header.filters
        found = list(vcf.fetch("one"))
    for one in found:
        assert one.info["INDEL"] is True
        assert one.samples[0]["AD"] == (48, 12)
        assert one.samples[0]["VAF"] == pytest.approx((0.2,))
        assert one.info["AF"] == pytest.approx((0.2,))
        assert one.samples[0]["GT"] == (0, 1)
    assert [one.info["HRUN"] for one in found] == [6, 1, 1]


def window_of(read: pysam.AlignedSegment) -> tuple[int, int, int]:
    """Return the window of a read without clips, and the half width of its band: LoFreq's choice."""
    size, begin, end = read.query_length, read.reference_start, read.reference_end or 0
    difference = abs(end - begin - size)
    band = difference + 3 if difference > 7 else 7
    begin, end = max(0, begin - band // 2), end + band // 2
    if end - begin - size > band:
        begin += (end - begin - size - band) // 2
        end -= (end - begin - size - band) // 2
    end = min(end, len(LETTERS))
    return begin, end, max(min(max(end - begin, size), band), abs(end - begin - size))


def alignment_error(read: pysam.AlignedSegment, at: int, length: int, inserted: str) -> float:
    """Return the error probability of the alignment of a gap after a base of a read, by its definition."""
    begin, end, band = window_of(read)
    bases = [BASES.index(base) for base in read.query_sequence or ""]
    errors = [error_of(quality) for quality in read.query_qualities or ()]
    window = [BASES.index(base) for base in LETTERS[begin:end]]
    posterior = posteriors(bases, errors, window, band)
    place = read.get_reference_positions()[at] + 1 - begin
    gap = [BASES.index(base) for base in inserted]
    error = gap_error(posterior, at + 1, place, length, gap, window)
    quality = 93 if error < 2.3e-16 else min(93, int(-10 * math.log10(error)))
    return float(10.0 ** (-quality / 10.0))


def slow_quality(path: Path, position: int, length: int, inserted: str) -> int:
    """Return the Phred quality of an indel after a position, from its definition in exact arithmetic."""
    probabilities: list[float] = []
    count, aligned = 0, dict[tuple[int, str], float]()
    with pysam.AlignmentFile(str(path)) as file:
        pileup = file.pileup("one", position, position + 1, truncate=True, min_base_quality=0)
        for found in next(pileup).pileups:
            one, at = found.alignment, found.query_position
            error = 10.0 ** (-quality_of(LETTERS, position) / 10.0)
            mapping = 10.0 ** (-one.mapping_quality / 10.0)
            alignment = 0.0
            bases = one.query_sequence or ""
            if at is not None and found.indel == length and bases[at + 1 :].startswith(inserted):
                key = (one.reference_start, bases)
                if key not in aligned:
                    aligned[key] = alignment_error(one, at, length, inserted)
                alignment, count = aligned[key], count + 1
            kept = (1 - mapping) * (1 - alignment) * (1 - error)
            probabilities.append(1 - kept)
    tail = exact_tail(probabilities, [1] * len(probabilities), count)
    return int(-10 * math.log10(tail.numerator / tail.denominator))


def test_qualities_are_those_of_plain_python(tmp_path: Path) -> None:
    gaps = [
        *(read_with(0, RUN, inserted="A", start=at % 3, mapping=20 + at) for at in range(4)),
        *(read_with(0, PLAIN, inserted="CT", start=3) for _ in range(3)),
        *(read_with(2, REPEAT, start=at % 3) for at in range(4)),
        *(read_with(3, PLAIN, start=2 + at % 3, mapping=30) for at in range(3)),
    ]
    fasta, path = written(tmp_path, mixed(gaps, 14))
    found = {
        (int(words[1]) - 1, len(words[4]) - len(words[3]), words[4][1:]): int(words[5])
        for words in records(fasta, path)
    }
    assert found.keys() == {(RUN, 1, "A"), (PLAIN, 2, "CT"), (REPEAT, -2, ""), (PLAIN, -3, "")}
    for (position, length, inserted), quality in found.items():
        assert quality == slow_quality(path, position, length, inserted)
    assert len(set(found.values())) > 2


def test_without_indels_none_are_called(tmp_path: Path) -> None:
    fasta, path = written(tmp_path, mixed([], 40))
    assert not records(fasta, path)
    fasta, path = written(tmp_path, mixed([read_with(0, RUN, inserted="A")], 40))
    assert not records(fasta, path), "one insertion in a homopolymer is no evidence"


def test_options_of_indels(tmp_path: Path) -> None:
    base = "CGTA"["ACGT".index(LETTERS[20])]
    reads = mixed(three(), 24)
    for read in reads[::3]:
        at = 20 - read.position
        assert read.bases is not None
        if LETTERS[20] == read.bases[at]:
            read.bases = read.bases[:at] + base + read.bases[at + 1 :]
    fasta, path = written(tmp_path, reads)

    def kinds(*options: object) -> list[str]:
        return ["indel" if "INDEL" in words[7] else "snv" for words in records(fasta, path, *options)]

    assert sorted(kinds()) == ["indel"] * 3 + ["snv"]
    assert kinds("--only-indels") == ["indel"] * 3
    assert [line for line in found_in(call("-f", fasta, "--quiet", path).stdout) if "INDEL" in line] == []
    assert kinds("-C", 100) == []
    qualities = [[int(words[5]) for words in records(fasta, path, *one)] for one in ([], ["-A"], ["-N"])]
    assert all(a <= b for a, b in zip(qualities[0], qualities[1], strict=True))
    assert qualities[0] != qualities[1]
    assert qualities[2] != qualities[0]
    assert kinds("-b", 10**60) == []
    summary = json.loads(
        call("-f", fasta, "-o", tmp_path / "x.vcf", "--json", "--call-indels", "-b", 7, path).stdout
    )
    assert summary["samples"][0]["indel_tests"] == 7


def test_only_indels_needs_call_indels() -> None:
    with pytest.raises(OptionError, match="only-indels does not go without"):
        CallOptions(only_indels=True)


def test_lofreq_does_not_correct_indels_for_a_given_number(tmp_path: Path) -> None:
    fasta, path = written(tmp_path, mixed([read_with(3, PLAIN, start=2)] * 2, 20))
    assert records(fasta, path, "--compat", "-b", 10**12)
    assert not records(fasta, path, "-b", 10**12)


@pytest.mark.parametrize(("inserted", "deleted", "called"), [(2, 2, 0), (12, 2, 2), (12, 0, 1)])
def test_rare_errors_of_homopolymers_are_not_tested(
    tmp_path: Path, inserted: int, deleted: int, called: int
) -> None:
    """A base A or T, inserted in some reads and deleted in others, both in less than 5 %."""
    gaps = [read_with(0, RUN, inserted="A", start=at % 3) for at in range(inserted)]
    gaps += [read_with(1, RUN, start=at % 3) for at in range(deleted)]
    fasta, path = written(tmp_path, mixed(gaps, 80))
    summary = json.loads(call("-f", fasta, "-o", tmp_path / "x.vcf", "--json", "--call-indels", path).stdout)
    assert summary["samples"][0]["indels_tested"] == called


def test_bases_before_a_consensus_insertion(tmp_path: Path) -> None:
    """LoFreq does not test them; the default mode does."""
    reads = mixed([read_with(0, PLAIN, inserted="CC", start=at % 3) for at in range(30)], 4)
    base = "CGTA"["ACGT".index(LETTERS[PLAIN])]
    for read in reads[::2]:
        at = PLAIN - read.position
        assert read.bases is not None
        read.bases = read.bases[:at] + base + read.bases[at + 1 :]
    fasta, path = written(tmp_path, reads)
    default, compat = records(fasta, path, "-B"), records(fasta, path, "-B", "--compat")
    assert [words[3:5] for words in default] == [["G", "GCC"], ["G", base]]
    assert [words[3:5] for words in compat] == [["G", "GCC"]]
    without = found_in(call("-f", fasta, "--quiet", "-B", "--compat", path).stdout)
    assert len(without) == 1, "LoFreq knows no insertions of reads without qualities of indels"
    for read in reads:
        read.tags = {"BI": "M" * 70, "BD": "M" * 70}
    fasta, path = written(tmp_path, reads, "tagged")
    assert not found_in(call("-f", fasta, "--quiet", "-B", "--compat", path).stdout)
    assert len(found_in(call("-f", fasta, "--quiet", "-B", path).stdout)) == 1


def test_stored_qualities_are_used(tmp_path: Path) -> None:
    """Those that Dindel's model gives change nothing; others do, and low ones leave reads out."""
    reads = mixed(three(), 24)
    fasta, path = written(tmp_path, reads)
    expected = records(fasta, path)

    def tagged(name: str, **tags: str) -> list[list[str]]:
        for read in reads:
            read.tags = tags
        return records(*written(tmp_path, reads, name))

    assert [words[5] for words in tagged("a", BI="M" * 70, BD="M" * 70)] != [words[5] for words in expected]
    assert tagged("b", BI="*" * 70) == []
    assert [len(words[4]) for words in tagged("c", BD=">" * 70)] == [2, 1, 1]
    best = tagged("d", ai="~" * 70, ad="~" * 70)
    assert best == records(*written(tmp_path, reads, "e"))
    assert [int(words[5]) for words in best] > [int(words[5]) for words in expected]
    worst = tagged("f", ai="!" * 70, ad="!" * 70)
    assert worst == []


def test_dindels_qualities_may_be_stored(tmp_path: Path) -> None:
    """A file with the tags that `lofreq indelqual` writes has the same records."""
    reads = mixed(three(), 24)
    fasta, path = written(tmp_path, reads)
    with pysam.AlignmentFile(str(path)) as file:
        for read, one in zip(reads, file, strict=True):
            pairs = dict(one.get_aligned_pairs(matches_only=True))
            stored = [quality_of(LETTERS, pairs[at]) if at in pairs else 0 for at in range(70)]
            read.tags = {tag: "".join(chr(33 + quality) for quality in stored) for tag in ("BI", "BD")}
    for options in ([], ["--compat"]):
        expected = records(fasta, path, *options)
        assert records(*written(tmp_path, reads, "tagged"), *options) == expected
        assert len(expected) == 3


def test_stored_baq_is_used(tmp_path: Path) -> None:
    base = "CGTA"["ACGT".index(LETTERS[PLAIN])]
    reads = mixed([], 40)
    for read in reads[::2]:
        at = PLAIN - read.position
        assert read.bases is not None
        read.bases = read.bases[:at] + base + read.bases[at + 1 :]

    def quality(name: str, stored: list[str], *options: object) -> list[int]:
        for at, read in enumerate(reads):
            read.tags = {"lb": stored[at % len(stored)] * 70} if stored[at % len(stored)] else {}
        fasta, path = written(tmp_path, reads, name)
        return [
            int(line.split("\t")[5]) for line in found_in(call("-f", fasta, "--quiet", *options, path).stdout)
        ]

    computed, none, best, low = (quality(f"x{at}", [one]) for at, one in enumerate(["", "!", "~", "2"]))
    assert none == []
    assert low < computed <= best
    mixed_quality = quality("mixed", ["2", "", ""])
    assert low < mixed_quality < computed
    assert quality("again", ["2"], "-D") == computed
    assert quality("without", ["2"], "-B") == quality("neither", [""], "-B")


def test_stored_baq_is_not_extended(tmp_path: Path) -> None:
    """A base keeps its low quality between two with high ones."""
    base = "CGTA"["ACGT".index(LETTERS[PLAIN])]
    reads = mixed([], 40)
    for read in reads:
        at = PLAIN - read.position
        assert read.bases is not None
        read.bases = read.bases[:at] + base + read.bases[at + 1 :]
        read.tags = {"lb": "~" * at + "!" + "~" * (69 - at)}
    fasta, path = written(tmp_path, reads)
    assert not found_in(call("-f", fasta, "--quiet", path).stdout)


@pytest.mark.parametrize("tag", ["BI", "BD", "ai", "ad", "lb"])
def test_tags_of_another_length_are_named(tmp_path: Path, tag: str) -> None:
    """If they are used."""
    reads = mixed(three()[:3], 5)
    reads[2].tags, reads[2].name = {tag: "I" * 69}, "short"
    fasta, path = written(tmp_path, reads)
    message = refused("-f", fasta, "--call-indels", path)
    assert f"read 'short' at one:{reads[2].position + 1} has a tag {tag} with another number" in message
    assert "samtools view -x" in message
    without = {"lb": ["-B"], "ai": ["-A"], "ad": ["-A"]}.get(tag, [])
    indels = [] if tag in ("BI", "BD") else ["--call-indels"]
    assert call("-f", fasta, "--quiet", *indels, *without, path).exit_code == 0


def test_damaged_tags_are_named(tmp_path: Path) -> None:
    """A tag of a type that does not exist."""
    reads = mixed(three()[:3], 5)
    reads[2].tags, reads[2].name = {"XQ": "text", "BI": "I" * 70}, "bad"
    fasta, path = written(tmp_path, reads)
    with pysam.BGZFile(str(path)) as file:
        content = file.read()
    assert content.count(b"XQZ") == 1
    with pysam.BGZFile(str(path), "wb") as file:
        file.write(content.replace(b"XQZ", b"XQQ"))
    pysam.index(str(path))
    assert "has damaged tags" in refused("-f", fasta, "--call-indels", path)
    assert call("-f", fasta, "--quiet", path).exit_code == 0, "nothing in tags is used"


def test_other_tags_are_passed_over(tmp_path: Path) -> None:
    """Tags of all types, before and after those that are used."""
    fasta, path = written(tmp_path, mixed(three(), 24))
    expected = records(fasta, path)
    tagged = tmp_path / "tagged.bam"
    with (
        pysam.AlignmentFile(str(path)) as source,
        pysam.AlignmentFile(str(tagged), "wb", template=source) as sink,
    ):
        for one in source:
            for tag, value, kind in [
                ("XA", "x", "A"), ("Xc", -5, "c"), ("XC", 200, "C"), ("Xs", -300, "s"), ("XS", 60000, "S"),
                ("Xi", -70000, "i"), ("XI", 3 * 10**9, "I"), ("Xf", 0.5, "f"), ("XZ", "BIZ", "Z"),
                ("XH", "1AE3", "H"), ("BI", 5, "i"), ("lb", 5, "C"),
            ]:  # fmt: skip
                one.set_tag(tag, value, kind)
            one.set_tag("XB", array("h", range(7)))
            one.set_tag("ai", "~" * 70)
            sink.write(one)
    pysam.index(str(tagged))
    found = records(fasta, tagged)
    assert [words[:5] for words in found] == [words[:5] for words in expected]
    assert int(found[0][5]) > int(expected[0][5])
    assert found[1:] == expected[1:]


def test_several_samples_have_the_indels_of_all(tmp_path: Path) -> None:
    fasta, first = written(tmp_path, mixed(three()[:12], 24), "first")
    _, second = written(tmp_path, mixed(three()[12:24], 24), "second")
    lines = found_in(call("-f", fasta, "--quiet", "--call-indels", first, second).stdout)
    found = [line.split("\t") for line in lines]
    assert [words[9].split(":")[0] + words[10].split(":")[0] for words in found] == ["0/10/0", "0/00/1"]
    assert [words[9].split(":")[1] for words in found] == ["24,12", "36,0"]
    alone = [records(fasta, path)[0] for path in (first, second)]
    assert [words[5] for words in found] == [words[5] for words in alone]


def test_threads_and_regions_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads with gaps reach over several windows."""
    monkeypatch.setattr("syclade.host.calls.windows.WINDOW", 16)
    monkeypatch.setattr("syclade.host.calls.regions.WINDOW", 16)
    fasta, path = written(tmp_path, mixed(three(), 24))
    small = records(fasta, path)
    monkeypatch.undo()
    assert small == records(fasta, path)
    found = records(fasta, path, "-r", f"one:{PLAIN + 1}-{PLAIN + 1}")
    assert [words[:5] for words in found] == [small[1][:5]]


def test_long_gaps_are_called(tmp_path: Path) -> None:
    """Longer than LoFreq aligns; a later gap of the same read keeps its place in the default mode."""
    inserted = "ACGTTGCATGCAACGTTAGC"
    reads = [read_with(0, PLAIN, inserted=inserted, start=at % 3) for at in range(12)]
    reads += [read_with(20, PLAIN, start=at % 3) for at in range(12)]
    fasta, path = written(tmp_path, mixed(reads, 20))
    sizes = {len(words[4]) - len(words[3]): int(words[5]) for words in records(fasta, path)}
    assert sizes.keys() == {20, -20}
    assert all(quality > 200 for quality in sizes.values())


LONG = "ACGTTGCATGCAACGTTAGC"


def alignments(folder: Path, read: Read, **options: bool) -> dict[int, int]:
    """Return the alignment quality of each gap of a read, by its length."""
    reference = Reference(write_reference(folder / "reference.fa", {"one": LETTERS}))
    path = write_bam(folder / "reads.bam", {"one": len(LETTERS)}, [("one", read)])
    counter = WindowCounter(CallOptions(call_indels=True, **options))
    with open_alignments(path, reference) as opened:
        (window,) = counter.count(opened, "one", reference.codes("one"), 0, len(LETTERS))
    counter.close()
    assert window.indels is not None
    return {indel.length: int(found.alignment[0]) for indel, found in window.indels.indels.items()}


def read_of(*parts: tuple[str, str]) -> Read:
    """Return a read from parts: letters and the CIGAR operation of each; a deletion has the deleted ones."""
    letters = "".join(part for part, operation in parts if operation in "MIS")
    cigar = "".join(f"{len(part)}{operation}" for part, operation in parts)
    return Read(2, letters, cigar, [38] * len(letters))


def test_lofreqs_places_after_long_gaps(tmp_path: Path) -> None:
    """LoFreq aligns no gap beyond 16 bases, and loses the place of later ones; the default mode does not."""
    short = read_of((LETTERS[2:70], "M"), (LETTERS[70:72], "D"), (LETTERS[72:120], "M"))
    (expected,) = alignments(tmp_path, short).values()
    assert 20 < expected < 93
    inserted = read_of(
        (LETTERS[2:34], "M"),
        (LONG, "I"),
        (LETTERS[34:70], "M"),
        (LETTERS[70:72], "D"),
        (LETTERS[72:120], "M"),
    )
    assert alignments(tmp_path, inserted) == {20: 93, -2: pytest.approx(expected, abs=3)}
    assert alignments(tmp_path, inserted, compat=True) == {20: -1, -2: 93}
    deleted = read_of(
        (LETTERS[2:34], "M"), (LETTERS[34:54], "D"), (LETTERS[54:70], "M"), (LETTERS[70:72], "D"),
        (LETTERS[72:120], "M"),
    )  # fmt: skip
    own, lofreq = alignments(tmp_path, deleted), alignments(tmp_path, deleted, compat=True)
    assert own == {-20: 93, -2: pytest.approx(expected, abs=3)}
    assert lofreq == {-20: 93, -2: 0}
    alone = read_of((LETTERS[2:34], "M"), (LETTERS[34:54], "D"), (LETTERS[54:120], "M"))
    assert alignments(tmp_path, alone, compat=True) == {-20: -1}
    assert alignments(tmp_path, alone) == {-20: 93}
    assert alignments(tmp_path, deleted, no_idaq=True) == {-20: -1, -2: -1}


@pytest.mark.parametrize("widest", BANDS)
def test_kernels_call_no_function_of_the_c_library(widest: int) -> None:
    """The linker of machine code does not find memset and memcpy, which LLVM makes of some loops."""
    load_machine_code(banded_kernel(GAPS_OF_READS, widest))
    there = _load_compiled(banded_kernel(GAPS_OF_READS, widest))
    assert there is not None
    assert not any(name in there[1] for name in (b"memset", b"memcpy", b"memmove"))
