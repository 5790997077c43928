"""With --compat, the records that LoFreq 2.1.5 writes for a small BAM, over its options.

`quality/calls/beside_lofreq.py` compares with a LoFreq program itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.calls.counts import Counts, median_of_reference
from syclade.host.calls.lofreq_compat import DepthLimit, fisher_p, is_one_sided
from syclade.host.calls.p_values import UNKNOWN, fisher_log_p, phred
from syclade.host.commands.main import cli
from tests.calls.support import Read, write_bam, write_reference

REFERENCE = (
    "GATTACAGGCTTAACCGGATCGTACGATCCATTTTTTGCAGTCAGGATACCAGATTGCCA"
    "CTGACCATGGTACCTTAGGCAACTGTCCATAGGACTTCGAACTGGTACATTCGAGTCAAG"
)
QUALITIES = (37, 30, 22, 12, 40, 25, 37, 33, 5, 20)
READS, LENGTH = 60, 100


def small_reads() -> Iterator[Read]:
    """Yield reads in which all bases differ from the reference at one position, and some at others."""
    for number in sorted(range(READS), key=lambda number: number % 12):
        position, reverse = number % 12, number % 2
        bases = list(REFERENCE[position:])
        before = 50 - position
        cigar, gap = f"{LENGTH}M", 0
        if number < 15:
            cigar, gap = f"{before}M3D{LENGTH - before}M", 3
        elif number == 15:
            cigar, gap = f"{before}M3D1I{LENGTH - before - 1}M", 2
        elif number >= 54:
            cigar, gap = f"{before}M6N{LENGTH - before}M", 6

        changed = {20: "A"}
        if number % 4 == 0:
            changed[29] = "C"
        if number in range(0, 34, 2) or number in (1, 3, 5):
            changed[70] = "A"
        if number < 48 and not reverse:
            changed[80] = "C"
        for column, base in changed.items():
            bases[column - position] = base
        bases[before : before + gap] = []
        quality = [QUALITIES[(number + 3 * at) % 10] for at in range(LENGTH)]
        tags = {"BI": "I" * LENGTH, "BD": "".join("!A"[at % 50 != 46] for at in range(LENGTH))}
        letters = "".join(bases[:LENGTH])
        yield Read(position, letters, cigar, quality, 16 * reverse, 60 - number % 7, f"r{number}", tags)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lofreq")
    write_reference(folder / "reference.fa", {"c": REFERENCE})
    write_bam(folder / "reads.bam", {"c": len(REFERENCE)}, [("c", read) for read in small_reads()])
    return folder


EXPECTED = {
    "": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
    ],
    "-R -1": [
        "c 21 . C A 2751 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
    ],
    "-R -1 -B -N": [
        "c 21 . C A 7513 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
    ],
    "-R -1 --no-default-filter": [
        "c 21 . C A 2751 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 346 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 381 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-Q 25 --no-default-filter": [
        "c 21 . C A 1365 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 142 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 217 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-j 15 --no-default-filter": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 363 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 454 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-j 20 -B -N": [
        "c 21 . C A 1631 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
    ],
    "-J 15 --no-default-filter": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 239 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 318 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-K 20 --no-default-filter": [
        "c 21 . C A 960 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 225 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 276 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-e": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
    ],
    "-B --no-default-filter": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 362 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 448 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "-b 1 --no-default-filter": [
        "c 21 . C A 1629 . DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 71 . T A 262 . DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 342 . DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "--call-indels --no-default-filter": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 50 . CCAG C 140 PASS DP=60;AF=0.266667;SB=0;DP4=22,22,8,8;INDEL;HRUN=2",
        "c 71 . T A 262 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 342 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "--call-indels -A --no-default-filter": [
        "c 21 . C A 1629 PASS DP=60;AF=0.800000;SB=0;DP4=0,0,30,30",
        "c 50 . CCAG C 241 PASS DP=60;AF=0.266667;SB=0;DP4=22,22,8,8;INDEL;HRUN=2",
        "c 71 . T A 262 PASS DP=60;AF=0.316667;SB=36;DP4=13,27,17,3",
        "c 81 . A C 342 PASS DP=60;AF=0.366667;SB=104;DP4=6,30,24,0",
    ],
    "--call-indels --only-indels -e": [
        "c 50 . CCAG C 140 PASS DP=60;AF=0.266667;SB=0;DP4=22,22,8,8;INDEL;HRUN=2",
    ],
    "-d 30 --no-default-filter": [
        "c 21 . C A 950 PASS DP=36;AF=0.777778;SB=0;DP4=0,0,18,18",
        "c 71 . T A 290 PASS DP=36;AF=0.416667;SB=22;DP4=6,15,12,3",
        "c 81 . A C 262 PASS DP=36;AF=0.388889;SB=65;DP4=3,18,15,0",
    ],
    "-d 25 --call-indels -A --no-default-filter": [
        "c 21 . C A 852 PASS DP=32;AF=0.781250;SB=0;DP4=0,0,18,14",
        "c 50 . CCAG C 280 PASS DP=32;AF=0.500000;SB=1;DP4=10,6,8,8;INDEL;HRUN=2",
        "c 53 . G GA 24 PASS DP=32;AF=0.031250;SB=3;DP4=18,13,0,1;INDEL;HRUN=1",
        "c 71 . T A 299 PASS DP=32;AF=0.468750;SB=18;DP4=6,11,12,3",
        "c 81 . A C 270 PASS DP=32;AF=0.437500;SB=58;DP4=3,14,15,0",
    ],
}


@pytest.mark.parametrize("options", EXPECTED)
def test_records_of_small_reads_are_lofreqs(folder: Path, options: str) -> None:
    given = ["call", "--compat", "--quiet", *options.split(), "-f", folder / "reference.fa"]
    result = CliRunner().invoke(cli, [*map(str, given), str(folder / "reads.bam")], catch_exceptions=False)
    found = [" ".join(line.split("\t")) for line in result.stdout.splitlines() if line[0] != "#"]
    assert found == EXPECTED[options]


def called(folder: Path, *options: str) -> dict[str, str]:
    """Return QUAL of the records without --compat, by position."""
    given = ["call", "--quiet", *options, "-f", str(folder / "reference.fa"), str(folder / "reads.bam")]
    result = CliRunner().invoke(cli, given, catch_exceptions=False)
    lines = [line.split("\t") for line in result.stdout.splitlines() if line[0] != "#"]
    return {words[1]: words[5] for words in lines}


def test_the_median_quality_of_no_reference_base_is_unknown(folder: Path) -> None:
    """A variant of all reads is called, and any other has its quality by the median."""
    assert called(folder, "-R", "-1", "-B", "-N")["21"] == "7513"
    kept, replaced = called(folder), called(folder, "-R", "-1")
    assert kept.keys() == replaced.keys()
    assert kept["71"] != replaced["71"]


def test_a_median_of_an_even_number_is_between_the_two_in_the_middle() -> None:
    quality = np.array([20, 37, 12, 30], dtype=np.uint8)
    count = np.array([3, 3, 1, 5])
    column = np.array([0, 0, 1, 1], dtype=np.int32)
    entries = Counts(
        0, count[:3], count.reshape(1, 2, 2), column, quality, quality, quality, quality, quality, count
    )
    found = median_of_reference(entries, np.array([True, True, True, False]), 3)
    assert found.tolist() == [28, 12, UNKNOWN]


def test_a_p_value_may_vanish_in_htslibs_recurrence() -> None:
    """The exact value is 10^-308.2; LoFreq reports none (2147483647)."""
    assert fisher_log_p(640, 7, 6, 488) == pytest.approx(-709.77, abs=0.01)
    assert fisher_p(640, 7, 6, 488) == 0


@given(*[st.integers(0, 60)] * 4)
def test_elsewhere_the_recurrence_gives_fishers_p_value(a: int, b: int, c: int, d: int) -> None:
    assert fisher_p(a, b, c, d) == pytest.approx(math.exp(fisher_log_p(a, b, c, d)), rel=1e-6)


def test_lofreq_counts_85_percent_as_one_sided() -> None:
    assert is_one_sided(17, 3)
    assert is_one_sided(3, 17)
    assert not is_one_sided(84, 16)
    assert not is_one_sided(0, 0)


def test_joint_qualities_are_cut_as_in_lofreq() -> None:
    """0.01 is a little above 10^-2 in float64, so that LoFreq cuts its quality to 19."""
    probability = np.array([0.01, 0.001, 0.5])
    assert phred(probability, exact=True).tolist() == [19, 29, 3]
    assert phred(probability, exact=False).tolist() == [20, 30, 3]


def test_the_limit_of_depth_does_not_depend_on_how_reads_come() -> None:
    """A read is left out where `most` reads are kept, unless none before it begins at its position."""
    rng = np.random.default_rng(5)
    position = np.sort(rng.integers(0, 60, 400))
    end = position + rng.integers(1, 30, 400)
    most, kept = 7, np.ones(400, dtype=bool)
    for at in range(400):
        deep = (kept[:at] & (end[:at] >= position[at])).sum() >= most
        kept[at] = not (deep and at and position[at - 1] == position[at])
    for size in (1, 7, 400):
        limit = DepthLimit(most)
        parts = [limit.accepted(position[at : at + size], end[at : at + size]) for at in range(0, 400, size)]
        assert np.concatenate(parts).tolist() == kept.tolist()
    assert 0 < kept.sum() < 300
