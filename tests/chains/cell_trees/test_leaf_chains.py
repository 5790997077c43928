"""Chains of cell trees: the oracle's at every step, however they run, and their posterior."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains.backends import Runner
from syclade.host.chains.checkpoints.chains import Checkpoint, read_checkpoint, write_checkpoint
from syclade.host.chains.plan import Plan, log_tables
from syclade.host.chains.runs.pipeline import initial_state, run_chains
from syclade.host.chains.state import ChainInfo
from syclade.host.data.trees.cells import validate_leaf_parents
from syclade.host.ground.errors import CheckpointError
from syclade.quality.oracle.acceptance import Tables
from syclade.quality.oracle.draws import step_words
from syclade.quality.oracle.leaf import Clades, all_leaf_trees, clades_below, leaf_score, leaf_step
from tests.suites.rows.cell_trees import SMALL, by_step
from tests.support.backends import (
    NUMPY,
    Backend,
    assert_equal_chains,
    assert_scores_are_right,
    runs_here,
    seen,
    with_rates,
)
from tests.support.leaf import OWN_BACKENDS, LeafCase, on_every_own_backend


def begun(backend_runner: Runner, plan: Plan, chains: int, seed: int) -> None:
    for chain in range(chains):
        backend_runner.put(chain, initial_state(plan, seed, chain))


def oracle_logs(plan: Plan) -> Tables:
    made = log_tables(plan.labels, plan.problem.unit, plan.gamma)
    return Tables(tuple(made.log_table.tolist()), tuple(made.log_sizes.tolist()))


def tree_of(parents: NDArray[np.int32]) -> Clades:
    return frozenset(clades_below(parents.tolist()))


@pytest.mark.parametrize("name", SMALL)
def test_every_step_is_the_oracles(name: str) -> None:
    """All backends have these bits."""
    case, run = SMALL[name], by_step(name).expected
    plan = by_step(name).plan
    rows, logs = case.problem().cell_rows().tolist(), oracle_logs(plan)
    kinds: Counter[int] = Counter()
    before, tallies = initial_state(plan, case.seed, 0), np.zeros((2, 3), dtype=np.int64)
    for step in range(60):
        found = run.at[step + 1][0]
        after = found.state
        validate_leaf_parents(after.parents)
        words = step_words(case.seed, 0, step)
        wanted = leaf_step(before.parents.tolist(), rows, words, plan.move_below[0], logs)
        tree = wanted.proposed if wanted.accepted else tree_of(before.parents)
        assert tree_of(after.parents) == tree
        assert after.score == (wanted.score if wanted.accepted else before.score)
        assert after.best_score == max(before.best_score, after.score)
        counted = found.tallies.reshape(2, 3) - tallies
        assert counted[:, wanted.kind].tolist() == [1, int(wanted.accepted)]
        assert counted.sum() == 1 + wanted.accepted
        kinds[wanted.kind] += 1
        before, tallies = after, found.tallies.reshape(2, 3)
    assert leaf_score(tree_of(before.best_parents), rows) == before.best_score
    assert kinds[0] > 10 or case.moves[0] == 0
    assert kinds[1] > 10 or case.moves[1] == 0


# ---- slots, launches, devices and checkpoints


@on_every_own_backend
def test_slots_and_launches_do_not_matter(backend: Backend) -> None:
    case = LeafCase(9, 8, gamma=0.3)
    plan = case.plan()
    with NUMPY.runner(plan, 5, 3) as runner:
        expected = run_chains(runner, chains=5, steps=70)
    for slots in (1, 3):
        with backend.runner(plan, slots, 3) as runner:
            outcome = run_chains(runner, chains=5, steps=70)
        assert outcome.best_scores.tolist() == expected.best_scores.tolist()
        assert outcome.tallies.tolist() == expected.tallies.tolist()
        np.testing.assert_array_equal(outcome.best.best_parents, expected.best.best_parents)


@pytest.mark.sycl
@pytest.mark.parametrize("own", [False, pytest.param(True, marks=pytest.mark.verification)])
def test_a_chain_moves_between_devices_and_takes_other_rates(own: bool) -> None:
    """Move the chain to every backend in turn, into a slot whose cached state belongs to another chain.

    Numba compiles this processor's kernel for the sizes of the case (`own`) in 16 s.
    """
    case = LeafCase(9, 8, gamma=0.3)
    plan = case.plan()
    lighter = replace(plan.problem.rates, weights=tuple(weight // 2 for weight in plan.problem.rates.weights))
    found = []
    backends = [*OWN_BACKENDS, *([Backend("native", "own")] if own else [])]
    here = [one for one in backends if runs_here(one)]
    for turns in ([NUMPY] * len(here), here):
        state, info = with_rates(plan, initial_state(plan, 1, 2), lighter), None
        for turn, backend in enumerate(turns, 1):
            with backend.runner(plan, 2, 1) as runner:
                runner.put(1, initial_state(plan, 1, 0))
                runner.advance(np.array([0, 3]))
                runner.put(1, state, info)
                runner.advance(np.array([0, 40 * turn]))
                chain = seen(runner, 1)
                assert_scores_are_right(plan, chain.state)
                state, info = chain.state, chain.info
        found.append(chain)
    assert_equal_chains(*found)


@pytest.mark.parametrize("weight", [2**30, -(2**40)])
def test_a_checkpoint_with_weights_that_do_not_fit_is_damaged(tmp_path: Path, weight: int) -> None:
    plan = LeafCase(9, 8).plan()
    start = initial_state(plan, 1, 0)
    heavy = replace(start, rates=replace(start.rates, weights=(weight, *start.rates.weights[1:])))
    info = ChainInfo(np.zeros(2 * len(plan.kinds), dtype=np.int64))
    write_checkpoint(tmp_path / "kept", plan, Checkpoint(1, ((heavy, info),), {}))
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(tmp_path / "kept", plan, 1)


def test_a_checkpoint_goes_on(tmp_path: object) -> None:
    from pathlib import Path

    case, file = LeafCase(9, 8), Path(str(tmp_path)) / "kept"
    plan = case.plan()
    with NUMPY.runner(plan, 1, 1) as runner:
        begun(runner, plan, 1, 1)
        runner.advance(np.array([30]))
        chain = seen(runner, 0)
        write_checkpoint(file, plan, Checkpoint(1, ((chain.state, chain.info),), {}))
        runner.advance(np.array([80]))
        expected = seen(runner, 0)
    ((state, info),) = read_checkpoint(file, case.plan(), 1).chains
    with NUMPY.runner(plan, 1, 1) as runner:
        runner.put(0, state, info)
        runner.advance(np.array([80]))
        assert_equal_chains(seen(runner, 0), expected)


# ---- sampled distribution

SAMPLED = LeafCase(8, 4, gamma=0.5)
CHAINS, READS, THINNING, BURN_IN = 128, 100, 25, 400


def posterior(gamma: float) -> dict[Clades, float]:
    problem = SAMPLED.problem()
    rows = problem.cell_rows().tolist()
    worth = {tree: np.exp(gamma * problem.to_nats(leaf_score(tree, rows))) for tree in all_leaf_trees(4)}
    total = sum(worth.values())
    return {tree: float(one / total) for tree, one in worth.items()}


@pytest.mark.statistical
def test_the_chain_samples_its_posterior() -> None:
    """Check also that another exponent, or a uniform distribution, would be detected."""
    plan = SAMPLED.plan()
    counts: Counter[Clades] = Counter()
    with Backend("native", "general").runner(plan, CHAINS, 7) as runner:
        runner.put_all([initial_state(plan, 7, chain) for chain in range(CHAINS)])
        for read in range(READS):
            runner.advance(np.full(CHAINS, BURN_IN + read * THINNING))
            for parents in runner.read_all("parent").tolist():
                counts[frozenset(clades_below(parents[:7]))] += 1

    def p_value(expected: dict[Clades, float]) -> float:
        trees = list(expected)
        wanted = np.array([expected[tree] for tree in trees]) * CHAINS * READS
        assert wanted.min() > 5
        return float(stats.chisquare([counts[tree] for tree in trees], wanted).pvalue)

    assert set(counts) == set(posterior(0.5))
    assert p_value(posterior(0.5)) > 0.01
    assert p_value(posterior(0.6)) < 1e-4
    assert p_value(dict.fromkeys(counts, 1 / len(counts))) < 1e-4
