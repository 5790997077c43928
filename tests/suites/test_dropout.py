"""Rates of false negatives of all mutations: the exact posterior."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaln

from syclade.host.chains.gibbs import GibbsSteps
from syclade.host.chains.jump import Proposals
from syclade.host.chains.mode_jumps import ModeJumps
from syclade.host.chains.plan import Plan
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.ridge_moves import RidgeMoves
from syclade.host.chains.share_moves import ShareMoves
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.dropout import rates_in
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.support.fitted_trees import FittedTrees
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.shares import DROPOUT_RATES, dropout_plan, dropout_start
from tests.suites.test_shares import p_value
from tests.support.backends import Backend
from tests.support.dirichlet import log_probabilities

MUTATIONS, CELLS = 2, 6
SEED = 5


def small() -> tuple[Plan, RateDraws]:
    values = np.ones((MUTATIONS, CELLS), dtype=np.uint8)
    values[0, 1:4] = 0
    values[1, -1] = 0
    plan = dropout_plan(matrix_from_array(values, ["A", "B"]), (0, 1))
    return plan, RateDraws(plan.problem, DROPOUT_RATES.fp_rate, np.arange(MUTATIONS))


def exact(values: NDArray[Any], *, one_rate: bool) -> tuple[NDArray[np.float64], float]:
    """Return log P(D, T) + constant for all trees, and the mean of the first mutation's rate.

    Every cell is at every node; the integrals over shares and rates are by their definitions.
    """
    nodes = MUTATIONS + 1
    places = np.array(list(itertools.product(range(nodes), repeat=CELLS)))
    counts = np.stack([(places == node).sum(axis=1) for node in range(nodes)], axis=1)
    prior = log_probabilities(counts, dominant=True)
    odds = np.linspace(np.log(0.005 / 0.995), np.log(0.7 / 0.3), 40)
    mean, total = np.meshgrid(1 / (1 + np.exp(-odds)), 2.0 ** np.arange(1, 8.5, 0.5))
    a, b = (mean * total).ravel()[:, None, None], ((1 - mean) * total).ravel()[:, None, None]
    logs, weighted = [], []
    for tree in all_trees(MUTATIONS):
        has = ancestor_matrix(np.array(tree))[:MUTATIONS][:, places].astype(bool)  # (n, places, cells)
        seen = values[:, None, :] == 1
        false, right = (~has & seen).sum(axis=(0, 2)), (~has & ~seen).sum(axis=(0, 2))
        missed, found = (has & ~seen).sum(axis=2), (has & seen).sum(axis=2)
        fixed = prior + false * np.log(DROPOUT_RATES.fp_rate) + right * np.log1p(-DROPOUT_RATES.fp_rate)
        if one_rate:
            by_rate = missed.sum(axis=0) * np.log(DROPOUT_RATES.fn_rate) + found.sum(axis=0) * np.log1p(
                -DROPOUT_RATES.fn_rate
            )
            logs.append(np.logaddexp.reduce(fixed + by_rate))
            continue
        joint = fixed + (betaln(a + missed, b + found) - betaln(a, b)).sum(axis=1)
        logs.append(np.logaddexp.reduce(joint.ravel()))
        first = (a[:, 0] + missed[0]) / (a[:, 0] + b[:, 0] + missed[0] + found[0])
        weighted.append((np.exp(joint) * first).sum())
    return np.array(logs), float(np.sum(weighted) / np.exp(logs).sum())


def jumps_between_all(plan: Plan) -> Proposals:
    trees = [np.array(tree, dtype=np.int32) for tree in all_trees(MUTATIONS)]
    fp_rate, fn_rate = DROPOUT_RATES.fp_rate, DROPOUT_RATES.fn_rate
    return ModeJumps(plan.problem, fp_rate, FittedTrees(plan.problem, fp_rate, fn_rate).fit(trees))


def ridge_moves(plan: Plan) -> Proposals:
    return RidgeMoves(plan.problem, DROPOUT_RATES.fp_rate)


def share_moves(plan: Plan) -> Proposals:
    return ShareMoves(plan.problem)


JUMPS: dict[str, Callable[[Plan], Proposals]] = {
    "jumps": jumps_between_all,
    "ridges": ridge_moves,
    "shares": share_moves,
}


@pytest.mark.statistical
@pytest.mark.parametrize("jumps", [[], ["jumps"], ["ridges"], ["shares"], ["ridges", "shares", "jumps"]])
def test_chains_sample_the_posterior_with_rates(jumps: list[str]) -> None:
    """The control is the posterior of one given rate, which the visits reject."""
    plan, draws = small()
    found, rates = visits(plan, draws, [JUMPS[name](plan) for name in jumps])
    values = plan.problem.observed[:, plan.problem.column_of] % 2
    logs, mean = exact(values, one_rate=False)
    assert p_value(logs, found) > 0.005
    assert abs(np.mean(rates) - mean) < 4 * np.std(rates) / np.sqrt(len(rates) / 3)
    assert p_value(exact(values, one_rate=True)[0], found) < 1e-4


@pytest.mark.statistical
def test_jumps_that_are_always_accepted_change_the_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syclade.host.chains.gibbs.accepts", lambda jumps, *_: jumps.log_ratios > -np.inf)
    plan, draws = small()
    found, _ = visits(plan, draws, [jumps_between_all(plan)])
    values = plan.problem.observed[:, plan.problem.column_of] % 2
    assert p_value(exact(values, one_rate=False)[0], found) < 1e-4


def visits(plan: Plan, draws: RateDraws, jumps: Sequence[Proposals]) -> tuple[NDArray[np.int64], list[float]]:
    """Return how often chains are at each tree, and rates of the first mutation."""
    number = {tuple(tree): at for at, tree in enumerate(all_trees(MUTATIONS))}
    found, rates = np.zeros(len(number), dtype=np.int64), []
    count, renew = 40, GibbsSteps(plan, SEED, draws, jumps=jumps)
    with Backend("native", "general").runner(plan, count, SEED) as runner:
        runner.put_all([dropout_start(plan, SEED, chain) for chain in range(count)])
        for read in range(36):
            runner.advance(np.full(count, 40 * (read + 1)))
            states = renew([state for state, _ in runner.get_all(count)])
            runner.put_all(states)
            if read >= 9 and read % 3 == 0:
                for state in states:
                    found[number[tuple(state.parents.tolist())]] += 1
                    rates.append(float(rates_in(plan.problem, DROPOUT_RATES.fp_rate, state.rates)[0]))
    return found, rates
