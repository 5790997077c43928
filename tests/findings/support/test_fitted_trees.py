"""Trees that fit best if mutations have rates of their own, and chains that start there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.mode_jumps import FittedTree
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.dropout import problem_of_groups
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.support.fitted_trees import FittedTrees
from syclade.host.findings.support.plan import SupportPlan
from syclade.host.findings.support.starts import starts_of
from syclade.quality.oracle.trees import all_trees

RATES = Rates(0.01, 0.2)
NAMES = ("A", "B", "C", "D", "E")
TRUE = np.array([5, 0, 0, 1, 2, 5], dtype=np.int32)
BESIDE = np.array([5, 5, 5, 1, 2, 5], dtype=np.int32)
"""A beside B and C."""


def fits_of(matrix: Matrix, rates: Rates = RATES) -> FittedTrees:
    problem = problem_of_groups(matrix, rates, np.arange(matrix.n_mutations))
    return FittedTrees(problem, rates.fp_rate, rates.fn_rate)


def log_likelihood(matrix: Matrix, fit: FittedTree, fp_rate: float) -> float:
    """Return the log-likelihood of all cells, cell by cell and node by node."""
    above, total = ancestor_matrix(fit.parents), 0.0
    for cell in matrix.values.T.tolist():
        of_cell = 0.0
        for node, share in enumerate(fit.shares.tolist()):
            likely = share
            for row, value in enumerate(cell):
                seen = 1.0 - fit.fn_rates[row] if above[row, node] else fp_rate
                likely *= {0: 1.0 - seen, 1: seen, 3: 1.0}[value]
            of_cell += likely
        total += math.log(of_cell)
    return total


def test_fits_have_the_likelihood_of_their_shares_and_rates() -> None:
    matrix = simulate(60, 4, 0.01, 0.2, 0.1, 3).matrix
    fits = fits_of(matrix)
    trees = [np.array(tree, dtype=np.int32) for tree in list(all_trees(4))[::17]]
    found = fits.fit(trees)
    expected = np.array([log_likelihood(matrix, one, RATES.fp_rate) for one in found])
    totals = np.array([one.log_likelihood for one in found])
    np.testing.assert_allclose(totals - totals[0], expected - expected[0], atol=1e-5)
    other = found[0]._replace(fn_rates=found[0].fn_rates * 0.5)
    assert log_likelihood(matrix, other, RATES.fp_rate) < expected[0]
    shares = np.full(5, 0.2)
    assert log_likelihood(matrix, found[0]._replace(shares=shares), RATES.fp_rate) < expected[0]
    assert fits.fit(trees[:1])[0] is found[0], "it is known"


def hidden_trunk() -> Matrix:
    """Return a matrix in which A is missed in 60 % of the cells, which hides that it is above B and C."""
    random = np.random.default_rng(2)
    kinds = ["ABD", "AB", "ACE", "AC", "A", ""]
    clones = np.array([[name in kind for name in NAMES] for kind in kinds])
    clones = np.repeat(clones, (160, 150, 150, 140, 150, 350), axis=0)
    missed = random.random(clones.shape) < [0.6, 0.05, 0.05, 0.05, 0.05]
    false = random.random(clones.shape) < 0.01
    return matrix_from_array(np.where(clones, ~missed, false).astype(np.uint8).T, NAMES)


def test_climbs_find_a_mutation_above_others_that_is_missed_in_most_cells() -> None:
    found = fits_of(hidden_trunk()).likely([BESIDE])
    assert found[0].parents.tolist() == TRUE.tolist()
    assert found[0].fn_rates[0] == pytest.approx(0.6, abs=0.06)
    assert found[0].shares[5] == pytest.approx(0.35, abs=0.06)
    (wrong,) = fits_of(hidden_trunk()).fit([BESIDE])
    assert wrong.log_likelihood < found[0].log_likelihood - 100.0, "the control: without a climb"
    assert all(one.log_likelihood > found[0].log_likelihood - 10.0 for one in found)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[ChainState]]]:
    """For each run of chains, the number of fitted trees, and the first states of its chains."""
    seen: list[tuple[int, list[ChainState]]] = []

    def watched(planned: SupportPlan, *trees: Any) -> Callable[[int], ChainState]:
        start = starts_of(planned, *trees)
        seen.append((len(planned.fitted), [start(chain) for chain in range(4)]))
        return start

    monkeypatch.setattr("syclade.host.findings.support.stage.starts_of", watched)
    return seen


def inferred(dropout: str) -> syclade.Result:
    return syclade.infer(hidden_trunk(), fp_rate=0.01, fn_rate=0.25, device="native", seed=1, dropout=dropout)


def test_chains_start_at_fitted_trees(starts: list[tuple[int, list[ChainState]]]) -> None:
    own = inferred("per-mutation")
    (without, _), (fitted, states) = starts
    assert (without, fitted > 0) == (0, True)
    assert states[0].parents.tolist() == TRUE.tolist()
    assert [one.chain for one in states] == list(range(4))
    shares = np.exp2(np.array(states[0].rates.log_shares) * 2.0**-16)
    assert states[0].rates.weights[0] > states[0].rates.weights[2], "A is missed more often than B"
    assert shares.argmax() == 5
    assert own.consensus is not None
    assert own.consensus.relation("A", "B").before > 0.95
    starts.clear()
    inferred("shared")
    assert [number for number, _ in starts] == [0] * len(starts), "one rate has no fitted trees"


def test_large_matrices_have_no_fitted_starts(
    monkeypatch: pytest.MonkeyPatch, starts: list[tuple[int, list[ChainState]]]
) -> None:
    monkeypatch.setattr("syclade.host.findings.support.starts.MOST_ENTRIES", 10)
    inferred("per-mutation")
    assert [number for number, _ in starts] == [0, 0]


def test_rates_at_which_fits_begin_do_not_matter() -> None:
    fits = [fits_of(hidden_trunk(), replace(RATES, fn_rate=rate)).fit([TRUE])[0] for rate in (0.05, 0.4)]
    assert abs(fits[0].log_likelihood - fits[1].log_likelihood) < 0.05
