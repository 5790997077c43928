"""A score and a move added from outside the package work on every backend."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains.moves import MOVES
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import ChainState
from syclade.quality.oracle.trees import all_trees
from tests.support.additions.tempered import TEMPERED
from tests.support.additions.with_parent import WITH_PARENT
from tests.support.backends import GPU, NUMPY, Backend, Case
from tests.support.same_bits import Chains, check, on_encodings, with_rows

CASES = {"small": Case(8, 13, gamma=0.3), "missing": Case(20, 33, kind="missing", gamma=0.3)}
WIDE = Case(12, 900, gamma=0.01)
TEMPERS = (256, 100, 700)
KIND = len([kind for move in MOVES for kind in move.kinds])
"""Kind of the added move in the tallies, after those of the package's moves."""


def plan_of(case: Case) -> Plan:
    return case.plan(moves=(*MOVES, WITH_PARENT), move_probabilities=(0.3, 0.1, 0.2, 0.4), score=TEMPERED)


def tempered_start(plan: Plan, seed: int, chain: int, temper: int) -> ChainState:
    """Return the initial state of a chain with its own setting."""
    state, settings = initial_state(plan, seed, chain), {"temper": temper}
    score = plan.score.of(plan.problem, state.parents, state.rates, settings)
    return replace(state, score=score, best_score=score, settings=settings)


def usual_start(plan: Plan, seed: int, chain: int) -> ChainState:
    return tempered_start(plan, seed, chain, TEMPERS[chain % 3])


def row(name: str, case: Case) -> Chains:
    """Return a row, whose kernels have to be compiled.

    `make test` does so for the small case alone, on ancestor matrices: in preorder it takes 14 s.
    """
    places = [
        (backend, usual and (backend.device == "numpy" or (name, backend.encoding) == ("small", "ancestor")))
        for backend, usual in on_encodings("preorder", "ancestor", native=False)
        if backend != Backend(GPU, "general")  # which runs kernels of the package
    ]
    stops = range(1, 120, 7 if name == "wide" else 1)
    return Chains(
        f"tempered, {name}", lambda: plan_of(case), places, seed=case.seed, stops=stops, start=usual_start
    )


ROWS = {name: row(name, case) for name, case in {**CASES, "wide": WIDE}.items()}


@with_rows(list(ROWS.values()))
def test_every_backend_gives_the_same_bits(row: Chains, backend: Backend) -> None:
    check(row, backend)


@pytest.mark.parametrize("name", CASES)
def test_the_move_exchanges_a_node_with_its_parent(name: str) -> None:
    steps = [one for all_seen in ROWS[name].expected.at.values() for one in all_seen]
    accepted = len(ROWS[name].plan.kinds) + KIND
    found = 0
    for last, step in zip(steps, steps[len(TEMPERS) :], strict=False):
        if step.tallies[accepted] > last.tallies[accepted]:
            assert_exchanged_with_parent(last.state.parents, step.state.parents)
            found += 1
    assert found > 30


def assert_exchanged_with_parent(old: NDArray[np.int32], new: NDArray[np.int32]) -> None:
    """Check that the new tree is the old one with the labels of a node and its non-root parent exchanged."""
    root = len(old) - 1
    ways = []
    for node, parent in enumerate(old[:-1].tolist()):
        if parent != root:
            label = np.arange(root + 1)
            label[[node, parent]] = parent, node
            exchanged = np.empty_like(old)
            exchanged[label] = label[old]
            ways.append(exchanged.tolist())
    assert new.tolist() in ways


# ---- the chain samples the tempered posterior

SAMPLED = Case(4, 6, gamma=1.0)
CHAINS, BURN_IN, READS, THINNING = 400, 300, 8, 60


def posterior(plan: Plan, temper: int) -> NDArray[np.float64]:
    """Return the probabilities of all trees, in the order of `all_trees`, float64."""
    problem = plan.problem
    scores = [
        plan.score.of(problem, np.array(tree, np.int32), problem.rates, {"temper": temper})
        for tree in all_trees(SAMPLED.n)
    ]
    weight = np.exp((np.array(scores) - max(scores)) * plan.gamma / 2.0**problem.scale_bits)
    return np.asarray(weight / weight.sum())


def visits(plan: Plan, temper: int) -> NDArray[np.int64]:
    number = {tree: index for index, tree in enumerate(all_trees(SAMPLED.n))}
    counts = np.zeros(len(number), np.int64)
    with NUMPY.runner(plan, CHAINS, 3) as runner:
        runner.put_all([tempered_start(plan, 3, chain, temper) for chain in range(CHAINS)])
        for read in range(READS):
            runner.advance(np.full(CHAINS, BURN_IN + read * THINNING))
            for tree in runner.read_all("parent").tolist():
                counts[number[tuple(tree)]] += 1
    return counts


@pytest.mark.statistical
def test_the_chain_samples_what_the_score_says() -> None:
    """The check also rejects the posterior of another setting."""
    plan, temper = plan_of(SAMPLED), 100
    found = visits(plan, temper)

    def p_value(expected: NDArray[np.float64]) -> float:
        often = expected * found.sum() >= 5
        counted, wanted = found[often], expected[often] * found.sum()
        rest = found.sum() - counted.sum(), found.sum() - wanted.sum()
        if rest[1] > 1e-9:
            counted, wanted = np.append(counted, rest[0]), np.append(wanted, rest[1])
        return float(stats.chisquare(counted, wanted * counted.sum() / wanted.sum()).pvalue)

    assert p_value(posterior(plan, temper)) > 0.01
    assert p_value(posterior(plan, 130)) < 1e-4
