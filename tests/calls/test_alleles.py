"""Decisions: LoFreq's arithmetic and its faults, and the mended ones beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from syclade.host.calls.allele_tests import run_tests
from syclade.host.calls.alleles import (
    INDEL,
    SNV,
    Allele,
    Call,
    Kind,
    kinds_of,
    limits_of,
    may_be_called,
    number_of_tests,
    sample_calls,
    thresholds_of,
)
from syclade.host.calls.counts import Counts, columns_to_test
from syclade.host.calls.p_values import ExactTails, joint_errors, may_be_significant
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.calls import CallOptions

LOFREQ, OWN = CallOptions(compat=True, call_indels=True), CallOptions(call_indels=True)


def allele(
    log_p: float,
    highest: float | None = None,
    dp4: tuple[int, int, int, int] = (50, 50, 20, 20),
    kind: Kind = SNV,
) -> Allele:
    highest = log_p if highest is None else highest
    return Allele(kind, 10, "A", "C", log_p, highest, 5, 140, dp4, 140, 40, 40, 140)


def judged(options: CallOptions, *alleles: Allele) -> list[Call]:
    return sample_calls(alleles, limits_of({SNV: 5, INDEL: 5}, options), options)


def quality(options: CallOptions, log_p: float, highest: float | None = None) -> int:
    (call,) = judged(options, allele(log_p, highest))
    return call.quality


def test_thresholds_are_cut() -> None:
    assert thresholds_of(SNV, 0, OWN).quality == 20
    assert thresholds_of(SNV, 10062, OWN).quality == 64
    assert thresholds_of(SNV, 10062, OWN.replace(bonf=1)).tests == 1
    assert thresholds_of(SNV, 10062, OWN.replace(bonf=1)).quality == 20


def test_indels_have_tests_of_their_own() -> None:
    """One each; LoFreq counts one more, and does not correct them for a given number."""
    assert [number_of_tests(INDEL, tested, OWN) for tested in (0, 1, 7)] == [1, 1, 7]
    assert [number_of_tests(INDEL, tested, LOFREQ) for tested in (0, 1, 7)] == [1, 2, 8]
    assert [number_of_tests(SNV, tested, LOFREQ) for tested in (0, 1, 7)] == [1, 3, 21]
    assert [number_of_tests(kind, 7, OWN.replace(bonf=50)) for kind in (SNV, INDEL)] == [50, 50]
    assert [number_of_tests(kind, 7, LOFREQ.replace(bonf=50)) for kind in (SNV, INDEL)] == [50, 1]
    assert kinds_of(CallOptions()) == (SNV,)
    assert kinds_of(OWN) == (SNV, INDEL)
    assert kinds_of(OWN.replace(only_indels=True)) == (INDEL,)


def test_strand_bias_of_indels_is_not_filtered() -> None:
    """Nor do they change which bases are."""
    biased = (300, 300, 40, 0)
    for options in (LOFREQ, OWN):
        indels = [allele(-500.0, dp4=biased, kind=INDEL) for _ in range(3)]
        calls = judged(options, *indels, allele(-500.0, dp4=biased))
        assert [call.filters for call in calls] == [(), (), (), ("sb_fdr",)]
        assert {call.strand_bias for call in calls} == {calls[0].strand_bias} != {0}


def test_kinds_have_limits_of_their_own() -> None:
    log_p = -25.0 * math.log(10.0) / 10.0
    calls = judged(OWN, allele(log_p, kind=INDEL), allele(log_p))
    assert [call.filters for call in calls] == [("min_indelqual_26",), ("min_snvqual_31",)]


def test_lofreqs_qualities_saturate() -> None:
    assert quality(LOFREQ, -1000.0) == quality(OWN, -1000.0) == 4342
    assert quality(LOFREQ, -20000.0) == 49314
    assert quality(OWN, -20000.0) == 86858


def test_lofreq_loses_or_saturates_the_rarer_alternative() -> None:
    """Where ln p differs by more than 708.4."""
    assert quality(LOFREQ, -100.0, -800.0) == quality(OWN, -100.0) == 434
    assert quality(LOFREQ, -100.0, -809.0) == 49314
    assert may_be_called(allele(-30.0, -700.0), 0, LOFREQ)
    assert not may_be_called(allele(-30.0, -740.0), 0, LOFREQ)
    assert may_be_called(allele(-30.0, -740.0), 0, OWN)


def test_the_number_of_tests_so_far_decides_in_lofreq() -> None:
    log_p = math.log(0.01 / 300) + 0.05
    assert may_be_called(allele(log_p), 0, LOFREQ)
    assert not may_be_called(allele(log_p), 95, LOFREQ)
    assert may_be_called(allele(log_p), 95, OWN), "cut to an integer, its quality is that of the threshold"


def test_strand_bias_without_a_value() -> None:
    for options, expected in ((LOFREQ, 2147483647), (OWN, 0)):
        (call,) = judged(options, allele(-500.0, dp4=(0, 0, 40, 0)))
        assert call.strand_bias == expected
        assert (call.filters == ("sb_fdr",)) is options.compat


def test_joint_errors_follow_the_formula() -> None:
    mapping = np.array([0, 20, 255, 20], dtype=np.uint8)
    alignment = np.array([127, 10, 30, 127], dtype=np.uint8)
    base = np.array([10, 20, 40, 10], dtype=np.uint8)
    expected = [
        0.5 + 0.5 * 0.1,
        0.01 + 0.99 * 0.1 + 0.99 * 0.9 * 0.01,
        0.001 + 0.999 * 0.0001,
        0.01 + 0.99 * 0.1,
    ]
    np.testing.assert_allclose(joint_errors(mapping, alignment, base, use_mapping=True), expected, rtol=1e-14)
    unmapped = joint_errors(mapping, alignment, base, use_mapping=False)
    np.testing.assert_allclose(unmapped[:1], [0.1], rtol=1e-14)


def random_counts(rng: np.random.Generator, columns: int) -> Counts:
    number = rng.integers(1, 40, columns)
    column = np.repeat(np.arange(columns), number).astype(np.int32)
    total = len(column)
    base = rng.choice(4, total, p=[0.94, 0.02, 0.02, 0.02]).astype(np.uint8)
    count = np.where(base == 0, rng.integers(1, 300, total), rng.integers(1, 3, total))
    strands = np.zeros((columns, 5, 2), dtype=np.int32)
    place = column.astype(np.int64) * 4 + base
    strands[:, :4, 0] = np.bincount(place, count, 4 * columns).reshape(columns, 4)
    return Counts(
        0,
        strands.sum(axis=(1, 2), dtype=np.int32),
        strands,
        column,
        base,
        np.zeros(total, dtype=np.uint8),
        rng.choice([20, 60], total).astype(np.uint8),
        rng.integers(20, 41, total).astype(np.uint8),
        rng.integers(40, 94, total).astype(np.uint8),
        count.astype(np.int64),
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_screen_loses_no_significant_column(seed: int) -> None:
    """At a level that many columns of errors reach."""
    level, counts = 0.2, random_counts(np.random.default_rng(seed), 300)
    counts.count[np.flatnonzero(counts.base)[:20]] *= 30
    columns = columns_to_test(counts, np.zeros(300, dtype=np.uint8), OWN)
    every = run_tests(columns, level, ExactTails(), np.ones(300, dtype=bool))
    possible = may_be_significant(columns, level)
    significant = {column for (column, _), log_p in every.log_p.items() if log_p <= math.log(level)}
    assert significant <= set(np.flatnonzero(possible).tolist())
    assert 0 < possible.sum() < columns.tested.sum()


def test_filters_of_bases() -> None:
    counts = random_counts(np.random.default_rng(9), 50)
    reference = np.zeros(50, dtype=np.uint8)
    reference[3] = 4
    every = columns_to_test(counts, reference, OWN)
    assert not every.tested[3]
    assert every.trials.sum() == counts.count[counts.column != 3].sum()
    few = columns_to_test(counts, reference, OWN.replace(min_bq=30, min_alt_bq=35))
    kept = (counts.column != 3) & (counts.quality >= np.where(counts.base == 0, 30, 35))
    assert few.trials.sum() == counts.count[kept].sum()
    assert few.alternatives.sum() == counts.count[kept & (counts.base != 0)].sum()
    for column in range(50):
        probability, count = every.groups(column)
        assert (np.diff(probability) > 0).all()
        assert count.sum() == every.trials[column]


@pytest.mark.parametrize(
    "given", [{"min_bq": 94}, {"max_depth": 0}, {"sig": 0.0}, {"bonf": 0}, {"def_alt_bq": -2}]
)
def test_options_out_of_range_are_named(given: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(given)).replace("_", "-")):
        CallOptions(**given)  # type: ignore[arg-type]
