"""Counts of columns: compiled code against a slow pileup, for random reads."""

from __future__ import annotations

from collections import Counter as Bag
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syclade.host.calls.alignments import open_alignments
from syclade.host.calls.counts import Counts
from syclade.host.calls.reference import BASES, Reference
from syclade.host.calls.windows import WINDOW, WindowCounter, window_ends
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import Column, Read, slow_columns, write_bam, write_reference

LENGTH = 4500
OPERATIONS = "M=XIDNS"


def random_cigar(rng: np.random.Generator) -> str:
    """Return a CIGAR that begins and ends with matches, clips apart."""
    parts = [f"{rng.integers(1, 40)}M"]
    for _ in range(int(rng.integers(0, 4))):
        parts.append(f"{rng.integers(1, 12)}{rng.choice(list('IDN'))}")
        parts.append(f"{rng.integers(1, 40)}{rng.choice(list('M=X'))}")
    if rng.random() < 0.3:
        parts.insert(0, f"{rng.integers(1, 9)}S")
    if rng.random() < 0.3:
        parts.append("5S")
    if rng.random() < 0.1:
        parts.append("3H")
    return "".join(parts)


def query_length(cigar: str) -> int:
    number, total = "", 0
    for letter in cigar:
        if letter.isdigit():
            number += letter
        else:
            total += int(number) if letter in "M=XIS" else 0
            number = ""
    return total


def random_reads(rng: np.random.Generator, number: int) -> list[tuple[str, Read]]:
    reads = []
    for position in np.sort(rng.integers(0, LENGTH - 300, number)):
        cigar = random_cigar(rng)
        size = query_length(cigar)
        flag = int(rng.choice([0, 16, 3, 19, 1, 4, 0x100, 0x200, 0x400, 0x800]))
        bases = "".join(rng.choice(list("ACGTN"), size, p=[0.3, 0.3, 0.2, 0.15, 0.05]))
        mapping = int(rng.choice([0, 3, 60, 255]))
        reads.append(
            ("one", Read(int(position), bases, cigar, rng.integers(0, 94, size).tolist(), flag, mapping))
        )
    return reads


def as_column(counts: Counts, column: int) -> Column:
    """Return a column of counts as the slow pileup gives it."""
    chosen = np.flatnonzero(counts.column == column)
    bases: Bag[tuple[str, bool, int, int]] = Bag()
    for at in chosen:
        key = (
            BASES[counts.base[at]],
            bool(counts.reverse[at]),
            int(counts.mapping[at]),
            int(counts.quality[at]),
        )
        bases[key] += int(counts.count[at])
    strands = Bag(
        {
            ("ACGTN"[base], bool(way)): int(counts.strands[column, base, way])
            for base in range(5)
            for way in (0, 1)
        }
    )
    return int(counts.depth[column]), bases, +strands


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0, 4]), st.sampled_from([1000000, 3]))
def test_counts_are_those_of_a_slow_pileup(
    tmp_path: Path, seed: int, compat: bool, min_mq: int, max_depth: int
) -> None:
    rng = np.random.default_rng(seed)
    options = CallOptions(
        no_baq=True, compat=compat, min_mq=min_mq, max_depth=max_depth, use_orphan=seed % 2 == 0
    )
    letters = "".join(rng.choice(list("ACGT"), LENGTH))
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": letters}))
    path = write_bam(tmp_path / "reads.bam", {"one": LENGTH}, random_reads(rng, 200))
    begin, end = (0, LENGTH) if seed % 3 else (1000, 3333)
    expected = slow_columns(path, "one", begin, end, options)
    with open_alignments(path, reference) as opened:
        windows = list(WindowCounter(options).count(opened, "one", reference.codes("one"), begin, end))
    assert [(one.begin, one.begin + len(one.depth)) for one in windows] == list(window_ends(begin, end))
    found = [as_column(one, column) for one in windows for column in range(len(one.depth))]
    assert found == [(depth, bases, strands) for depth, bases, strands in expected]


def test_a_table_grows(tmp_path: Path) -> None:
    """A column with more different qualities than a new table holds."""
    rng = np.random.default_rng(2)
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": "A" * 50}))
    reads = [
        (
            "one",
            Read(
                20,
                "".join(rng.choice(list("ACGT"), 3)),
                "3M",
                rng.integers(3, 94, 3).tolist(),
                16 * (at % 2),
                at % 200,
            ),
        )
        for at in range(2500)
    ]
    path = write_bam(tmp_path / "reads.bam", {"one": 50}, reads)
    options = CallOptions(no_baq=True)
    with open_alignments(path, reference) as opened:
        (counts,) = WindowCounter(options).count(opened, "one", reference.codes("one"), 0, 50)
    assert np.bincount(counts.column).max() > 2000
    expected = slow_columns(path, "one", 0, 50, options)
    assert [as_column(counts, column) for column in range(50)] == expected


def test_windows_lie_on_a_grid() -> None:
    assert list(window_ends(0, 10)) == [(0, 10)]
    assert list(window_ends(5, 2 * WINDOW + 1)) == [
        (5, WINDOW),
        (WINDOW, 2 * WINDOW),
        (2 * WINDOW, 2 * WINDOW + 1),
    ]
    assert list(window_ends(7, 7)) == []


@pytest.mark.parametrize("options", [CallOptions(), CallOptions(no_baq=True)])
def test_a_region_has_the_counts_of_the_whole(tmp_path: Path, options: CallOptions) -> None:
    rng = np.random.default_rng(11)
    letters = "".join(rng.choice(list("ACGT"), LENGTH))
    reference = Reference(write_reference(tmp_path / "reference.fa", {"one": letters}))
    path = write_bam(tmp_path / "reads.bam", {"one": LENGTH}, random_reads(rng, 500))
    counter, codes = WindowCounter(options), reference.codes("one")
    with open_alignments(path, reference) as opened:
        whole = list(counter.count(opened, "one", codes, 0, LENGTH))
        part = list(counter.count(opened, "one", codes, 1500, 2500))
    columns = [(one, at) for one in whole for at in range(len(one.depth))]
    for one in part:
        for at in range(len(one.depth)):
            there, column = columns[one.begin + at]
            for name in ("base", "reverse", "mapping", "quality", "alignment", "count"):
                np.testing.assert_array_equal(
                    getattr(one, name)[one.column == at], getattr(there, name)[there.column == column]
                )
