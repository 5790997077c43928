"""Sum score: nearly the logarithm of a sum of likelihoods."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import all_attachments
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.likelihood import attachment_posteriors, summed_log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import ancestor_matrix
from tests.suites.rows.mutation_trees import SUMMED, rates_of, sum_plan
from tests.support.backends import Case


def brute_force(case: Case, parents: NDArray[np.int32]) -> float:
    """Return Σ_c log Σ_v Π_g P(observed | present or not), computed with Python floats."""
    table, values = rates_of(case).log_table().tolist(), case.values.tolist()
    above = ancestor_matrix(parents)
    total = 0.0
    for cell in range(case.m):
        logs = [
            sum(table[values[gene][cell]][int(above[gene, node])] for gene in range(case.n))
            for node in range(case.n + 1)
        ]
        total += math.log(math.fsum(math.exp(one - max(logs)) for one in logs)) + max(logs)
    return total


@pytest.mark.parametrize("case", SUMMED.values(), ids=list(SUMMED))
def test_the_log_likelihood_is_that_of_brute_force(case: Case) -> None:
    plan, matrix, rates = sum_plan(case), matrix_from_array(case.values), rates_of(case)
    for chain in range(5):
        state = initial_state(plan, case.seed, chain)
        exact = brute_force(case, state.parents)
        assert summed_log_likelihood(matrix, rates, state.parents) == pytest.approx(exact, rel=1e-9)
        # A power has a relative error of 2.8e-5 and is rounded down; a weight has an error of 2^-17 octave.
        assert plan.problem.to_nats(state.score) == pytest.approx(exact, abs=case.m * (1e-4 + case.n * 1e-5))


def test_large_inputs_neither_overflow_nor_vanish() -> None:
    """Check likelihoods of e^-thousands, and a sum in which all 1001 terms are equal."""
    values = np.random.default_rng(3).choice([0, 1], (1000, 4)).astype(np.uint8)
    matrix, rates = matrix_from_array(values), Rates(1e-5, 0.3)
    problem = make_problem(matrix, rates, octaves=True)
    plan = make_plan(problem, score=all_attachments(problem))
    line = np.arange(1, 1002, dtype=np.int32)
    line[-1] = 1000
    nothing = matrix_from_array(np.full((1000, 2), 3, np.uint8))
    flat = make_problem(nothing, rates, octaves=True)
    for of, made in ((matrix, problem), (nothing, flat)):
        score = all_attachments(made)
        got = score.of(made, line, made.rates, score.defaults)
        assert made.to_nats(got) == pytest.approx(summed_log_likelihood(of, rates, line), rel=2e-5)
    assert summed_log_likelihood(nothing, rates, line) == pytest.approx(2 * math.log(1001), rel=1e-12)
    assert plan.settings["sum_spare"] == 4


def test_posteriors_of_attachments_add_up_to_one() -> None:
    case = SUMMED["missing"]
    matrix, rates = matrix_from_array(case.values), rates_of(case)
    parents = initial_state(sum_plan(case), 1, 0).parents
    each = [
        attachment_posteriors(matrix, rates, parents, np.full(case.m, node, np.int32))
        for node in range(case.n + 1)
    ]
    np.testing.assert_allclose(np.sum(each, axis=0), 1.0, rtol=1e-12)
    assert np.min(each) >= 0.0
