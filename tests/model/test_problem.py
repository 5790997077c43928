"""The reduction of a matrix to exact integers."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.errors import OptionError
from syclade.host.input.matrix import Matrix, matrix_from_array
from syclade.host.model.likelihood import log_likelihood
from syclade.host.model.problem import CELL_BITS, MAX_SCALE_BITS, Problem, make_problem
from syclade.host.model.rates import Rates
from syclade.quality.oracle import acceptance
from syclade.quality.oracle.proposal import move_cuts
from syclade.quality.oracle.score import tree_score
from tests.support import tree_strategies

RATES = Rates(0.01, 0.2)


def random_matrix(n: int, m: int, seed: int = 1) -> Matrix:
    return matrix_from_array(np.random.default_rng(seed).choice([0, 1, 3], (n, m)))


def problem_of(values: object, rates: Rates = RATES, **settings: float) -> Problem:
    return make_problem(matrix_from_array(values), rates, **settings)  # type: ignore[arg-type]


@given(st.data())
@settings(deadline=None)
def test_score_is_the_oracles(data: st.DataObject) -> None:
    tree = data.draw(tree_strategies.trees(8))
    values = data.draw(tree_strategies.observations(len(tree) - 1))
    problem = problem_of(values)
    assert problem.score(tree) == tree_score(tree, values, problem.weights)


def test_score_of_the_deepest_tree() -> None:
    n = 3000
    problem = problem_of(np.ones((n, 2), np.uint8))
    path: NDArray[np.int32] = tree_strategies.path_tree(n)
    assert problem.score(path) == 2 * n * problem.gain_one
    star = np.full(n + 1, n, np.int32)
    assert problem.score(star) == 2 * problem.gain_one


@pytest.mark.parametrize(("fp_rate", "fn_rate"), [(1e-6, 0.25), (0.3, 0.3), (1e-300, 1e-300)])
def test_integer_scores_are_log_likelihoods(fp_rate: float, fn_rate: float) -> None:
    """To the accuracy of the rounding: half a unit an observed value."""
    matrix, rates = random_matrix(12, 20), Rates(fp_rate, fn_rate)
    problem = make_problem(matrix, rates)
    tree = tree_strategies.path_tree(12)
    exact = log_likelihood(matrix, rates, tree)
    bound = matrix.values.size * 2.0**-problem.scale_bits
    assert problem.to_nats(problem.score(tree)) == pytest.approx(exact, rel=1e-12, abs=bound)


def test_weights_are_the_rates_to_the_last_unit() -> None:
    problem = problem_of(random_matrix(5, 6).values)
    unit = 2.0**problem.scale_bits
    assert problem.scale_bits == MAX_SCALE_BITS
    assert problem.weights == (-problem.loss_zero, problem.gain_one, 0, 0)
    for integer, weight in zip(problem.weights, RATES.weights(), strict=True):
        assert abs(integer - float(weight) * unit) <= 0.5


@pytest.mark.parametrize(("n", "rates"), [(400, Rates(1e-6, 0.25)), (3000, Rates(1e-300, 0.1))])
def test_the_scale_leaves_room(n: int, rates: Rates) -> None:
    """No cell's score reaches 2^30, and the next finer scale would not be safe, or needed."""
    values = np.ones((n, 3), np.uint8)
    values[:, 1] = 0
    problem = problem_of(values, rates)
    greatest = n * max(problem.gain_one, problem.loss_zero)
    assert greatest < 2**CELL_BITS
    assert problem.scale_bits < MAX_SCALE_BITS
    assert 4 * greatest >= 2**CELL_BITS


def test_distinct_columns() -> None:
    values = np.array([[0, 1, 0, 3, 0], [1, 1, 1, 0, 1]], np.uint8)
    problem = problem_of(values)
    columns = {
        tuple(column): int(count)
        for column, count in zip(problem.columns.T.tolist(), problem.multiplicity, strict=True)
    }
    assert columns == {(0, 1): 3, (1, 1): 1, (3, 0): 1}
    assert problem.columns.flags.c_contiguous
    assert (problem.mutations, problem.nodes) == (2, 3)


def test_equal_columns_score_as_if_they_were_apart() -> None:
    values = random_matrix(6, 5).values
    tree = tree_strategies.path_tree(6)
    assert problem_of(np.tile(values, 3)).score(tree) == 3 * problem_of(values).score(tree)


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1.0, 7.0, 1e6])
def test_logarithms_are_the_oracles(gamma: float) -> None:
    problem = problem_of(random_matrix(9, 4).values, gamma=gamma)
    expected = acceptance.tables(problem.scale_bits, gamma, 9)
    assert tuple(problem.log_table.tolist()) == expected.mantissa
    assert tuple(problem.log_sizes.tolist()) == expected.size
    assert problem.gamma == gamma


@pytest.mark.parametrize(
    "weights", [(0.55, 0.4, 0.05), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3, 5), (1e-9, 1, 1e-9)]
)
def test_move_probabilities_are_the_oracles(weights: tuple[float, float, float]) -> None:
    problem = make_problem(random_matrix(3, 3), RATES, move_probabilities=weights)
    assert (problem.prune_below, problem.swap_below) == move_cuts(*weights)


@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf"), 1e-7, 1e7])
def test_gamma_refused(gamma: float) -> None:
    with pytest.raises(OptionError, match="--gamma"):
        make_problem(random_matrix(3, 3), RATES, gamma=gamma)


@pytest.mark.parametrize(
    "weights", [(0, 0, 0), (1, -1, 1), (1, float("nan"), 1), (1, 1), (float("inf"), 1, 1)]
)
def test_move_probabilities_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(OptionError, match="move probabilities"):
        make_problem(random_matrix(3, 3), RATES, move_probabilities=weights)


def test_a_problem_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        problem_of([[1, 0]]).gain_one = 1  # type: ignore[misc]
