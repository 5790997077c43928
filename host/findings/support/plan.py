"""Chains that sample trees for support: their steps, score, moves and rates."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.moves import GUIDED_MOVES, MOVES
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import (
    grouped,
    problem_of_groups,
)
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rates import ObservationModel, error_rates
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.findings.support.guiding import GUIDED_PROBABILITIES, MOST_GUIDED
from syclade.host.findings.support.rounds import Budget, budget_for
from syclade.host.findings.support.silent import Silent, silent_in
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.options.types import SHARED_DROPOUT

__all__ = ["SupportPlan", "make_support_plan", "plan_of_chains"]

EVENTS = 256
"""Length of a slot's ring of events."""


class SupportPlan(NamedTuple):
    """Chains that sample trees for support.

    Attributes:
        level: quick or full.
        budget: their steps.
        plan: their plan, of the mutations that are not silent.
        problem: the problem of all mutations, in the unit of the chains' scores.
        silent: mutations that the chains leave out.
        rates: the error rates, or the levels of evidence.
        guided: whether the chains have guided moves.
        dropout: auto, shared or per-mutation: whether mutations may have rates of their own.
        groups: int64: group of each mutation of the chains. Those of one group have one rate of false
            negatives, which the chains sample, too; None for the rate of `rates`.
    """

    level: str
    budget: Budget
    plan: Plan
    problem: Problem
    silent: Silent
    rates: ObservationModel
    guided: bool
    dropout: str = SHARED_DROPOUT
    groups: NDArray[np.int64] | None = None

    @property
    def shares(self) -> bool:
        """Return whether nodes have shares of the cells, which the chains sample, too."""
        return self.plan.score.shares

    def under(self, found: dict[str, float], matrix: Matrix) -> SupportPlan:
        """Return the same for other rates, by their names.

        Rates that were estimated from one tree are too low where errors are many: the tree is fitted to them.
        """
        given = error_rates(self.rates)
        rates = replace(
            given,
            fp_rate=found.get("fp_rate", given.fp_rate),
            fn_rate=found.get("fn_rate", given.fn_rate),
        )
        return make_support_plan(
            self.level, matrix, rates, None, self.dropout, unplaced=self.silent.mutations
        )

    def with_dropout(self, matrix: Matrix, rates: NDArray[np.float64]) -> SupportPlan:
        """Return the same with a rate of false negatives for each mutation.

        Args:
            matrix: the matrix.
            rates: float64, shape (n,): first estimates, for groups of mutations where they are many.

        Raises:
            MatrixError: the matrix is too large for the score.
        """
        groups = grouped(rates[self.silent.others])
        problem = problem_of_groups(self.silent.of_matrix(matrix), error_rates(self.rates), groups)
        plan = plan_of_chains(problem, ScoreOptions("shares", None), self.budget, guided=self.guided)
        whole = replace(self.problem, scale_bits=problem.scale_bits)
        return self._replace(plan=plan, problem=whole, groups=groups)


def make_support_plan(
    level: str,
    matrix: Matrix,
    rates: ObservationModel,
    doublets: float | None,
    dropout: str = SHARED_DROPOUT,
    *,
    unplaced: Unplaced | None = None,
) -> SupportPlan:
    """Return the chains for a matrix.

    Args:
        level: quick or full.
        matrix, rates: the matrix, and its error rates.
        doublets: rate of doublets; None for a model without.
        dropout: as in `SupportPlan`; rates of mutations need a model without doublets and zygosity.
        unplaced: mutations of which the matrix says nothing: the chains leave them out.

    Raises:
        MatrixError: the matrix is too large for the score.
    """
    score = ScoreOptions("shares", doublets)
    silent = silent_in(unplaced or Unplaced(), matrix.n_mutations)
    whole = make_problem(matrix, rates, octaves=score.octaves)
    problem = make_problem(silent.of_matrix(matrix), rates, octaves=score.octaves) if silent else whole
    whole = replace(whole, scale_bits=problem.scale_bits, rate_tables=problem.rate_tables)
    budget = budget_for(level, problem.mutations, problem.columns, doublets=doublets is not None)
    guided = doublets is None and problem.mutations <= MOST_GUIDED
    plan = plan_of_chains(problem, score, budget, guided=guided)
    return SupportPlan(level, budget, plan, whole, silent, rates, guided, dropout)


def plan_of_chains(problem: Problem, score: ScoreOptions, budget: Budget, *, guided: bool) -> Plan:
    """Return the plan of chains that sample trees in rounds.

    Args:
        problem: the problem.
        score: score of the samples.
        budget: steps of the rounds.
        guided: whether the chains have guided moves.
    """
    return make_plan(
        problem,
        moves=GUIDED_MOVES if guided else MOVES,
        move_probabilities=GUIDED_PROBABILITIES if guided else MUTATION.move_probabilities,
        score=score_named(score.name, problem, score.doublets),
        recorders=(budget.sampling_of_first.recorder,),
        events=EVENTS,
        space=space_of(score),
    )
