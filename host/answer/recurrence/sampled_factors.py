"""Bayes factors of recurrences with shares of the cells, by chains without a recurrence (docs/model.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.runs.evidence import Estimate, estimate_of
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.chains.share_draws import concentration_of
from syclade.host.chains.shares import sampled_nodes
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.copy_factors import SampledCells, log_ratios
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.data.model.recurrence_rates import OwnRates
from syclade.host.device.work import WorkDone
from syclade.host.findings.finding import BestTree
from syclade.host.findings.support.rounds import Budget
from syclade.host.findings.support.stage import Run, SupportPlan, make_support_plan, plan_of_chains, sample
from syclade.host.findings.unplaced import unplaced_in
from syclade.host.ground.signals import Stopped

__all__ = ["Sampled", "cells_of_states", "factors_of", "sample_without"]

_STEPS: Final = 32
"""Most steps of the chains for each step of a chain with a copy."""

_SAMPLES: Final = 256
"""Most samples whose ratios are taken. Those of one chain depend on each other, and far fewer would do."""


class Sampled(NamedTuple):
    """Samples of trees without a recurrence.

    Attributes:
        cells: the trees, and the nodes of the cells.
        chains: int64, shape (samples,): number of the chain of each sample.
    """

    cells: SampledCells
    chains: NDArray[np.int64]


def sample_without(
    best: BestTree, rates: Rates, own: OwnRates | None, steps: int, run: Run, work: list[WorkDone]
) -> Sampled:
    """Sample trees without a recurrence, with shares of the cells.

    Args:
        best: the best tree without a recurrence, from which the chains start.
        rates: the error rates.
        own: rates of false negatives of all mutations; None for one rate.
        steps: steps of a chain with a copy, which limit those of the chains.
        run: where the chains run, and how.
        work: the work is added to it.

    Raises:
        Stopped: a stop was requested.
        MatrixError: the matrix is too large for the score of the chains.
    """
    planned = _limited(make_support_plan("quick", best.observed, rates, None), steps)
    if own is not None:
        planned = planned.with_dropout(best.observed, own.of_mutations)
    rounds, found = sample(
        planned, best.parents, [best.parents], best.mutations, run, unplaced_in(best.observed)
    )
    work += found.work
    if found.interrupted or rounds.judged is None:
        raise Stopped
    return cells_of_states(planned.plan.problem, rounds.judged.shared, run.seed)


def _limited(planned: SupportPlan, steps: int) -> SupportPlan:
    """Return the chains with fewer steps if those of the options are few."""
    budget, most = planned.budget, max(2, _STEPS * steps)
    if budget.most <= most:
        return planned
    samples = min(budget.samples, 1 << (most.bit_length() - 2))
    first = samples * max(1, min(budget.first, most // 2) // samples)
    doublings = max(1, min(budget.doublings, (most // first).bit_length() - 1))
    fewer = Budget(samples, first, doublings, min(budget.spacing, max(1, samples // 8)))
    plan = plan_of_chains(planned.plan.problem, ScoreOptions("shares", None), fewer, guided=planned.guided)
    return planned._replace(budget=fewer, plan=plan)


def cells_of_states(problem: Problem, states: Sequence[ChainState], seed: int) -> Sampled:
    """Return some states with drawn nodes of their cells, in the order of the matrix."""
    some = [states[at] for at in np.unique(np.linspace(0, len(states) - 1, _SAMPLES).round().astype(int))]
    order = np.argsort(problem.column_of, kind="stable")  # of the cells in `cells_by_column`
    nodes = np.empty((len(some), len(order)), dtype=np.int64)
    concentrations = np.empty(len(some))
    for at, state in enumerate(some):
        nodes[at, order] = sampled_nodes(problem, state, seed)
        concentrations[at] = concentration_of(problem, state, nodes[at], seed)
    trees = np.array([state.parents for state in some], dtype=np.int32)
    return Sampled(SampledCells(trees, nodes, concentrations), np.array([state.chain for state in some]))


def factors_of(
    sampled: Sampled, observed: Matrix, rates: Rates, own: OwnRates | None, mutations: Sequence[int]
) -> list[Estimate]:
    """Return the log of each mutation's Bayes factor; its error is by a jackknife over the chains.

    Args:
        sampled: from `sample_without`.
        observed: the matrix.
        rates, own: as for `sample_without`.
        mutations: numbers of the mutations.
    """
    values, found = scored_values(observed, rates), []
    numbers = np.unique(sampled.chains)
    tables = rates.log_table()[None] if own is None else own.log_tables()
    for mutation in mutations:
        ratios = log_ratios(sampled.cells, mutation, values[mutation], tables)
        of_chains = [ratios[sampled.chains == chain] for chain in numbers]
        found.append(estimate_of(np.array([[np.logaddexp.reduce(of) - np.log(len(of))] for of in of_chains])))
    return found
