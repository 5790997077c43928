"""Reduction of a problem to integer weights with accurate ratios."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syclade.host.chains.search import problem as search_problem_module
from syclade.host.chains.search.problem import FINEST, SUM_BITS, make_search_problem
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.levels import levels_of, log_odds_of
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import MatrixError
from tests.support import tree_strategies
from tests.support.evidence import FLOOR, random_evidence
from tests.support.searches import slow_score

rates_of = st.builds(lambda fp, fn: (10.0**fp, 10.0**fn), st.floats(-7, -0.35), st.floats(-4, -0.35)).filter(
    lambda rates: sum(rates) < 0.95
)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw small matrices whose columns may represent very many cells."""
    values = draw(tree_strategies.observations(draw(st.integers(1, 8))))
    problem = make_problem(matrix_from_array(values), Rates(*draw(rates_of)))
    most = 10 ** draw(st.integers(0, 5))
    counts = draw(st.lists(st.integers(1, most), min_size=problem.columns, max_size=problem.columns))
    return replace(problem, multiplicity=np.array(counts, dtype=np.int64))


def exact_weights(problem: Problem) -> list[float]:
    """Return the weights of the informative values, natural log, sorted by absolute value."""
    return sorted((weight * 2.0**-problem.scale_bits for weight in problem.rates.weights[:-1]), key=abs)


@given(problems())
@settings(deadline=None)
def test_weights_are_those_of_the_unit(problem: Problem) -> None:
    made = make_search_problem(problem)
    integers = np.array([*(round(w * made.unit * 2.0**-problem.scale_bits) for w in problem.rates.weights)])
    np.testing.assert_array_equal(made.weights, integers[problem.observed] * problem.multiplicity)
    largest = abs(exact_weights(problem)[-1])
    assert made.unit * largest <= FINEST * largest + 0.5
    assert made.base == problem.base


@given(problems())
@settings(deadline=None, max_examples=300)
def test_no_sum_reaches_the_limit(problem: Problem) -> None:
    weights = make_search_problem(problem).weights.astype(np.int64)
    for sign in (1, -1):
        assert np.maximum(sign * weights, 0).sum() < (1 << SUM_BITS)


def test_no_sum_reaches_the_limit_by_rounding_up() -> None:
    """If weights are only a few units, rounding changes all sums by some per cent."""
    problem = make_problem(matrix_from_array(np.eye(8, dtype=np.uint8)), Rates(0.001, 0.2))
    for cells in range(10**5, 2 * 10**6, 10**5):
        many = replace(problem, multiplicity=np.full(problem.columns, cells, dtype=np.int64))
        weights = make_search_problem(many).weights.astype(np.int64)
        assert max(np.maximum(weights, 0).sum(), np.maximum(-weights, 0).sum()) < (1 << SUM_BITS)


@pytest.mark.parametrize(("entries", "fine"), [(4e8, True), (1.2e9, False), (4e10, False)])
def test_too_many_entries_for_the_weights_are_refused(entries: float, fine: bool) -> None:
    """From some 8e8 entries the weight of an entry without the mutation is rounded to 0."""
    problem = make_problem(matrix_from_array(np.eye(10, dtype=np.uint8)), Rates(0.001, 0.2))
    many = replace(problem, multiplicity=np.full(problem.columns, int(entries) // 100, dtype=np.int64))
    if fine:
        assert (make_search_problem(many).weights != 0).all()
    else:
        with pytest.raises(MatrixError, match=f"too coarse for {int(entries):,} entries"):
            make_search_problem(many)


@given(rates_of, st.integers(10**5, 10**6))
@settings(deadline=None)
def test_no_unit_of_the_range_has_better_ratios(rates: tuple[float, float], cells: int) -> None:
    """With many cells the weights are few units, so that the test can try every unit that fits."""
    problem = make_problem(matrix_from_array(np.eye(4, dtype=np.uint8)), Rates(*rates))
    problem = replace(problem, multiplicity=np.full(4, cells, dtype=np.int64))
    small, large = exact_weights(problem)
    zeros, ones = 12 * cells, 4 * cells
    counts = (zeros, ones) if small == problem.rates.weights[0] * 2.0**-problem.scale_bits else (ones, zeros)
    exact_sum = max(counts[0] * abs(small), counts[1] * abs(large))
    top = min(FINEST, (1 << SUM_BITS) / (exact_sum + 1)) * abs(large)

    def error(head: int) -> float:
        return abs(round(head * small / large) / (head * small / large) - 1)

    def fits(head: int) -> bool:
        return max(counts[0] * abs(round(head * small / large)), counts[1] * head) < (1 << SUM_BITS)

    found = round(make_search_problem(problem).unit * abs(large))
    others = [head for head in range(max(1, round(top / 2)), round(top) + 1) if fits(head)]
    assert found in others
    assert error(found) <= min(error(head) for head in others) + 1e-9


@given(st.data())
@settings(deadline=None)
def test_scores_in_nats_are_log_likelihoods(data: st.DataObject) -> None:
    parents = data.draw(tree_strategies.trees(8))
    matrix = matrix_from_array(data.draw(tree_strategies.observations(len(parents) - 1)))
    rates = Rates(*data.draw(rates_of))
    made = make_search_problem(make_problem(matrix, rates))
    # At most half a unit per entry.
    slack = matrix.values.size / made.unit
    found = made.to_nats(slow_score(made, parents))
    assert found == pytest.approx(log_likelihood(matrix, rates, parents), abs=slack + 1e-9)


def test_orders_begin_with_what_is_seen_most() -> None:
    values = np.array([[0, 0, 0, 1], [1, 1, 1, 0], [1, 1, 3, 0], [0, 0, 0, 1]], dtype=np.uint8)
    problem = make_problem(matrix_from_array(values), Rates(0.01, 0.2))
    made = make_search_problem(problem)
    assert made.falling.tolist() == [1, 2, 0, 3]  # ties in the order of their numbers
    ones = (made.weights > 0).sum(axis=0)
    assert (np.diff(ones[made.fullest]) <= 0).all()
    assert sorted(made.fullest.tolist()) == list(range(made.columns))


@given(st.integers(2, 8), st.integers(2, 30), st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_weights_of_evidence_are_log_odds_and_not_levels(mutations: int, cells: int, seed: int) -> None:
    """The sum of those of equal columns by levels is that of their cells."""
    matrix, _ = random_evidence(mutations, cells, seed)
    levels = levels_of(log_odds_of(matrix), FLOOR, 3)
    problem = make_problem(matrix, levels)
    made = make_search_problem(problem)
    if problem.log_odds is None:
        assert levels.exact
        return
    sums = np.zeros((mutations, problem.columns))
    np.add.at(sums.T, problem.column_of, log_odds_of(matrix).T)
    np.testing.assert_allclose(made.weights / made.unit, sums, atol=1.01 / made.unit)
    large = replace(problem, log_odds=problem.log_odds * np.int64(10**7))  # some units per nat
    weights = make_search_problem(large).weights.astype(np.int64)
    assert all(0 <= np.maximum(sign * weights, 0).sum() < 1 << SUM_BITS for sign in (1, -1))
    assert np.abs(weights).max() > 1000


def test_too_many_entries_of_evidence_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with calls; sums of eight bits stand for matrices of 10^9 entries."""
    problem = make_problem(*random_evidence(8, 30, 1))
    make_search_problem(problem)
    monkeypatch.setattr(search_problem_module, "SUM_BITS", 8)
    with pytest.raises(MatrixError, match="too coarse for 240 entries"):
        make_search_problem(problem)
