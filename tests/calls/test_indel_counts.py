"""Counts of indels: compiled code against the pileup of htslib, for random reads."""

from __future__ import annotations

from collections import Counter as Bag
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pysam
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.indel_counts import IndelCounts
from syclade.host.calls.p_values import DINDEL, homopolymer_length, indel_qualities
from syclade.host.calls.reference import BASES, Reference, codes_of
from syclade.host.calls.windows import WindowCounter
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import Read, counts, write_bam, write_reference
from tests.calls.test_counts import LENGTH, random_reads

Row = tuple[str, int, int, int, bool]
"""Indel (`+` and bases, `-` and their number, or empty), its qualities, mapping quality and strand."""


def letters_of(rng: np.random.Generator, length: int) -> str:
    """Return bases with homopolymers, also long ones."""
    runs = rng.choice(list("ACGT"), length), rng.choice([1, 1, 1, 2, 3, 4, 5, 8, 13, 18, 19, 25], length)
    return "".join(base * int(size) for base, size in zip(*runs, strict=True))[:length]


def quality_of(letters: str, position: int) -> int:
    """Return the quality of an indel after a position: the definition."""
    after = position + 1
    if after >= len(letters):
        return 0
    length = 1
    if letters[after] != letters[position]:
        while letters[after : after + length + 1] == letters[after] * (length + 1):
            length += 1
    return DINDEL[length] if length < len(DINDEL) else 0


def tag_quality(one: pysam.AlignedSegment, tag: str, at: int) -> int | None:
    if not one.has_tag(tag):
        return None
    text = str(one.get_tag(tag))
    return ord(text[at]) - 33 if at < len(text) else 0


def default_quality(one: pysam.AlignedSegment, at: int, letters: str) -> int:
    """Return the quality of an indel after a base: 0 for bases that match nothing."""
    pairs = dict(one.get_aligned_pairs(matches_only=True))
    return quality_of(letters, pairs[at]) if at in pairs else 0


def slow_counts(path: Path, letters: str, options: CallOptions) -> Iterator[tuple[int, int, Bag[Row]]]:
    """Yield depth, number of ending reads, and reads by indel and qualities, of each position."""
    depth, tails = [0] * len(letters), [0] * len(letters)
    rows: list[Bag[Row]] = [Bag() for _ in letters]
    with pysam.AlignmentFile(str(path)) as file:
        pileup = file.pileup(
            "one",
            stepper="nofilter",
            min_base_quality=0,
            ignore_overlaps=False,
            ignore_orphans=False,
            max_depth=10**6,
        )
        for column in pileup:
            place = column.reference_pos
            for found in column.pileups:
                one, skips = found.alignment, found.is_refskip
                if not counts(one, options) or (skips and not options.compat):
                    continue
                depth[place] += 1
                tails[place] += found.is_tail and not found.is_del
                at = found.query_position_or_next
                default = default_quality(one, at, letters) if options.call_indels else 0
                stored = [tag_quality(one, tag, at) for tag in ("BI", "BD")]
                insertion, deletion = (default if found is None else found for found in stored)
                if min(insertion, deletion) < 10 and not options.compat:
                    continue
                name, bases = "", one.query_sequence or ""
                if found.indel > 0:
                    first = at + 1 if options.compat or not found.is_del else at
                    name = "+" + bases[first : first + found.indel]
                elif found.indel < 0:
                    name = str(found.indel)
                rows[place][name, insertion, deletion, one.mapping_quality, one.is_reverse] += 1
    yield from zip(depth, tails, rows, strict=True)


def as_rows(counted: IndelCounts, column: int) -> tuple[int, int, Bag[Row]]:
    """Return a column of counts as the slow pileup gives it."""
    groups = {"": counted.without_at(column)}
    for indel, found in counted.indels.items():
        if indel.column == column:
            bases = "".join((*BASES, "N")[base] for base in indel.inserted)
            groups["+" + bases if indel.length > 0 else str(indel.length)] = found
    rows: Bag[Row] = Bag()
    for name, found in groups.items():
        columns = found.insertion, found.deletion, found.mapping, found.reverse, found.count
        for insertion, deletion, mapping, reverse, count in zip(
            *map(np.ndarray.tolist, columns), strict=True
        ):
            rows[name, insertion, deletion, mapping, bool(reverse)] += count
    return int(counted.depth[column]), int(counted.tails[column]), rows


def with_qualities(rows: Bag[Row]) -> Bag[Row]:
    """Return the reads that have a quality."""
    return Bag({row: number for row, number in rows.items() if row[1] or row[2]})


def with_tags(rng: np.random.Generator, reads: list[tuple[str, Read]]) -> list[tuple[str, Read]]:
    """Add indel qualities to some of the reads."""
    for _, read in reads:
        for tag in ("BI", "BD"):
            if rng.random() < 0.4:
                size = len(read.bases or "")
                read.tags[tag] = "".join(chr(33 + q) for q in rng.integers(5, 60, size))
    return reads


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_counts_are_those_of_htslib(tmp_path: Path, seed: int, compat: bool, call_indels: bool) -> None:
    rng = np.random.default_rng(seed)
    options = CallOptions(no_baq=True, compat=compat, call_indels=call_indels or not compat, use_orphan=True)
    letters = letters_of(rng, LENGTH)
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": letters}))
    reads = with_tags(rng, random_reads(rng, 200))
    path = write_bam(tmp_path / "reads.bam", {"one": LENGTH}, reads)
    expected = list(slow_counts(path, letters, options))
    counter = WindowCounter(options)
    with open_alignments(path, reference) as opened:
        windows = list(counter.count(opened, "one", reference.codes("one"), 0, LENGTH))
    counter.close()
    names = set()
    for window in windows:
        for column in range(len(window.depth)):
            wanted = expected[window.begin + column]
            names |= {row[0][:1] for row in wanted[2]}
            if options.call_indels:
                assert window.indels is not None
                assert as_rows(window.indels, column) == wanted
            else:  # reads before the first one with tags have no qualities, and need not be counted
                found = as_rows(window.indels, column)[2] if window.indels is not None else Bag()
                assert with_qualities(found) == with_qualities(wanted[2])
    assert names == {"", "+", "-"}


@pytest.mark.parametrize("seed", range(5))
def test_qualities_follow_from_homopolymers(seed: int) -> None:
    letters = letters_of(np.random.default_rng(seed), 300)
    expected = [quality_of(letters, at) for at in range(300)]
    assert indel_qualities(codes_of(letters), 0, 300).tolist() == expected
    assert indel_qualities(codes_of(letters), 40, 90).tolist() == expected[40:90]
    assert len(set(expected)) > 3


def test_qualities_of_dindel() -> None:
    """As LoFreq's `indelqual --dindel` writes them."""
    for length, quality in [
        (1, 44),
        (3, 44),
        (4, 43),
        (5, 42),
        (6, 36),
        (7, 34),
        (13, 24),
        (18, 21),
        (19, 0),
    ]:
        found = indel_qualities(codes_of("A" + "C" * length + "G"), 0, length + 2).tolist()
        assert found == [quality, *[44] * length, 0]


@pytest.mark.parametrize(
    ("letters", "position", "length"),
    [
        ("ACGTTTA", 2, 3),
        ("ACGTTTA", 3, 3),
        ("ACGTTTA", 5, 1),
        ("ACGTTTA", 6, 1),
        ("TTTT", 1, 4),
        ("AC", 0, 1),
    ],
)
def test_homopolymers_reach_to_both_sides(letters: str, position: int, length: int) -> None:
    assert homopolymer_length(codes_of(letters), position) == length


def test_equal_gaps_are_counted_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deep columns need little memory: rows of the same qualities become one."""
    monkeypatch.setattr("syclade.host.calls.indel_counts._MOST_ROWS", 3)
    monkeypatch.setattr("syclade.host.calls.windows.RAW_BYTES", 1000)
    letters = "ACGTCAGT" * 8
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": letters}))
    read = Read(4, letters[4:14] + letters[15:25], "10M1D10M", [30] * 20)
    path = write_bam(tmp_path / "reads.bam", {"one": len(letters)}, [("one", read)] * 200)
    counter = WindowCounter(CallOptions(call_indels=True))
    with open_alignments(path, reference) as opened:
        (window,) = counter.count(opened, "one", reference.codes("one"), 0, len(letters))
    counter.close()
    assert window.indels is not None
    ((indel, found),) = window.indels.indels.items()
    assert (indel.column, indel.length, found.count.tolist()) == (13, -1, [200])


def test_a_table_grows(tmp_path: Path) -> None:
    """A column with more different qualities than a new table holds."""
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": "ACGT" * 10}))
    reads = [
        ("one", Read(8, "ACGT", "4M", [30] * 4, 16 * (at % 2), at % 200, tags={"BI": chr(60 + at % 30) * 4}))
        for at in range(3000)
    ]
    path = write_bam(tmp_path / "reads.bam", {"one": 40}, reads)
    counter = WindowCounter(CallOptions(call_indels=True))
    with open_alignments(path, reference) as opened:
        (window,) = counter.count(opened, "one", reference.codes("one"), 0, 40)
    counter.close()
    assert window.indels is not None
    expected = list(slow_counts(path, "ACGT" * 10, CallOptions(call_indels=True)))
    assert [as_rows(window.indels, at) for at in range(40)] == expected
    assert len(window.indels.without_at(9).count) > 500
