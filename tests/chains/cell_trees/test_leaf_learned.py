"""Cell trees with learned error rates: the oracle's chain on every backend, step by step and bit by bit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pytest

from syclade.host.chains.backends import Runner
from syclade.host.chains.kernel import log_tables
from syclade.host.chains.plan import Plan
from syclade.host.chains.recorders import Event, every
from syclade.host.chains.starts import initial_state
from syclade.host.data.model.rate_model import Places
from syclade.quality.oracle.acceptance import Tables, accepts
from syclade.quality.oracle.draws import Words4, step_words
from syclade.quality.oracle.leaf import Clades, clades_below, leaf_proposal, leaf_score
from syclade.quality.posterior.learned_target import walked
from tests.support.backends import Seen, assert_equal_chains, assert_scores_are_right, seen
from tests.support.leaf import LEAF_BACKENDS, LEAF_NUMPY, LeafBackend, LeafCase, marked

STEPS = 150
CASES = [
    LeafCase(9, 8, gamma=0.3),
    LeafCase(6, 5, "zygosity", seed=2**63),
    LeafCase(1, 3),
]
LARGE = [LeafCase(33, 65, gamma=0.3), LeafCase(300, 20, "zygosity", gamma=0.3)]


BOTH = 0.2
"""Probability of jumps of the second rate; None for the chains that learn the first alone."""


def learned(case: LeafCase, learn_fp: float | None, recorders: int = 0) -> Plan:
    chosen = (every(recorders),) if recorders else ()
    return case.plan(learn_fn=0.25, learn_fp=learn_fp, recorders=chosen, events=8)


def on_backends_with(*cases: LeafCase) -> pytest.MarkDecorator:
    """Parametrise with backends, cases and rates.

    The package has native kernels of the first rate alone, without zygosity; `make verify` compiles others.
    """

    def is_at_hand(backend: LeafBackend, case: LeafCase, learn_fp: float | None) -> bool:
        return backend.general and case.kind != "zygosity" and learn_fp is None

    return pytest.mark.parametrize(
        ("backend", "case", "learn_fp"),
        [
            pytest.param(
                *one.values,
                learn_fp,
                id=f"{one.id}-{case.kind}-{'both' if learn_fp else 'fn'}",
                marks=[*one.marks, *([pytest.mark.verification] if apart else [])],
            )
            for case in cases
            for backend in (*LEAF_BACKENDS, LEAF_NUMPY)
            for learn_fp in ((BOTH, None) if backend.device == "native" else (BOTH,))
            for one in [marked(backend, case)]
            for apart in [backend.device == "native" and not is_at_hand(backend, case, learn_fp)]
        ],
    )


@dataclass
class Oracle:
    """The chain by its definition; the tree is a set of clades, and every score is computed from scratch."""

    plan: Plan
    tree: Clades
    places: Places
    score: int
    jumps: list[int] = field(default_factory=lambda: [0, 0])

    def score_of(self, tree: Clades, places: Places) -> int:
        problem = self.plan.problem
        tables = problem.rate_tables
        weights = np.array(tables.weights(places), dtype=np.int64)
        rows = weights[problem.observed[:, problem.column_of].T].tolist()
        return leaf_score(tree, rows) + tables.worth(places)

    def step(self, parents: list[int], words: Words4, logs: Tables) -> None:
        """Take a step; only the random words refer to nodes by number, which `parents` gives."""
        cut, tree_moves = self.plan.move_below[:2]
        tree, places = self.tree, self.places
        if words[0] >> 16 < tree_moves:
            tree = leaf_proposal(parents, words, cut)[1]
        else:
            rate = int(words[0] >> 16 >= self.plan.move_below[2])
            model = self.plan.problem.rate_tables.model
            length = int(model.jumps[rate][words[2] >> 24])
            way = -1 if (words[2] >> 23) & 1 else 1
            point = walked(places[rate], way, length, model.points[rate])
            places = (point, places[1], 0) if rate == 0 else (places[0], point, 0)
            self.jumps[rate] += 1
        score = self.score_of(tree, places)
        if accepts(score - self.score, (1, 1), words[3], logs):
            self.tree, self.places, self.score = tree, places, score


def begun(runner: Runner, plan: Plan, chains: int, seed: int) -> Runner:
    for chain in range(chains):
        runner.put(chain, initial_state(plan, seed, chain))
    return runner


@on_backends_with(*CASES)
def test_every_step_is_the_oracles(backend: LeafBackend, case: LeafCase, learn_fp: float | None) -> None:
    plan = learned(case, learn_fp)
    made = log_tables(plan.labels, plan.problem.unit, plan.gamma)
    logs = Tables(tuple(made.log_table.tolist()), tuple(made.log_sizes.tolist()))
    with backend.runner(plan, 1, case.seed) as runner:
        begun(runner, plan, 1, case.seed)
        before = seen(runner, 0).state
        first = frozenset(clades_below(before.parents.tolist()))
        oracle = Oracle(plan, first, before.rate_at, before.score)
        assert before.score == oracle.score_of(first, before.rate_at)
        for step in range(STEPS):
            oracle.step(before.parents.tolist(), step_words(case.seed, 0, step), logs)
            runner.advance(np.array([step + 1]))
            after = seen(runner, 0).state
            assert frozenset(clades_below(after.parents.tolist())) == oracle.tree
            assert (after.score, after.rate_at) == (oracle.score, oracle.places)
            assert after.best_score == max(before.best_score, after.score)
            before = after
        best = frozenset(clades_below(before.best_parents.tolist()))
        assert oracle.score_of(best, before.best_rate_at) == before.best_score
    assert min(oracle.jumps[: 2 if learn_fp else 1]) > 10


@cache
def of_numpy(case: LeafCase, learn_fp: float | None) -> list[list[Seen]]:
    return _seen_at_stops(LEAF_NUMPY, case, learn_fp)


def _seen_at_stops(backend: LeafBackend, case: LeafCase, learn_fp: float | None) -> list[list[Seen]]:
    plan = learned(case, learn_fp)
    found: list[list[Seen]] = []
    with backend.runner(plan, 3, case.seed) as runner:
        begun(runner, plan, 3, case.seed)
        for stop in (1, 9, 80, 300):
            runner.advance(np.full(3, stop))
            found.append([seen(runner, chain) for chain in range(3)])
            for one in found[-1]:
                assert_scores_are_right(plan, one.state)
    return found


@on_backends_with(*LARGE)
def test_large_trees_are_those_of_numpy(backend: LeafBackend, case: LeafCase, learn_fp: float | None) -> None:
    numpys = of_numpy(case, learn_fp)
    for ours, theirs in zip(_seen_at_stops(backend, case, learn_fp), numpys, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert_equal_chains(one, other)


@on_backends_with(CASES[0])
def test_events_tell_the_rates(backend: LeafBackend, case: LeafCase, learn_fp: float | None) -> None:
    plan = learned(case, learn_fp, recorders=7)
    found: dict[tuple[int, int], Event] = {}
    with backend.runner(plan, 2, case.seed) as runner:
        begun(runner, plan, 2, case.seed)
        reached = False
        while not reached:
            advanced = runner.advance(np.full(2, STEPS))
            reached = bool((advanced.steps == STEPS).all())
            found |= {(event.chain, event.step): event for event in advanced.events}
    assert set(found) == {(chain, step) for chain in range(2) for step in range(7, STEPS + 1, 7)}
    for event in found.values():
        assert plan.score_of(event.parents, rate_at=event.rate_at) == event.score
    assert len({event.rate_at for event in found.values()}) > 20
