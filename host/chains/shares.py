"""Shares of the cells at each node, as a part of a chain's state (docs/model.md, "Shares").

P(a cell is at node v) = pi_v, and pi has a Dirichlet prior, symmetric but for the root. Between launches, a
Gibbs step draws the node of each cell given the tree and pi, then the concentrations given the numbers of
cells at the nodes, then pi. All draws are by numpy's counter-based generator, from the seed, the chain and
its step. Logs of shares are rounded to the integers of the score. So a chain is the same on every device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import CellsAtNodes, NumpyCells, make_cells
from syclade.host.chains.plan import Plan
from syclade.host.chains.scores.score import node_scores
from syclade.host.chains.share_draws import (
    LOWEST_OCTAVE,
    draw_concentration,
    generator_of,
    log_shares_by,
    shapes_of,
    uniform_numbers,
)
from syclade.host.chains.state import ChainState
from syclade.host.data.model.likelihood import fitted_shares
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = [
    "Draw",
    "GibbsSteps",
    "check_shares",
    "highest_score",
    "renewal_steps",
    "rescored",
    "sampled_nodes",
    "uniform_log_shares",
]

_MOST_SCORES = 2**18
"""Scores, of cells at nodes, in all draws of a Gibbs step, unless the fewest draws have more."""

_FEWEST_SWEEPS, _MOST_SWEEPS = 3, 8
"""Draws of nodes and shares in a Gibbs step. Many cells at few nodes hold the shares fast, so that one draw
changes them little, while the tree seldom changes."""

_LEAST_RENEWAL, _MOST_RENEWAL = 512, 16384
"""Limits of `renewal_steps`."""


def uniform_log_shares(problem: Problem) -> tuple[int, ...]:
    """Return equal shares of all nodes."""
    return (round(-math.log2(problem.nodes) * 2**problem.scale_bits),) * problem.nodes


def renewal_steps(problem: Problem) -> int:
    """Return the steps of a user's chain between two Gibbs steps, which grow with the tree.

    They depend on the problem alone, so that a chain is the same in any number of slots, and after a resume.
    """
    return max(_LEAST_RENEWAL, min(problem.nodes**2, _MOST_RENEWAL))


def check_shares(problem: Problem, log_shares: Sequence[int]) -> None:
    """Check shares that come from a file.

    Raises:
        ValueError: they are not the shares of all nodes, with the sum 1.
    """
    logs = np.array(log_shares, dtype=np.int64)
    inside = (
        len(logs) == problem.nodes and ((logs <= 0) & (logs >= LOWEST_OCTAVE << problem.scale_bits)).all()
    )
    unit = 2.0**-problem.scale_bits  # logarithms are rounded to it
    if not inside or abs(float(np.exp2(logs * unit).sum()) - 1.0) > unit:
        raise ValueError("the shares of the nodes do not add up to 1")


class Draw(Protocol):
    """Draw of a chain's weights: (state, nodes of the cells in the order of `cells_by_column`, generator)."""

    def __call__(
        self, state: ChainState, nodes: NDArray[np.int64], generator: np.random.Philox
    ) -> tuple[int, ...]:
        """Return the weights of the classes of observed values."""
        ...


class GibbsSteps:
    """Gibbs steps of the shares of a plan's chains.

    The best tree of a chain remains the one with the highest score so far, at the shares of its time: scores
    are likelihoods, of trees and shares.

    Args:
        plan: the plan, whose score is that with shares.
        seed: seed of the run.
        draw: draws weights, too, given the nodes of the cells; None for weights that stay.
        cells: what draws nodes; by default compiled code, or numpy where there is none.
    """

    def __init__(
        self, plan: Plan, seed: int, draw: Draw | None = None, cells: CellsAtNodes | None = None
    ) -> None:
        self._plan, self._seed, self._draw, self._cells = plan, seed, draw, cells

    def __call__(self, states: Sequence[ChainState]) -> list[ChainState]:
        """Return states with shares after a Gibbs step of each."""
        if self._cells is None:
            problem = self._plan.problem
            self._cells = make_cells(problem, len(states), self._plan.settings["sum_spare"])
        step = self._cells.most
        groups = [states[at : at + step] for at in range(0, len(states), step)]
        return [state for group in groups for state in self._renewed(group, self._cells)]

    def _renewed(self, states: Sequence[ChainState], cells: CellsAtNodes) -> list[ChainState]:
        """Return several states after a Gibbs step: together, since numpy is slow on few numbers."""
        problem = self._plan.problem
        generators = [generator_of(state, self._seed) for state in states]
        rates = [state.rates for state in states]
        log_shares = _log_shares_of(states)
        cells.place(states, rates)
        count, sweeps = len(problem.column_of), _sweeps(problem)
        length = count + 2 * problem.nodes  # all numbers at once, and one for the concentrations
        numbers = np.stack([uniform_numbers(generator, 1 + sweeps * length) for generator in generators])
        single, shapes = numbers[:, count], np.zeros(0)
        numbers = np.delete(numbers, count, axis=1).reshape(len(states), sweeps, length)
        for sweep in range(sweeps):
            nodes = cells.draw(log_shares, numbers[:, sweep, :count])
            counts = np.array([np.bincount(one, minlength=problem.nodes) for one in nodes])
            if not sweep:
                shapes = shapes_of(problem, list(map(draw_concentration, counts, single.tolist())))
            log_shares = log_shares_by(problem, counts + shapes, numbers[:, sweep, count:])
        if self._draw is not None:
            nodes = cells.draw(log_shares, _numbers(problem, generators))
            drawn = [self._draw(*one) for one in zip(states, nodes, generators, strict=True)]
            rates = [replace(one, weights=weights) for one, weights in zip(rates, drawn, strict=True)]
            cells.place(states, rates)
        return [
            rescored(state, total, replace(of_state, log_shares=tuple(shares)))
            for state, total, of_state, shares in zip(
                states, cells.totals(log_shares), rates, log_shares.tolist(), strict=True
            )
        ]


def _numbers(problem: Problem, generators: Sequence[np.random.Philox]) -> NDArray[np.float64]:
    """Return a uniform number of each generator for each cell."""
    return np.stack([uniform_numbers(generator, len(problem.column_of)) for generator in generators])


def _log_shares_of(states: Sequence[ChainState]) -> NDArray[np.int32]:
    return np.array([state.rates.log_shares for state in states], dtype=np.int32)


def rescored(state: ChainState, score: int, rates: SlotRates) -> ChainState:
    """Return a state with other rates and shares, and the score of its tree under these."""
    now = replace(state, score=score, rates=rates)
    is_best = score > state.best_score
    return replace(now, best_parents=state.parents, best_score=score) if is_best else now


def _sweeps(problem: Problem) -> int:
    """Return the number of draws in a Gibbs step: about the number of cells of a node."""
    cells = len(problem.column_of)
    most = min(_MOST_SWEEPS, _MOST_SCORES // (problem.nodes * cells))
    return max(_FEWEST_SWEEPS, min(cells // problem.nodes, most))


def highest_score(problem: Problem, parents: NDArray[np.int32]) -> int:
    """Return an upper bound of the score of a tree over all shares, with room for its rounding."""
    scores = node_scores(problem, parents) * problem.unit
    found = fitted_shares(scores, problem.multiplicity.astype(np.float64))[1]
    return math.ceil(found / problem.unit) + 4 * int(problem.multiplicity.sum())


def sampled_nodes(problem: Problem, state: ChainState, seed: int) -> NDArray[np.int64]:
    """Draw the node of each cell of a state, in the order of `cells_by_column`: int64, (cells,)."""
    cells = NumpyCells(problem)
    cells.place([state], [state.rates])
    numbers = _numbers(problem, [generator_of(state, seed, 1)])
    return np.asarray(cells.draw(_log_shares_of([state]), numbers)[0])
