"""Gibbs steps between launches: shares of cells at nodes, also with doublets, and rates of mutations.

Shares (docs/model.md, "Shares") are a part of a chain's state. P(a cell is at node v) = pi_v, and pi has a
Dirichlet prior, symmetric but for the root and a dominant node. A step draws the node of each cell given the
tree and pi, then the concentrations given the numbers of cells at the nodes (`shares.py`), then pi.
All draws are by numpy's counter-based generator, from the seed, the chain and its step. Logs of shares are
rounded to the integers of the score. So a chain is the same on every device.

Rates of false negatives of all mutations (`rate_draws.py`) are drawn as often as shares: a share and the rate
of a mutation hold each other, since a cell without the mutation may have missed it. Proposals that change
several of these together (`jump.py`) come after each draw.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import (
    NUMBERS_OF_PLACES,
    NUMBERS_OF_SWAPS,
    CellsAtNodes,
    of_labels,
    relabelled,
)
from syclade.host.chains.jump import NUMBERS, Proposals, accepts
from syclade.host.chains.native_cells import make_cells
from syclade.host.chains.plan import Plan
from syclade.host.chains.points import Points, Standing
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.scores.score import node_scores
from syclade.host.chains.shares import UniformNumbers, drawn_shapes, generator_of, log_shares_by
from syclade.host.chains.state import ChainState
from syclade.host.data.model.likelihood import fitted_shares
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = [
    "GibbsSteps", "draws_places", "highest_score", "renewal_steps", "sampled_counts", "sampled_nodes",
    "with_rates",
]  # fmt: skip

_MOST_SCORES = 2**18
"""Scores, of cells at nodes, in all draws of a Gibbs step, unless the fewest draws have more."""

_FEWEST_SWEEPS, _MOST_SWEEPS, _LARGE = 3, 8, 128
"""Draws of nodes and shares in a Gibbs step. Many cells at few nodes hold the shares fast, so that one draw
changes them little, while the tree seldom changes. With more mutations than `_LARGE`, the tree is slower than
the shares, and one draw is enough."""


_MOST_RELOCATED, _MANY_COLUMNS = 1024, 8
"""Most mutations whose places are drawn in Gibbs steps, since tables grow with their square; and distinct
columns per mutation from which they are not: so many cells hold a mutation where it is."""

_BLOCK = 2**11
"""Numbers of a chain that are drawn at once, unless more are taken."""

_LEAST_RENEWAL, _MOST_RENEWAL = 512, 16384
"""Limits of `renewal_steps`."""


def renewal_steps(problem: Problem) -> int:
    """Return the steps of a user's chain between two Gibbs steps, which grow with the tree.

    They depend on the problem alone, so that a chain is the same in any number of slots, and after a resume.
    """
    return max(_LEAST_RENEWAL, min(problem.nodes**2, _MOST_RENEWAL))


class GibbsSteps:
    """Gibbs steps of the shares of a plan's chains.

    The best tree of a chain remains the one with the highest score so far, at the shares of its time: scores
    are likelihoods, of trees and shares.

    Args:
        plan: the plan, whose score is that with shares.
        seed: seed of the run.
        rate_draws: draws of the rates of mutations, too; None for rates that stay.
        cells: what draws nodes; by default compiled code, or numpy where there is none.
        jumps: sources of proposals to change tree, shares and rates together, one of each after each draw.
        dominant: whether a node may have a concentration of its own (`shares.py`).
    """

    def __init__(
        self,
        plan: Plan,
        seed: int,
        rate_draws: RateDraws | None = None,
        cells: CellsAtNodes | None = None,
        *,
        jumps: Sequence[Proposals] = (),
        dominant: bool = True,
    ) -> None:
        self._jumps = jumps
        self._plan, self._seed, self._rate_draws, self._cells = plan, seed, rate_draws, cells
        self._dominant = dominant

    def __call__(self, states: Sequence[ChainState]) -> list[ChainState]:
        """Return states with shares after a Gibbs step of each."""
        if self._cells is None:
            problem = self._plan.problem
            self._cells = make_cells(problem, len(states), self._plan.settings["sum_spare"])
        groups = _groups(states, self._cells)
        return [state for group in groups for state in self._renewed(group, self._cells)]

    def _renewed(self, states: Sequence[ChainState], cells: CellsAtNodes) -> list[ChainState]:
        """Return several states after a Gibbs step: together, since numpy is slow on few numbers."""
        problem = self._plan.problem
        numbers = UniformNumbers([generator_of(state, self._seed) for state in states], _BLOCK)
        standing = Standing(states)
        points = standing.points
        cells.place(points.parents, points.weights)
        if _swaps(problem):
            points = _swapped(points, cells, numbers)
        count, sweeps = len(problem.column_of), _sweeps(problem)
        length, common = count + 2 * problem.nodes, np.zeros((len(states), 2))
        drawn = numbers.take(1 + sweeps * length)  # all at once, and one for the concentrations
        for sweep in range(sweeps):
            first, end = sweep * length + bool(sweep), 1 + (sweep + 1) * length
            nodes, counts = cells.draw(points.log_shares, drawn[:, first : first + count])
            if not sweep:
                single = drawn[:, count].tolist()
                points = points._replace(shapes=drawn_shapes(counts, single, dominant=self._dominant))
                if draws_places(problem.mutations, problem.columns):
                    taken = numbers.take(NUMBERS_OF_PLACES * problem.mutations)
                    points = points._replace(parents=cells.relocate(nodes, taken))
            of_shares = drawn[:, end - 2 * problem.nodes : end]
            log_shares = log_shares_by(problem, counts + points.shapes, of_shares)
            points = points._replace(log_shares=log_shares)
            if self._rate_draws is not None:
                counted = self._rate_draws.counts(cells.missed_and_seen(nodes))
                if not sweep:
                    common = self._rate_draws.common(counted, numbers.take(1)[:, 0])
                weights = self._rate_draws.weights(counted, common, numbers.take(self._rate_draws.numbers))
                points = points._replace(weights=weights)
                cells.place(points.parents, weights)
            if self._jumps:
                standing.move(points, cells.totals(log_shares))
                self._jump(standing, cells, common, numbers)
                points = standing.points
        if not self._jumps:
            standing.move(points, cells.totals(points.log_shares))
        return standing.states()

    def _jump(
        self,
        standing: Standing,
        cells: CellsAtNodes,
        common: NDArray[np.float64],
        numbers: UniformNumbers,
    ) -> None:
        """Move chains by a proposal of each source, if it is accepted; their cells are placed.

        Args:
            standing: chains with scores, whose cells are placed.
            cells: what places cells and scores trees.
            common: as `RateDraws.common` returns it.
            numbers: source of the draws of each chain.
        """
        problem, sources, placed = self._plan.problem, self._jumps, standing.points
        drawn = numbers.take(NUMBERS * len(sources)).reshape(len(common), len(sources), NUMBERS)
        for number, source in enumerate(sources):
            own = drawn[:, number]
            jumps = source.propose(standing.points, common, own)
            placed = _placed(jumps.points, placed, cells)
            totals = cells.totals(jumps.points.log_shares)
            accepted = accepts(jumps, (totals - standing.scores) * problem.unit, own[:, -1])
            scores = np.where(accepted, totals, standing.scores)
            standing.move(standing.points.taking(jumps.points, accepted), scores)
        _placed(standing.points, placed, cells)


def _placed(points: Points, before: Points, cells: CellsAtNodes) -> Points:
    """Place the cells if trees or rates are others than those before, and return the points."""
    if points.parents is not before.parents or points.weights is not before.weights:
        cells.place(points.parents, points.weights)
    return points


def _groups(states: Sequence[ChainState], cells: CellsAtNodes) -> list[Sequence[ChainState]]:
    """Return the states in groups of as many as cells are drawn for at once."""
    return [states[at : at + cells.most] for at in range(0, len(states), cells.most)]


def draws_places(mutations: int, columns: int) -> bool:
    """Return whether Gibbs steps draw the places of mutations, too, for this many distinct columns."""
    return mutations <= _MOST_RELOCATED and columns < _MANY_COLUMNS * mutations


def _swaps(problem: Problem) -> bool:
    """Return whether Gibbs steps also swap labels of neighbours; chains swap those of small trees often."""
    return problem.mutations > _LARGE and draws_places(problem.mutations, problem.columns)


def _swapped(points: Points, cells: CellsAtNodes, numbers: UniformNumbers) -> Points:
    """Return points in which labels of neighbours are swapped, and the shares of their places."""
    log_shares = points.log_shares
    label = cells.swap(log_shares, numbers.take(NUMBERS_OF_SWAPS * log_shares.shape[1]))
    shares = of_labels(log_shares, label)
    return points._replace(parents=relabelled(points.parents, label), log_shares=shares)


def _sweeps(problem: Problem) -> int:
    """Return the number of draws in a Gibbs step: about the number of cells of a node."""
    cells = len(problem.column_of)
    most = min(_MOST_SWEEPS, _MOST_SCORES // (problem.nodes * cells))
    fewest = 1 if problem.mutations > _LARGE else _FEWEST_SWEEPS
    return max(fewest, min(cells // problem.nodes, most))


def highest_score(problem: Problem, parents: NDArray[np.int32]) -> int:
    """Return an upper bound of the score of a tree over all shares, with room for its rounding."""
    scores = node_scores(problem, parents) * problem.unit
    found = fitted_shares(scores, problem.multiplicity.astype(np.float64))[1]
    return math.ceil(found / problem.unit) + 4 * int(problem.multiplicity.sum())


def sampled_nodes(problem: Problem, states: Sequence[ChainState], seed: int) -> NDArray[np.int64]:
    """Draw the nodes of the cells of states, in the order of `cells_by_column`: int64, (states, cells)."""
    return np.concatenate([nodes for _, nodes in _placed_and_drawn(problem, states, seed)])


def _placed_and_drawn(
    problem: Problem, states: Sequence[ChainState], seed: int
) -> Iterator[tuple[CellsAtNodes, NDArray[np.int64]]]:
    """Yield some states after the others: their cells, placed, and the nodes of these, drawn."""
    cells, count = make_cells(problem, len(states), 0), len(problem.column_of)
    for some in _groups(states, cells):
        points = Standing(some).points
        cells.place(points.parents, points.weights)
        numbers = UniformNumbers([generator_of(state, seed, 1) for state in some], count)
        yield cells, cells.draw(points.log_shares, numbers.take(count)).nodes


_DRAWS = 32
"""States whose cells are drawn to count what was missed."""


def with_rates(plan: Plan, state: ChainState, rates: SlotRates) -> ChainState:
    """Return a state before its first step with other rates, and with the same shares if these have none."""
    rates = replace(rates, log_shares=rates.log_shares or state.rates.log_shares)
    score = plan.score_of(state.parents, rates)
    return replace(state, score=score, best_score=score, rates=rates)


def sampled_counts(
    problem: Problem, states: Sequence[ChainState], seed: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return how often each mutation was missed and seen, float64, (n,), in draws of cells of some states.

    Args:
        problem: with one rate, or of groups.
        states: states with shares, at least one.
        seed: seed of the run.
    """
    some = [states[at] for at in np.unique(np.linspace(0, len(states) - 1, _DRAWS).round().astype(int))]
    drawn = _placed_and_drawn(problem, some, seed)
    counts = [own.T.astype(np.float64) for cells, nodes in drawn for own in cells.missed_and_seen(nodes)]
    return [(missed, seen) for missed, seen in counts]
