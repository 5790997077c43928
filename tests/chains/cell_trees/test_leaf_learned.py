"""Cell trees with learned error rates: the oracle's chain, step by step and bit by bit."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from syclade.host.chains.plan import Plan, log_tables
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.data.model.rate_model import Places
from syclade.quality.oracle.acceptance import Tables, accepts
from syclade.quality.oracle.draws import Words4, step_words
from syclade.quality.oracle.leaf import Clades, clades_below, leaf_proposal, leaf_score
from syclade.quality.posterior.learned_target import walked
from tests.suites.rows.cell_trees import BOTH, LEARNED, learned_row

STEPS = 150


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


@pytest.mark.parametrize("learn_fp", [BOTH, None], ids=["both", "FN"])
@pytest.mark.parametrize("name", LEARNED)
def test_every_step_is_the_oracles(name: str, learn_fp: float | None) -> None:
    """All backends have these bits."""
    case, row = LEARNED[name], learned_row(name, LEARNED[name], learn_fp)
    plan = row.plan
    made = log_tables(plan.labels, plan.problem.unit, plan.gamma)
    logs = Tables(tuple(made.log_table.tolist()), tuple(made.log_sizes.tolist()))
    before = initial_state(plan, case.seed, 0)
    first = frozenset(clades_below(before.parents.tolist()))
    oracle = Oracle(plan, first, before.rate_at, before.score)
    assert before.score == oracle.score_of(first, before.rate_at)
    for step in range(STEPS):
        oracle.step(before.parents.tolist(), step_words(case.seed, 0, step), logs)
        after = row.expected.at[step + 1][0].state
        assert frozenset(clades_below(after.parents.tolist())) == oracle.tree
        assert (after.score, after.rate_at) == (oracle.score, oracle.places)
        assert after.best_score == max(before.best_score, after.score)
        before = after
    best = frozenset(clades_below(before.best_parents.tolist()))
    assert oracle.score_of(best, before.best_rate_at) == before.best_score
    assert min(oracle.jumps[: 2 if learn_fp else 1]) > 10
