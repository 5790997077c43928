"""Levels of evidence: exact or quantised, extremes, log-likelihoods by the log odds themselves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.assignment import attach_cells, place
from syclade.host.data.model.doublets import doublet_log_likelihood
from syclade.host.data.model.levels import (
    MOST_LEVELS,
    floored,
    levels_of,
    log_odds_of,
    misfit_bounds,
)
from syclade.host.data.model.likelihood import (
    log_likelihood,
    log_likelihood_at_fitted_shares,
    summed_log_likelihood,
)
from syclade.host.data.model.problem import make_leaf_problem, make_problem
from syclade.host.data.model.rates import Rates, distinct_columns, scored_values
from syclade.host.data.model.simulate import random_parents
from syclade.host.data.trees.cells import clades
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.weighed_matrix import weighed
from tests.support.evidence import FLOOR, random_evidence


def test_few_values_are_exact_and_zeros_unknown() -> None:
    odds = np.array([[2.5, -1.0, 0.0, 2.5], [0.1, -1.0, 0.0, -7.0]])
    found = levels_of(odds, FLOOR)
    assert found.exact
    assert found.odds.tolist() == [-7.0, -1.0, 0.1, 2.5]
    assert found.codes(odds).tolist() == [[3, 1, 4, 3], [2, 1, 4, 0]]
    assert found.weights()[found.codes(odds)].tolist() == odds.tolist()
    present = np.exp(found.log_table()[:-1, 1])
    np.testing.assert_allclose(present, 1.0 / (1.0 + np.exp(-found.odds)))
    np.testing.assert_allclose(np.exp(found.log_table()[:-1]).sum(axis=1), 1.0)
    assert found.log_table()[-1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["normal", "far", "steps"])
def test_many_values_have_the_levels_of_least_error(kind: str) -> None:
    draw = np.random.default_rng(1)
    odds = draw.normal(-1.0, 3.0, (60, 200))
    if kind == "far":  # half of the entries in a narrow range, and some far away
        odds = np.where(draw.random(odds.shape) < 0.5, odds / 100.0, odds * 2.0)
    if kind == "steps":
        odds = np.round(odds * 100.0) / 100.0
    found = levels_of(odds, FLOOR)
    assert len(found.odds) == MOST_LEVELS
    assert (np.diff(found.odds) > 0).all()
    errors = np.abs(found.weights()[found.codes(odds)] - odds)
    assert errors.max() == pytest.approx(found.largest_error)
    assert errors[odds != 0].mean() == pytest.approx(found.mean_error)
    even = (odds.max() - odds.min()) / MOST_LEVELS
    assert (errors**2).mean() < even**2 / 12.0  # that of as many levels with equal distances
    assert errors.max() < 1.5 * even
    again = levels_of(odds[::-1, ::-1], FLOOR)
    assert again == found
    assert hash(again) == hash(found)
    # Each level is the mean of its entries, so the sums of all log odds agree.
    assert found.weights()[found.codes(odds)].sum() == pytest.approx(odds.sum())


def test_extremes() -> None:
    odds = floored(np.array([[np.inf, -np.inf, 0.0, 3.0]]), 1e-3)
    most = math.log(0.999 / 0.001)
    np.testing.assert_allclose(odds, [[most, -most, 0.0, 3.0]])
    nothing = levels_of(np.zeros((2, 3)), FLOOR)
    assert nothing.exact
    assert nothing.codes(np.zeros((2, 3))).tolist() == [[0] * 3] * 2
    matrix = replace(matrix_from_array([[0, 1, 3]] * 2), evidence=Likelihoods(np.zeros((2, 3))))
    assert log_likelihood(matrix, nothing, [2, 2, 2]) == 0.0
    assert make_problem(matrix, nothing).classes == 1


def states_of(matrix: Matrix, parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the log-likelihood of each cell at each node by the definition: (nodes, cells)."""
    odds = log_odds_of(matrix)
    present = 1.0 / (1.0 + np.exp(-odds))
    has = ancestor_matrix(parents)[:-1].T[:, :, None]
    logs = np.where(odds == 0, 0.0, np.where(has, np.log(present), np.log1p(-present)))
    return np.asarray(logs.sum(axis=1))


@pytest.mark.parametrize("seed", range(4))
def test_log_likelihoods_are_of_the_log_odds(seed: int) -> None:
    matrix, levels = random_evidence(12, 30, seed)
    assert not levels.exact
    parents = random_parents(12, np.random.default_rng(seed))
    scores = states_of(matrix, parents)
    found = log_likelihood(matrix, levels, parents)
    assert found == pytest.approx(scores.max(axis=0).sum(), abs=1e-9)
    summed = np.logaddexp.reduce(scores, axis=0).sum()
    assert summed_log_likelihood(matrix, levels, parents) == pytest.approx(summed, abs=1e-9)
    even = summed - 30 * math.log(13)
    assert even < log_likelihood_at_fitted_shares(matrix, levels, parents) < found
    assert doublet_log_likelihood(matrix, levels, parents, 0.0) == pytest.approx(even, abs=1e-9)
    cells = attach_cells(matrix, levels, make_problem(matrix, levels), parents)
    np.testing.assert_allclose(cells.log_likelihood, scores.max(axis=0), atol=1e-9)
    np.testing.assert_allclose(scores[cells.node, np.arange(30)], scores.max(axis=0), atol=1e-9)
    np.testing.assert_array_equal(cells.ties, (np.abs(scores - scores.max(axis=0)) < 1e-9).sum(axis=0))


def test_nodes_of_cells_are_the_best_by_log_odds_and_not_by_levels() -> None:
    """With four levels, too; and nodes are tied that differ by unknown entries alone."""
    matrix, _ = random_evidence(12, 30, 1)
    odds = log_odds_of(matrix).copy()
    odds[3, :20] = 0.0
    known = weighed(matrix, odds, FLOOR)
    levels, parents = levels_of(odds, FLOOR, 4), random_parents(12, np.random.default_rng(1))
    assert not levels.exact
    cells = attach_cells(known, levels, make_problem(known, levels), parents)
    of = states_of(known, parents)
    np.testing.assert_array_equal(cells.ties, (np.abs(of - of.max(axis=0)) < 1e-9).sum(axis=0))
    np.testing.assert_allclose(cells.log_likelihood, of.max(axis=0), atol=1e-9)
    assert (cells.node[:20] != 3).all(), "its parent comes first"
    assert (cells.ties[:20] > 1).any()


def test_mutations_on_a_cell_tree() -> None:
    matrix, _ = random_evidence(7, 3, 1)
    odds, parents = log_odds_of(matrix), np.array([3, 3, 4, 4, 4], dtype=np.int32)
    levels = levels_of(odds, FLOOR)
    assert levels.exact
    found, total = place(matrix, levels, make_leaf_problem(matrix, levels), parents)
    base = np.where(odds == 0, 0.0, -np.logaddexp(0.0, odds)).sum(axis=1)
    of_edges = base + clades(parents).astype(np.float64) @ odds.T
    np.testing.assert_allclose(found.log_likelihood, of_edges.max(axis=0), atol=1e-9)
    assert total == pytest.approx(found.log_likelihood.sum())


def test_calls_are_evidence_of_two_levels() -> None:
    rates = Rates(0.02, 0.3)
    calls = matrix_from_array(np.random.default_rng(3).choice([0, 1, 3], (9, 20)))
    matrix = weighed(calls, rates.weights()[calls.values], 1e-6)
    levels = levels_of(log_odds_of(matrix), 1e-6)
    ours, theirs = make_problem(matrix, levels), make_problem(calls, rates)
    assert ours.rates.weights == theirs.rates.weights
    assert ours.scale_bits == theirs.scale_bits
    for name in ("observed", "multiplicity", "column_of"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert matrix.sha256 == calls.sha256
    assert scored_values(matrix, levels).max() == 2
    assert distinct_columns(matrix, levels) is distinct_columns(matrix, replace(levels))


def test_the_bound_on_misfits_holds_and_finds_exchanged_cells() -> None:
    """Of cells that follow their evidence, less than a share p has a bound below p."""
    draw = np.random.default_rng(5)
    truth = draw.random((40, 1)) < 0.4
    truth = np.repeat(truth, 4000, axis=1) ^ (draw.random((40, 4000)) < 0.3)
    part = truth.mean(axis=1, keepdims=True)
    odds = draw.normal(np.where(truth, 2.0, -2.0), 2.0)  # log odds of two normal distributions: calibrated
    bounds = misfit_bounds(odds, truth).cells
    for share in (0.5, 0.1, 0.01):
        assert (bounds < share).mean() <= share
    assert (bounds < 0.5).mean() > 0.01
    assert (misfit_bounds(odds, ~truth).cells < 1e-6).mean() > 0.9
    assert (misfit_bounds(odds, ~truth).mutations < 1e-6).all()
    assert (part > 0).all()


def test_evidence_must_have_the_shape_of_the_matrix() -> None:
    with pytest.raises(ValueError, match="evidence"):
        replace(matrix_from_array([[0, 1]]), evidence=Likelihoods(np.zeros((2, 2))))


def test_small_differences_count_only_with_the_levels_of_calls() -> None:
    """Reads of low depth have few log odds, all exact, and yet as many nearly best trees as others."""
    assert levels_of(np.array([-1.0, 2.0, 3.0]), 1e-4).same == 0.0
    few = levels_of(np.linspace(-2.0, 2.0, 30), 1e-4)
    assert few.exact
    assert few.same == 0.05
