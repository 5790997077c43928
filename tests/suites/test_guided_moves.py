"""Guided moves: the posterior for any guide, enumerated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from syclade.host.chains.runs.pipeline import initial_state
from syclade.quality.oracle.trees import all_trees
from syclade.quality.posterior.tree_index import TreeIndex
from tests.suites.rows.guided import SIZES, Tables, guide_of, guided_plan, row
from tests.support.backends import NUMPY, Backend, seen

SEED = 5


def test_both_moves_are_accepted() -> None:
    plan = guided_plan(*SIZES["small"])
    for one in row("small", *SIZES["small"]).expected.at[900]:
        accepted = dict(zip(plan.kinds, one.tallies[len(plan.kinds) :].tolist(), strict=True))
        assert accepted["guided reattach"] > 10
        assert accepted["guided swap"] > 10


def test_the_tables_stay_with_the_state() -> None:
    plan = guided_plan(*SIZES["small"])
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
FEW = Reads(NATIVE, 80, 16, 200, 250)
"""Few chains: the tables of each have a size of their own."""
MANY = Reads(NATIVE, 512, 400, 400, 120)
"""Enough visits of the 1296 trees of five mutations."""


def p_value(mutations: int, tables: Tables, how: Reads = FEW) -> float:
    """Return the p-value of visits of all trees against the posterior."""
    plan = guided_plan(6, mutations, 0.05)
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
    tables = guide_of(guided_plan(6, mutations), seed)
    assert p_value(mutations, tables, how) > 0.005
    logs = tables["guide_logs"]
    assert p_value(mutations, {**tables, "guide_logs": np.minimum(logs, 0)}, how) < 1e-6


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "seed", "how"), [(3, 2, FEW), pytest.param(5, 4, MANY, marks=pytest.mark.verification)]
)
def test_a_move_without_its_reverse_would_be_noticed(mutations: int, seed: int, how: Reads) -> None:
    """The control makes moves whose reverse the guide never proposes, as if it were the most frequent."""
    tables = guide_of(guided_plan(6, mutations), seed)
    logs = tables["guide_logs"]
    assert (logs < 0).any()
    assert p_value(mutations, {**tables, "guide_logs": np.where(logs < 0, logs.max(), logs)}, how) < 1e-6
