"""The study `arithmetic`: exact numbers, errors, visited nodes, and the study at a tiny size."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.data.model.simulate import random_parents
from syclade.quality.studies.arithmetic.api import arithmetic
from syclade.quality.studies.arithmetic.exact import (
    EXACT_BITS,
    exact_powers,
    largest_log_error,
    largest_power_error,
)
from syclade.quality.studies.arithmetic.powers import POWERS, coefficients
from syclade.quality.studies.arithmetic.scores import best_trees, exact_scores, pair_score, tree_errors
from syclade.quality.studies.arithmetic.table import log_errors, power_errors, published
from syclade.quality.studies.arithmetic.visits import visits_of
from tests.quality.cases_arithmetic import simulated


def test_exact_powers_multiply_to_two() -> None:
    bits = 6
    powers = exact_powers(bits)
    for k in range(1, 2**bits):
        product = Fraction(powers[k] * powers[2**bits - k], 2 ** (2 * EXACT_BITS))
        assert abs(product - 2) < Fraction(1, 2**90)
    assert [power / 2**EXACT_BITS for power in powers] == pytest.approx(
        [2 ** (k / 2**bits) for k in range(2**bits)], rel=1e-15
    )


def test_largest_errors_find_a_wrong_number() -> None:
    exact = exact_powers(3)
    right = [power >> (EXACT_BITS - 30) for power in exact]
    assert largest_power_error(right, 30, exact) < 2.0**-30
    right[5] += 1 << 20
    assert largest_power_error(right, 30, exact) == pytest.approx(2.0**-10 / 2 ** (5 / 8), rel=1e-4)
    assert largest_log_error([8, 3], [3.0, math.log2(3) + 0.25]) == pytest.approx(0.25)


@pytest.mark.parametrize(("order", "most"), [(1, 3e-2), (2, 1.8e-3), (3, 7.6e-5), (4, 2.6e-6), (5, 7.6e-8)])
def test_polynomials_have_the_errors_of_minimax(order: int, most: float) -> None:
    x = np.linspace(0, 1, 4001)
    error = np.polyval(coefficients(order), x) / np.exp2(x) - 1
    assert most / 1.1 < np.abs(error).max() < most
    signs = np.sign(error[np.abs(error) > 0.97 * np.abs(error).max()])
    assert (np.diff(signs) != 0).sum() >= order + 1  # it alternates, as the best polynomial does


def test_documented_errors_of_devices_hold() -> None:
    powers, logarithms = power_errors(10), log_errors(300)
    assert powers["syclade power of two"] < 2.8e-5
    assert powers["syclade factors"] < 16 * 2.0**-30
    assert logarithms["syclade logarithm"] < 4e-6
    assert logarithms["syclade logarithm, in units of scores"] < 2.0**-17 + 4e-6


@given(st.integers(2, 7), st.integers(1, 12), st.integers(0, 2**32))
def test_pair_score_is_the_score_in_linear_time(mutations: int, cells: int, seed: int) -> None:
    one = simulated(mutations, cells, seed)
    assert pair_score(POWERS[0], one.matrix, one.parents) == pytest.approx(
        exact_scores(one.matrix, one.parents), rel=1e-12
    )


def test_errors_of_scores_fall_with_the_order() -> None:
    errors = tree_errors(8, 20, [1, 2])
    falling = [errors[f"order {order}"] for order in (1, 3, 5)]
    assert falling[0] > 10 * falling[1] > 100 * falling[2]
    assert (
        errors["doublet score, without the rounding of weights"] < errors["doublet score of devices"] < 1e-4
    )


def test_best_trees_of_wrong_scores_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(best.same == best.inputs for best in best_trees(3, 20, [1, 2]).values())
    wrong = [power._replace(of=lambda x: np.exp2(-x)) for power in POWERS[:1]]
    monkeypatch.setattr("syclade.quality.studies.arithmetic.scores.POWERS", wrong)
    assert best_trees(3, 20, [1, 2])["numpy exp2"].same < 2


def test_visits_of_a_path_and_of_a_star() -> None:
    n = 30
    star = np.full(n + 1, n, dtype=np.int32)
    found = visits_of(star, 500, 1)
    assert 1 < found.path < 3
    assert found.children == n
    path = np.minimum(np.arange(n + 1, dtype=np.int32) + 1, n).astype(np.int32)
    assert visits_of(path, 500, 1).path > n / 2
    assert visits_of(random_parents(n, np.random.default_rng(1)), 500, 1).path < n


def test_the_published_table() -> None:
    table = {row.name: row for row in published()}
    assert table["order 5"].cycles == 2.1
    assert table["Schraudolph"].cycles is None
    assert len(table) == 8


def test_study_at_a_tiny_size() -> None:
    found = arithmetic(
        mutations=(4, 8),
        cells=16,
        others=(),
        inputs=1,
        best_size=(3, 20),
        bits=4,
        points=20,
        seconds=0.01,
        repeats=1,
        device="numpy",
    )
    report = json.loads(json.dumps(found.to_dict()))
    assert [cost["mutations"] for cost in report["linear"]] == [4, 8]
    assert {"3.1", "3.2", "3.3", "3.4", "3.5", "3.6"} <= {one["section"] for one in report["hotspots"]}
    measured = {row["name"] for row in report["functions"] if row["cost"] is not None}
    assert {"libm exp", "Schraudolph", "order 5", "syclade power of two", "syclade logarithm"} <= measured
    assert 0.1 < found.cycle < 2
    assert found.lines()
    assert found.plot().axes
