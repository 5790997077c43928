"""Rates of false negatives of all mutations: the same bits on every backend, and the exact posterior."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from syclade.host.chains.dropout import make_draw, with_rates
from syclade.host.chains.guide import uniform_guide
from syclade.host.chains.moves import GUIDED_MOVES
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.recorders import every
from syclade.host.chains.scores.named import score_named
from syclade.host.chains.shares import CONCENTRATIONS, Draw, renew_shares, score_with_shares
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.dropout import problem_of_groups, rates_in, slot_rates
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.oracle.trees import all_trees
from tests.suites.test_shares import p_value
from tests.support.backends import NUMPY, Backend, Seen, assert_equal_chains, seen
from tests.support.own_sizes import OTHERS, by_backend_and_case, is_built_apart

RATES = Rates(0.05, 0.3)
SEED = 5
SIZES = {"a group each": (40, 17), "large groups": (20, 140)}
WITH_SHARES = [backend for backend in OTHERS if backend.encoding != "ancestor"]


@cache
def plan_of(matrix: Matrix, groups: tuple[int, ...]) -> Plan:
    problem = problem_of_groups(matrix, RATES, np.array(groups))
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(0.4, 0.3, 0.1, 0.1, 0.1),
        score=score_named("shares", problem),
        recorders=(every(1),),
        events=4096,
    )


@cache
def case_of(cells: int, mutations: int) -> tuple[Plan, Draw]:
    groups = tuple(np.arange(mutations) % 127)
    plan = plan_of(simulate(cells, mutations, 0.05, 0.3, 0.1, 3, fn_range=(0.01, 0.5)).matrix, groups)
    return plan, make_draw(plan.problem, RATES.fp_rate, np.array(groups))


def start_of(plan: Plan, chain: int) -> ChainState:
    groups = (plan.problem.classes - 1) // 2
    rates = slot_rates(plan.problem, RATES.fp_rate, np.full(groups, RATES.fn_rate))
    tables = uniform_guide(plan.labels, plan.problem.unit, plan.gamma)
    return with_rates(plan, replace(initial_state(plan, SEED, chain), tables=tables), rates)


def renewed(plan: Plan, draw: Draw, state: ChainState) -> ChainState:
    return renew_shares(plan.problem, state, SEED, plan.settings["sum_spare"], draw)


def chains(backend: Backend, case: tuple[int, int]) -> list[Seen]:
    """Return two chains, whose shares and rates are drawn anew at each stop."""
    plan, draw = case_of(*case)
    found = []
    with backend.runner(plan, 2, SEED) as runner:
        for chain in range(2):
            runner.put(chain, renewed(plan, draw, start_of(plan, chain)))
        for stop in (1, 60, 300):
            runner.advance(np.full(2, stop))
            found += [seen(runner, chain) for chain in range(2)]
            for chain in range(2):
                runner.put(chain, renewed(plan, draw, runner.get(chain)), runner.info(chain))
    return found


@cache
def numpy_chains(case: tuple[int, int]) -> list[Seen]:
    """Return numpy's chains, whose scores are those of the definition."""
    plan, _ = case_of(*case)
    found = chains(NUMPY, case)
    for one in found:
        state = one.state
        assert len(set(state.rates.weights)) > 20
        assert state.score == plan.score_of(state.parents, state.rates)
        spare = plan.settings["sum_spare"]
        assert state.score == score_with_shares(
            plan.problem, state.parents, state.rates.log_shares, spare, state.rates
        )
    return found


@by_backend_and_case(WITH_SHARES, SIZES, everywhere=[], compiles=is_built_apart)
def test_every_backend_gives_the_same_bits(backend: Backend, case: tuple[int, int]) -> None:
    for ours, expected in zip(chains(backend, case), numpy_chains(case), strict=True):
        assert_equal_chains(ours, expected)
        assert ours.state.rates == expected.state.rates


# ---- the posterior of a small matrix, by all trees, attachments and points of the prior

MUTATIONS, CELLS = 2, 6


def small() -> tuple[Plan, Draw]:
    values = np.ones((MUTATIONS, CELLS), dtype=np.uint8)
    values[0, 1:4] = 0
    values[1, -1] = 0
    plan = plan_of(matrix_from_array(values, ["A", "B"]), (0, 1))
    return plan, make_draw(plan.problem, RATES.fp_rate, np.arange(MUTATIONS))


def exact(values: NDArray[Any], *, one_rate: bool) -> tuple[NDArray[np.float64], float]:
    """Return log P(D, T) + constant for all trees, and the mean of the first mutation's rate.

    Every cell is at every node; the integrals over shares and rates are by their definitions.
    """
    nodes = MUTATIONS + 1
    places = np.array(list(itertools.product(range(nodes), repeat=CELLS)))
    counts = np.stack([(places == node).sum(axis=1) for node in range(nodes)], axis=1)
    grid = np.array(CONCENTRATIONS)[:, None]
    prior = gammaln(grid * nodes) - gammaln(grid * nodes + CELLS) - nodes * gammaln(grid)
    prior = np.logaddexp.reduce(prior + gammaln(counts[None] + grid[:, :, None]).sum(axis=2), axis=0)
    odds = np.linspace(np.log(0.005 / 0.995), np.log(0.7 / 0.3), 40)
    mean, total = np.meshgrid(1 / (1 + np.exp(-odds)), 2.0 ** np.arange(1, 8.5, 0.5))
    a, b = (mean * total).ravel()[:, None, None], ((1 - mean) * total).ravel()[:, None, None]
    logs, weighted = [], []
    for tree in all_trees(MUTATIONS):
        has = ancestor_matrix(np.array(tree))[:MUTATIONS][:, places].astype(bool)  # (n, places, cells)
        seen = values[:, None, :] == 1
        false, right = (~has & seen).sum(axis=(0, 2)), (~has & ~seen).sum(axis=(0, 2))
        missed, found = (has & ~seen).sum(axis=2), (has & seen).sum(axis=2)
        fixed = prior + false * np.log(RATES.fp_rate) + right * np.log1p(-RATES.fp_rate)
        if one_rate:
            by_rate = missed.sum(axis=0) * np.log(RATES.fn_rate) + found.sum(axis=0) * np.log1p(
                -RATES.fn_rate
            )
            logs.append(np.logaddexp.reduce(fixed + by_rate))
            continue
        joint = fixed + (betaln(a + missed, b + found) - betaln(a, b)).sum(axis=1)
        logs.append(np.logaddexp.reduce(joint.ravel()))
        first = (a[:, 0] + missed[0]) / (a[:, 0] + b[:, 0] + missed[0] + found[0])
        weighted.append((np.exp(joint) * first).sum())
    return np.array(logs), float(np.sum(weighted) / np.exp(logs).sum())


@pytest.mark.statistical
def test_chains_sample_the_posterior_with_rates() -> None:
    """The control is the posterior of one given rate, which the visits reject."""
    plan, draw = small()
    number = {tuple(tree): at for at, tree in enumerate(all_trees(MUTATIONS))}
    found, rates = np.zeros(len(number), dtype=np.int64), []
    count = 100
    with NUMPY.runner(plan, count, SEED) as runner:
        runner.put_all([start_of(plan, chain) for chain in range(count)])
        for read in range(60):
            runner.advance(np.full(count, 40 * (read + 1)))
            states = [renewed(plan, draw, runner.get(chain)) for chain in range(count)]
            runner.put_all(states)
            if read >= 15 and read % 3 == 0:
                for state in states:
                    found[number[tuple(state.parents.tolist())]] += 1
                    rates.append(rates_in(plan.problem, RATES.fp_rate, state.rates)[0])
    values = plan.problem.observed[:, plan.problem.column_of] % 2
    logs, mean = exact(values, one_rate=False)
    assert p_value(logs, found) > 0.005
    assert abs(np.mean(rates) - mean) < 4 * np.std(rates) / np.sqrt(len(rates) / 3)
    assert p_value(exact(values, one_rate=True)[0], found) < 1e-4
