"""Moves along the ridge on which a share and a rate explain the same cells.

A cell without a mutation is at the node above it, or it has the mutation, which was missed: so the share of
the upper node and the rate of the lower mutation hold each other. Where no other cells tell, their likelihood
is the same on a long ridge, along which draws of one given the other go in short steps. At one of its ends
the upper node is empty, and there the two mutations may change places. A move draws a new point of the ridge:
the upper node's part of the cells in which the mutation is not seen. These cells together, those in which it
is seen, and the shares below it beside each other stay.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.jump import LOWEST_LOG_SHARE, Jump, log_beta_part, log_shares_in
from syclade.host.chains.shares import log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import are_inside_limits, weights_of
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["RidgeMoves"]


class _Point(NamedTuple):
    """A point of a ridge.

    Attributes:
        unseen: share of the cells at the upper node, and of those below in which the mutation is missed.
        seen: share of the cells in which it is seen.
        part: part of the first that is at the upper node.
    """

    unseen: float
    seen: float
    part: float

    @property
    def having(self) -> float:
        """Share of the cells that have the mutation."""
        return self.seen + (1.0 - self.part) * self.unseen

    @property
    def missed(self) -> float:
        """Rate at which it is missed."""
        return (1.0 - self.part) * self.unseen / self.having

    def log_density(self, upper: float, below: float, common: NDArray[np.float64], least: float) -> float:
        """Return the log of the prior density by the part, less that with which points are drawn.

        Parts up to `least` are one point, since the log of such a share is at its lowest limit.

        Args:
            upper, below: concentrations of the upper node, and of all nodes below it that change.
            common: float64, shape (2,): shapes of the Beta of the rate.
            least: this part.
        """
        own = log_beta_part(self.part, upper, least, 0.5 if self.part > least else 0.5 * least)
        of_rate = (common[0] - 1.0) * math.log(self.missed) + (common[1] - 1.0) * math.log1p(-self.missed)
        # Of its two powers that are subtracted, one is that of the density, and one the volume of the map.
        return float(own + (below - 2.0) * math.log(self.having) + of_rate)


class RidgeMoves:
    """Proposals of moves along ridges: see `Proposals`.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.
    """

    def __init__(self, problem: Problem, fp_rate: float) -> None:
        self._problem, self._fp_rate = problem, fp_rate

    def propose(
        self,
        state: ChainState,
        shapes: NDArray[np.float64],
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jump | None:
        """See `Proposals.propose`: the first number chooses the mutation, the second one the point."""
        problem, parents = self._problem, state.parents
        lower = min(int(numbers[0] * problem.mutations), problem.mutations - 1)
        upper = int(parents[lower])
        logs, rate = log_shares_in(problem, state.rates), self._rate_of(state, lower)
        below = np.flatnonzero(ancestor_matrix(parents)[lower] & (logs > LOWEST_LOG_SHARE))
        if not (len(below) and self._is_inside(rate)):
            return None
        concentration, having = float(shapes[upper]), float(np.exp(logs[below]).sum())
        missed, at_upper = rate * having, math.exp(logs[upper])
        here = _Point(at_upper + missed, having - missed, at_upper / (at_upper + missed))
        there = here._replace(part=_part_drawn(concentration, float(numbers[1])))
        moved = logs.copy()
        moved[below] += math.log(there.having / having)
        least = math.exp(LOWEST_LOG_SHARE) / here.unseen
        # A part below `least` becomes the lowest log share.
        moved[upper] = math.log(here.unseen * max(there.part, 0.5 * least))
        if not self._is_inside(there.missed) or moved[below].min() <= LOWEST_LOG_SHARE:
            return None
        densities = [
            one.log_density(concentration, float(shapes[below].sum()), common[:, 0], least)
            for one in (there, here)
        ]
        weights = list(state.rates.weights)
        weights[2 * lower : 2 * lower + 2] = weights_of(problem, self._fp_rate, there.missed)
        log_shares = log_shares_of(problem, np.exp(moved))
        rates = replace(state.rates, weights=tuple(weights), log_shares=log_shares)
        return Jump(parents, rates, shapes, densities[0] - densities[1])

    def _rate_of(self, state: ChainState, mutation: int) -> float:
        """Return the rate of a mutation."""
        return math.exp(state.rates.weights[2 * mutation] * self._problem.unit + math.log1p(-self._fp_rate))

    def _is_inside(self, rate: float) -> bool:
        return bool(are_inside_limits(np.array(rate), self._fp_rate))


def _part_drawn(upper: float, uniform: float) -> float:
    """Return a part: half of them uniform, half as the prior of the upper node's share has them."""
    return 2.0 * uniform if uniform < 0.5 else (2.0 * uniform - 1.0) ** (1.0 / upper)
