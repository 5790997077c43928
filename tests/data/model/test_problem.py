"""The reduction of a matrix to exact integers."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import CELL_BITS, MAX_SCALE_BITS, Problem, SlotRates, make_problem
from syclade.host.data.model.rates import Rates
from syclade.quality.oracle.score import tree_score
from tests.support import tree_strategies
from tests.support.backends import four_weights

RATES = Rates(0.01, 0.2)


def random_matrix(n: int, m: int, seed: int = 1) -> Matrix:
    return matrix_from_array(np.random.default_rng(seed).choice([0, 1, 3], (n, m)))


def problem_of(values: object, rates: Rates = RATES) -> Problem:
    return make_problem(matrix_from_array(values), rates)


def gain_of(problem: Problem) -> int:
    return four_weights(problem)[1]


def score_of(problem: Problem, tree: object, rates: SlotRates | None = None) -> int:
    """Return the sum of the cells' scores at their best nodes."""
    best = problem.best_attachments(np.asarray(tree, np.int32), rates)
    return int((best * problem.multiplicity).sum())


@given(st.data())
@settings(deadline=None)
def test_score_is_the_oracles(data: st.DataObject) -> None:
    tree = data.draw(tree_strategies.trees(8))
    values = data.draw(tree_strategies.observations(len(tree) - 1))
    problem = problem_of(values)
    assert score_of(problem, tree) == tree_score(tree, values, four_weights(problem))


def test_score_of_the_deepest_tree() -> None:
    n = 3000
    problem = problem_of(np.ones((n, 2), np.uint8))
    path: NDArray[np.int32] = tree_strategies.path_tree(n)
    assert score_of(problem, path) == 2 * n * gain_of(problem)
    star = np.full(n + 1, n, np.int32)
    assert score_of(problem, star) == 2 * gain_of(problem)


@pytest.mark.parametrize(("fp_rate", "fn_rate"), [(1e-6, 0.25), (0.3, 0.3), (1e-300, 1e-300)])
def test_integer_scores_are_log_likelihoods(fp_rate: float, fn_rate: float) -> None:
    """Check to the accuracy of the rounding: half a unit per observed value."""
    matrix, rates = random_matrix(12, 20), Rates(fp_rate, fn_rate)
    problem = make_problem(matrix, rates)
    tree = tree_strategies.path_tree(12)
    exact = log_likelihood(matrix, rates, tree)
    bound = matrix.values.size * 2.0**-problem.scale_bits
    assert problem.to_nats(score_of(problem, tree)) == pytest.approx(exact, rel=1e-12, abs=bound)


def test_weights_are_the_rates_to_the_last_unit() -> None:
    problem = problem_of(random_matrix(5, 6).values)
    unit = 2.0**problem.scale_bits
    assert problem.scale_bits == MAX_SCALE_BITS
    assert (problem.values, problem.classes, problem.rates.weights[-1]) == ((0, 1), 3, 0)
    for integer, weight in zip(four_weights(problem), RATES.weights(), strict=True):
        assert abs(integer - float(weight) * unit) <= 0.5


@pytest.mark.parametrize(("n", "rates"), [(400, Rates(1e-6, 0.25)), (3000, Rates(1e-300, 0.1))])
def test_the_scale_leaves_room(n: int, rates: Rates) -> None:
    """No cell's score reaches 2^30; the next finer scale would be unsafe or unnecessary."""
    values = np.ones((n, 3), np.uint8)
    values[:, 1] = 0
    problem = problem_of(values, rates)
    greatest = n * max(map(abs, problem.rates.weights))
    assert greatest < 2**CELL_BITS
    assert problem.scale_bits < MAX_SCALE_BITS
    assert 4 * greatest >= 2**CELL_BITS


def test_distinct_columns() -> None:
    values = np.array([[0, 1, 0, 3, 0], [1, 1, 1, 0, 1]], np.uint8)
    problem = problem_of(values)
    columns = {
        tuple(column): int(count)
        for column, count in zip(problem.observed.T.tolist(), problem.multiplicity, strict=True)
    }
    assert columns == {(0, 1): 3, (1, 1): 1, (2, 0): 1}
    assert problem.observed.flags.c_contiguous
    assert (problem.mutations, problem.nodes, problem.columns) == (2, 3, 3)


def test_equal_columns_score_as_if_they_were_apart() -> None:
    values = random_matrix(6, 5).values
    tree = tree_strategies.path_tree(6)
    assert score_of(problem_of(np.tile(values, 3)), tree) == 3 * score_of(problem_of(values), tree)


def test_rates_of_a_slot_take_the_place_of_the_problems() -> None:
    problem = problem_of(random_matrix(6, 5).values)
    tree = tree_strategies.path_tree(6)
    doubled = SlotRates(tuple(2 * weight for weight in problem.rates.weights), 0)
    np.testing.assert_array_equal(problem.weight_rows(doubled), 2 * problem.weight_rows())
    assert score_of(problem, tree, doubled) == 2 * score_of(problem, tree)


def test_no_score_is_above_the_most_positive() -> None:
    problem = problem_of(random_matrix(6, 5).values)
    rows = problem.weight_rows()
    assert problem.most_positive().tolist() == [
        sum(weight for weight in rows[:, column].tolist() if weight > 0) for column in range(problem.columns)
    ]


def test_a_problem_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        problem_of([[1, 0]]).mutations = 1  # type: ignore[misc]


@pytest.mark.parametrize(("mutations", "fp_rate"), [(29003, 9.500360689429319e-05), (3000, 1.28e-152)])
def test_rounded_weights_do_not_reach_the_limit_of_a_cell(mutations: int, fp_rate: float) -> None:
    """The sum of the weights themselves fits one bit more, which thousands of roundings take up."""
    ones = matrix_from_array(np.ones((mutations, 1), dtype=np.uint8))
    problem = make_problem(ones, Rates(fp_rate, 0.2))
    assert problem.can_score(problem.rates) is None
    assert problem.most_positive().max() > 2 ** (CELL_BITS - 2)
