"""Guided moves: the same bits on every backend, and the posterior for any guide, enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains.guide import make_guide, uniform_guide
from syclade.host.chains.moves import GUIDED_MOVES
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.recorders import every
from syclade.host.chains.scores.named import score_named
from syclade.host.chains.starts import initial_state
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import are_trees
from syclade.quality.oracle.trees import all_trees
from syclade.quality.posterior.tree_index import TreeIndex
from tests.support.backends import NUMPY, Backend, Seen, assert_equal_chains, assert_scores_are_right, seen
from tests.support.own_sizes import OTHERS, by_backend_and_case, is_built_apart

Tables = Mapping[str, NDArray[np.int32]]

SIZES = {
    "one mutation": (9, 1),
    "small": (40, 17),
    "panels": (150, 12),
    "longer tables": (20, 140),
    "longest tables": (10, 600),
}
SEED = 5


@cache
def plan_of(cells: int, mutations: int, own: float = 0.15) -> Plan:
    """Return a plan whose chains do moves without a guide in this share of their steps."""
    rates = Rates(0.02, 0.25)
    problem = make_problem(simulate(cells, mutations, 0.02, 0.25, 0.1, 3).matrix, rates, octaves=True)
    return make_plan(
        problem,
        moves=GUIDED_MOVES,
        move_probabilities=(own / 3, own / 3, own / 3, (1 - own) * 0.6, (1 - own) * 0.4),
        score=score_named("sum", problem),
        recorders=(every(1),),
        events=4096,
    )


def guide_of(plan: Plan, seed: int) -> Tables:
    """Return a guide with some pairs that it never proposes."""
    n = plan.labels
    generator = np.random.default_rng(seed)
    edges = np.array([generator.multinomial(64, generator.dirichlet(np.full(n + 1, 0.5))) for _ in range(n)])
    edges[np.arange(n), n] += edges[np.arange(n), np.arange(n)]
    edges[np.arange(n), np.arange(n)] = 0
    return make_guide(edges, edges @ edges.T + 1, plan.problem.unit, plan.gamma)


def chains(backend: Backend, plan: Plan) -> list[Seen]:
    guides = [uniform_guide(plan.labels, plan.problem.unit, plan.gamma), guide_of(plan, 1)]
    found = []
    with backend.runner(plan, 2, SEED) as runner:
        for chain, tables in enumerate(guides):
            runner.put(chain, replace(initial_state(plan, SEED, chain), tables=tables))
        for stop in (1, 60, 900 if plan.labels < 100 else 200):
            runner.advance(np.full(2, stop))
            found += [seen(runner, chain) for chain in range(2)]
    return found


@cache
def numpy_chains(case: tuple[int, int]) -> list[Seen]:
    """Return numpy's chains, whose trees are valid and whose scores are those of the definition."""
    plan = plan_of(*case)
    found = chains(NUMPY, plan)
    for one in found:
        assert are_trees(one.state.parents[None])
        assert_scores_are_right(plan, one.state)
    return found


@by_backend_and_case(OTHERS, SIZES, everywhere=[], compiles=is_built_apart)
def test_every_backend_gives_the_same_bits(backend: Backend, case: tuple[int, int]) -> None:
    for ours, expected in zip(chains(backend, plan_of(*case)), numpy_chains(case), strict=True):
        assert_equal_chains(ours, expected)


def test_both_moves_are_accepted() -> None:
    plan = plan_of(*SIZES["small"])
    for one in numpy_chains(SIZES["small"])[-2:]:
        accepted = dict(zip(plan.kinds, one.tallies[len(plan.kinds) :].tolist(), strict=True))
        assert accepted["guided reattach"] > 10
        assert accepted["guided swap"] > 10


def test_the_tables_stay_with_the_state() -> None:
    plan = plan_of(*SIZES["small"])
    tables = guide_of(plan, 2)
    with NUMPY.runner(plan, 1, SEED) as runner:
        runner.put(0, replace(initial_state(plan, SEED, 0), tables=tables))
        runner.advance(np.array([100]))
        state = runner.get(0)
        runner.advance(np.array([200]))
        expected = seen(runner, 0)
    assert state.tables is tables
    with NUMPY.runner(plan, 1, SEED) as runner:
        runner.put(0, state)
        runner.advance(np.array([200]))
        np.testing.assert_array_equal(seen(runner, 0).state.parents, expected.state.parents)


# ---- the posterior of a small matrix


@dataclass(frozen=True)
class Reads:
    """Independent chains on one backend, which are read several times.

    Attributes:
        backend: device and encoding.
        chains: number of chains.
        reads: reads of each chain.
        burn_in, thinning: steps before the first read, and between two reads.
    """

    backend: Backend
    chains: int
    reads: int
    burn_in: int = 200
    thinning: int = 60


NATIVE = Backend("native", "general")
FEW = Reads(NATIVE, 800, 4)
MANY = Reads(NATIVE, 512, 400, 400, 120)
"""Enough visits of the 1296 trees of five mutations."""


def p_value(mutations: int, tables: Tables, how: Reads = FEW) -> float:
    """Return the p-value of visits of all trees against the posterior."""
    plan = plan_of(6, mutations, 0.05)
    trees = list(all_trees(mutations))
    logs = np.array([plan.score_of(np.array(tree, np.int32)) for tree in trees]) * plan.problem.unit
    weights = np.exp(logs - logs.max())
    visits = np.zeros(len(trees))
    with how.backend.runner(plan, how.chains, SEED) as runner:
        index = TreeIndex(runner.encoding, trees)
        starts = [initial_state(plan, SEED, one) for one in range(how.chains)]
        settings = {**starts[0].settings, "first_sample": 10**9}  # no events
        runner.put_all([replace(one, tables=tables, settings=settings) for one in starts])
        for read in range(how.reads):
            runner.advance(np.full(how.chains, how.burn_in + read * how.thinning))
            np.add.at(visits, index.of(runner), 1)
    expected = weights / weights.sum() * visits.sum()
    often = expected >= 5
    found, wanted = np.append(visits[often], visits[~often].sum()), np.append(expected[often], 1e-9)
    wanted[-1] += expected[~often].sum()
    some = wanted > 1e-6
    return float(stats.chisquare(found[some], wanted[some] * (found[some].sum() / wanted[some].sum())).pvalue)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "seed", "how"),
    [(2, 1, FEW), (3, 2, FEW), (4, 3, FEW), pytest.param(5, 4, MANY, marks=pytest.mark.verification)],
)
def test_chains_sample_the_posterior_for_any_guide(mutations: int, seed: int, how: Reads) -> None:
    """The control leaves out the correction, and its visits are rejected."""
    tables = guide_of(plan_of(6, mutations), seed)
    assert p_value(mutations, tables, how) > 0.005
    logs = tables["guide_logs"]
    assert p_value(mutations, {**tables, "guide_logs": np.minimum(logs, 0)}, how) < 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "seed", "how"), [(3, 2, FEW), pytest.param(5, 4, MANY, marks=pytest.mark.verification)]
)
def test_a_move_without_its_reverse_would_be_noticed(mutations: int, seed: int, how: Reads) -> None:
    """The control makes moves whose reverse the guide never proposes, as if it were the most frequent."""
    tables = guide_of(plan_of(6, mutations), seed)
    logs = tables["guide_logs"]
    assert (logs < 0).any()
    assert p_value(mutations, {**tables, "guide_logs": np.where(logs < 0, logs.max(), logs)}, how) < 1e-6
