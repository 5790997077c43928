"""Bayes factors of recurrences with shares of the cells, from samples of trees without one (docs/model.md).

A sample is a tree, the node of each cell and the concentrations of the shares. A mutation K is taken out of
the tree, and the cells of its node go to the parent. Given these, the sum over all places of K, and that over
all pairs of places of K and its copy, follow exactly from how often K is observed in the cells of each node:
by one pass over the tree. The mean of the ratio of both sums over samples is the Bayes factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.recurrence.chains import Estimate, estimate_of
from syclade.host.chains.gibbs import sampled_nodes
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.chains.shares import Concentrations, draw_concentration, generator_of, uniform_numbers
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.data.model.recurrence_rates import OwnRates
from syclade.host.data.trees.tree import depths_of_trees
from syclade.host.device.work import WorkDone
from syclade.host.findings.finding import BestTree
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.support.plan import SupportPlan, make_support_plan, plan_of_chains
from syclade.host.findings.support.stage import Run, sample
from syclade.host.findings.unplaced import unplaced_in
from syclade.host.ground.signals import Stopped

__all__ = ["Sampled", "SampledCells", "cells_of_states", "factors_of", "log_ratios", "sample_without"]


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
    planned = planned._replace(dominant=False)  # a place of the mutation has the concentration of any node
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
    concentrations = np.empty((len(some), 2))
    nodes[:, order] = sampled_nodes(problem, some, seed)
    for at, state in enumerate(some):
        drawn = _concentrations(problem, state, nodes[at], seed)
        concentrations[at] = drawn.node, drawn.root
    trees = np.array([state.parents for state in some], dtype=np.int32)
    return Sampled(SampledCells(trees, nodes, concentrations), np.array([state.chain for state in some]))


def _concentrations(
    problem: Problem, state: ChainState, nodes: NDArray[np.int64], seed: int
) -> Concentrations:
    """Return concentrations of a state, drawn given the node of each cell; no node is dominant."""
    counts = np.bincount(nodes, minlength=problem.nodes)
    return draw_concentration(counts, float(uniform_numbers(generator_of(state, seed, 2), 1)[0]))


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


_POINTS: Final = 48
"""Points of the integral over how the cells of a node divide at a place of the mutation: exact for up to 95
cells, and nearly for more, as the integrand is smooth."""

_TWO_LABELS: Final = math.log(2.0)
"""A copy and its mutation are alike, so each pair of places is two trees."""


class SampledCells(NamedTuple):
    """Samples of trees without a recurrence, with the nodes of the cells.

    Attributes:
        trees: int32, shape (samples, n + 1): parent vectors.
        nodes: int64, shape (samples, cells): the node of each cell.
        concentrations: float64, shape (samples, 2): those of the nodes and of the root.
    """

    trees: NDArray[np.int32]
    nodes: NDArray[np.int64]
    concentrations: NDArray[np.float64]


def log_ratios(
    samples: SampledCells, mutation: int, values: NDArray[np.uint8], tables: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log of the ratio of both sums in each sample, as a ratio of means over all trees.

    Args:
        samples: samples from the posterior of trees without a recurrence.
        mutation: number of the mutation.
        values: uint8, shape (cells,): its observed values.
        tables: float64, shape (rates, values, 2): logs of the probabilities of each value without and with
            the mutation, for equally probable rates.

    Returns:
        float64, shape (samples,).
    """
    n = samples.trees.shape[1] - 1
    trees, counts = _without(samples, mutation, values, tables.shape[1])
    sums = _sums_over_places(trees, counts, samples.concentrations, tables)
    # There are (n + 1)^(n - 1) trees without a copy, and (n - 1) (n + 2)^(n - 1) allowed ones with it.
    fewer = (n - 1) * math.log((n + 1) / (n + 2)) - math.log(n - 1)
    return np.asarray(sums[2] - sums[1] + (_TWO_LABELS + fewer))


def _without(
    samples: SampledCells, mutation: int, values: NDArray[np.uint8], classes: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the trees without a mutation, and how often each of its values is observed at each node.

    Returns:
        int32, shape (samples, n): parent vectors; int64, shape (samples, n, classes).
    """
    trees, count = samples.trees, samples.trees.shape[1]
    above = trees[:, mutation, None]
    left = np.delete(np.where(trees == mutation, above, trees), mutation, axis=1)
    nodes = np.where(samples.nodes == mutation, above, samples.nodes)
    nodes -= nodes > mutation
    row = np.arange(len(trees))[:, None]
    at = ((row * (count - 1) + nodes) * classes + values).ravel()
    counts = np.bincount(at, minlength=len(trees) * (count - 1) * classes)
    return (left - (left > mutation)).astype(np.int32), counts.reshape(len(trees), count - 1, classes)


def _sums_over_places(
    trees: NDArray[np.int32],
    counts: NDArray[np.int64],
    concentrations: NDArray[np.float64],
    tables: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the log of the sum over all trees with no, one and two places of the mutation: (3, samples).

    A place divides the cells of a node, and its children: each cell and each child has the mutation if it is
    on the other side. `of` has the sums over the subtree of a node, by whether its parent has the mutation,
    and by the number of places; `of_children` those over its children, each on either side of a place.
    """
    from scipy.special import gammaln

    samples, nodes = trees.shape
    row, own = np.arange(samples), concentrations[:, :1]
    alpha = np.repeat(own, nodes, axis=1)
    alpha[:, -1] = concentrations[:, 1]
    cells = counts.sum(axis=2)
    whole = (gammaln(cells + alpha) - gammaln(alpha))[..., None, None]
    of = np.full((samples, nodes, 2, 3, len(tables)), -np.inf)
    of[..., 0, :] = whole + np.einsum("suv,rvp->supr", counts.astype(np.float64), tables)
    divided = _divided(counts, alpha, own, tables)
    divided += (gammaln(cells + alpha + own) - gammaln(alpha + own))[..., None]
    of_children = np.zeros((samples, nodes, 2, len(tables)))
    of_children[:, :, 1] = -np.inf
    # The root comes last.
    order = np.argsort(-np.pad(depths_of_trees(trees), ((0, 0), (0, 1))), axis=1, kind="stable")
    for node in order.T:
        sums = of[row, node]
        for places in (1, 2):
            here = divided[row, node] + of_children[row, node, places - 1]
            sums[:, :, places] = np.logaddexp(sums[:, :, places], here[:, None])
        of[row, node] = sums
        if node[0] == nodes - 1:
            break
        parent = trees[row, node]
        of[row, parent] = _product(of[row, parent], sums, 2)
        either = np.logaddexp(sums[:, 0, :2], sums[:, 1, :2])
        of_children[row, parent] = _product(of_children[row, parent], either, 1)
    found = np.logaddexp.reduce(of[:, -1, 0], axis=2)
    total = cells.sum(axis=1)
    for places in range(3):
        all_nodes = concentrations[:, 1] + concentrations[:, 0] * (nodes - 1 + places)
        found[:, places] += gammaln(all_nodes) - gammaln(all_nodes + total)
    return np.asarray(found.T)


def _product(first: NDArray[np.float64], second: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the product of two sums by number of places, the last axis but one, up to a number of them."""
    made = np.empty_like(first)
    for places in range(most + 1):
        terms = [first[..., one, :] + second[..., places - one, :] for one in range(places + 1)]
        made[..., places, :] = np.logaddexp.reduce(terms, axis=0)
    return made


def _divided(
    counts: NDArray[np.int64],
    alpha: NDArray[np.float64],
    own: NDArray[np.float64],
    tables: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the log-likelihood of the values at each node if part of its cells have the mutation.

    The part has the Beta prior of a share that is divided: the place has a concentration of its own, and the
    node keeps that which it has.

    Args:
        counts: as `_without` returns them.
        alpha, own: concentrations of the nodes, (samples, nodes), and of a place, (samples, 1).
        tables: as in `log_ratios`.

    Returns:
        float64, (samples, nodes, rates).
    """
    samples, nodes, classes = counts.shape
    pairs = np.stack(np.broadcast_arrays(own, alpha), axis=2).reshape(-1, 2)
    kinds, kind_of = np.unique(pairs, axis=0, return_inverse=True)
    keys = np.column_stack((kind_of.ravel(), counts.reshape(-1, classes)))
    distinct, which = np.unique(keys, axis=0, return_inverse=True)
    found = np.empty((len(distinct), len(tables)))
    for kind, (of_place, of_node) in enumerate(kinds.tolist()):
        part, logs = _parts(of_place, of_node)
        here = distinct[:, 0] == kind
        for rate, (absent, present) in enumerate(np.exp(tables).transpose(0, 2, 1)):
            of_values = np.log(part[:, None] * present + (1.0 - part[:, None]) * absent)
            found[here, rate] = np.logaddexp.reduce(distinct[here, 1:] @ of_values.T + logs, axis=1)
    return np.asarray(found[which.ravel()].reshape(samples, nodes, -1))


@cache
def _parts(of_place: float, of_node: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points and logs of weights of the mean over the Beta of the part that a place has."""
    from scipy.special import roots_jacobi

    points, weights = roots_jacobi(_POINTS, of_node - 1.0, of_place - 1.0)
    return (points + 1.0) / 2.0, np.log(weights / weights.sum())
