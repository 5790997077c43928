"""Chains that learn their error rates, step by step, from the definitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import Places, make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.quality.oracle import chain as oracle
from syclade.quality.oracle.acceptance import exponential
from syclade.quality.oracle.draws import step_words
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector
from syclade.quality.posterior.learned_target import walked
from tests.support.backends import Case, oracle_tables


def learned_plan(case: Case, *, score: str = "max", fn: bool = True, fp: bool = True) -> Plan:
    """Return the plan of a case with learned rates."""
    rates = Rates(0.02, 0.2, 0.25, 0.005) if case.kind == "zygosity" else Rates(0.02, 0.2)
    model = make_rate_model(
        rates, learn_fn=0.3 if fn else None, learn_fp=0.2 if fp else None, fp_step=0.005 if fp else None
    )
    problem = make_problem(matrix_from_array(case.values), rates, octaves=score == "sum", model=model)
    return make_plan(
        problem, gamma=case.gamma, move_probabilities=case.moves, score=score_named(score, problem)
    )


@dataclass
class Learning:
    """State of a chain between two steps.

    Attributes:
        tree, score, places: the current ones; places are the grid points of the rates.
        best, best_score, best_places: those of the first best state.
        jumps: counts: proposed for each rate, then accepted for each rate.
    """

    tree: ParentVector
    score: int
    places: Places
    best: ParentVector
    best_score: int
    best_places: Places
    jumps: list[int]

    def take(self, score: int) -> None:
        """Set the score of a new state, and update the best one."""
        self.score = score
        if score > self.best_score:
            self.best, self.best_score, self.best_places = self.tree, score, self.places


def oracle_chain(plan: Plan, case: Case, chain: int, steps: int) -> list[Learning]:
    """Return the chain after each step, with the maximum score; every score is from the definition."""
    learned = plan.problem.rate_tables.model
    first = initial_state(plan, case.seed, chain)
    tree = tuple(first.parents.tolist())
    at = Learning(tree, first.score, first.rate_at, tree, first.score, first.rate_at, [0, 0, 0, 0])
    ends, logs, found = plan.move_below[2:], oracle_tables(plan), []
    which = [rate for rate, points in enumerate(learned.points) if points > 1]
    for step in range(steps):
        words = step_words(case.seed, chain, step)
        move = sum(words[0] >> 16 >= end for end in ends)
        if move == 0:
            _tree_step(plan, case, chain, step, at)
        else:
            rate = which[move - 1]
            length = int(learned.jumps[rate][words[2] >> 24])
            way = -1 if (words[2] >> 23) & 1 else 1
            places = list(at.places)
            places[rate] = walked(places[rate], way, length, learned.points[rate])
            there = (places[0], places[1], places[2])
            proposed = plan.score_of(np.array(at.tree, dtype=np.int32), rate_at=there)
            at.jumps[rate] += 1
            if proposed - at.score + exponential(words[3], logs) >= 0:
                at.jumps[2 + rate] += 1
                at.places = there
                at.take(proposed)
        found.append(Learning(**{**vars(at), "jumps": list(at.jumps)}))
    return found


def _tree_step(plan: Plan, case: Case, chain: int, step: int, at: Learning) -> None:
    """Take a tree step with the rates fixed at their grid points; the prior and the base have no effect."""
    tables = plan.problem.rate_tables
    by_value = dict(zip(plan.problem.values, tables.weights(at.places), strict=False))
    weights = (by_value.get(0, 0), by_value.get(1, 0), by_value.get(2, 0), 0)
    cuts = Cuts(*plan.move_below[:2])
    one = oracle.run(
        at.tree, case.values, weights, case.seed, chain, 1, cuts, oracle_tables(plan), first_step=step
    )
    at.tree = one.final
    at.take(one.steps[0].score + tables.worth(at.places))
