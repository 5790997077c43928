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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.jump import (
    LOWEST_LOG_SHARE,
    Jumps,
    chosen,
    each,
    log_beta_part,
    log_shares_in,
    shares_beside,
)
from syclade.host.chains.points import Points
from syclade.host.chains.shares import rounded_log_shares
from syclade.host.data.model.dropout import limits_inside, weights_of
from syclade.host.data.model.problem import Problem

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

    def log_density(self, upper: float, below: float, common: tuple[float, float], least: float) -> float:
        """Return the log of the prior density by the part, less that with which points are drawn.

        Parts up to `least` are one point, since the log of such a share is at its lowest limit.

        Args:
            upper, below: concentrations of the upper node, and of all nodes below it that change.
            common: shapes of the Beta of the rate.
            least: this part.
        """
        own = log_beta_part(self.part, upper, least, 0.5 if self.part > least else 0.5 * least)
        of_rate = (common[0] - 1.0) * math.log(self.missed) + (common[1] - 1.0) * math.log1p(-self.missed)
        # Of its two powers that are subtracted, one is that of the density, and one the volume of the map.
        return float(own + (below - 2.0) * math.log(self.having) + of_rate)


class _Ridge(NamedTuple):
    """Where a chain is on the ridge of a mutation.

    Attributes:
        rate: at which it is missed.
        log_having: log of the share of the cells that have it; -inf if that is at the lowest limit.
        log_upper: log of the share of the upper node.
        upper, below: concentrations of the upper node, and of the nodes with the mutation.
    """

    rate: float
    log_having: float
    log_upper: float
    upper: float
    below: float


class _Move(NamedTuple):
    """A move along a ridge.

    Attributes:
        missed, seen: the new weights of the mutation, in units of 2^-f nat.
        log_upper: the new log share of the upper node.
        log_factor: what the log shares of the nodes with the mutation gain.
        log_ratio: as for `Jumps`.
    """

    missed: int
    seen: int
    log_upper: float
    log_factor: float
    log_ratio: float


_NONE = _Move(0, 0, 0.0, 0.0, -math.inf)


class RidgeMoves:
    """Proposals of moves along ridges: see `Proposals`.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.
    """

    def __init__(self, problem: Problem, fp_rate: float) -> None:
        self._problem, self._fp_rate = problem, fp_rate
        self._lowest, self._highest = limits_inside(fp_rate)

    def propose(
        self,
        points: Points,
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jumps:
        """See `Proposals.propose`: the first number chooses the mutation, the second one the point."""
        problem, row = self._problem, np.arange(len(numbers))
        lower = chosen(numbers[:, 0], problem.mutations)
        upper, logs = points.parents[row, lower], log_shares_in(problem, points.log_shares)
        below = _at_or_below(points.parents, lower) & (logs > LOWEST_LOG_SHARE)
        log_having = np.logaddexp.reduce(logs, axis=1, where=below, initial=-np.inf)
        of_below = np.where(below, points.shapes, 0.0).sum(axis=1)
        log_missed = points.weights[row, 2 * lower] * problem.unit
        rates = each(math.exp, log_missed + math.log1p(-self._fp_rate))
        parts = (rates, log_having, logs[row, upper], points.shapes[row, upper], of_below)
        ridges = [_Ridge(*one) for one in zip(*(part.tolist() for part in parts), strict=True)]
        given = zip(ridges, numbers[:, 1].tolist(), common.tolist(), strict=True)
        moves = [self._move(ridge, uniform, (a, b)) for ridge, uniform, (a, b) in given]
        missed, seen, log_upper, log_factor, log_ratios = np.array(moves).T
        moved, above = shares_beside(logs, below, log_factor, upper, log_upper)
        weights = points.weights.copy()
        weights[row, 2 * lower], weights[row, 2 * lower + 1] = missed, seen
        there = points._replace(weights=weights, log_shares=rounded_log_shares(problem, moved))
        return Jumps.to(points, there, np.where(above, log_ratios, -np.inf))

    def _move(self, ridge: _Ridge, uniform: float, common: tuple[float, float]) -> _Move:
        """Return a move along a ridge.

        Args:
            ridge: where the chain is.
            uniform: the number that chooses the point.
            common: shapes of the Beta of the rate.
        """
        if ridge.log_having == -math.inf or not self._is_inside(ridge.rate):
            return _NONE
        having, at_upper = math.exp(ridge.log_having), math.exp(ridge.log_upper)
        missed = ridge.rate * having
        here = _Point(at_upper + missed, having - missed, at_upper / (at_upper + missed))
        there = here._replace(part=_part_drawn(ridge.upper, uniform))
        if not self._is_inside(there.missed):
            return _NONE
        least = math.exp(LOWEST_LOG_SHARE) / here.unseen
        before, after = (one.log_density(ridge.upper, ridge.below, common, least) for one in (here, there))
        # A part below `least` becomes the lowest log share.
        log_upper = math.log(here.unseen * max(there.part, 0.5 * least))
        weights = weights_of(self._problem, self._fp_rate, there.missed)
        return _Move(*weights, log_upper, math.log(there.having / having), after - before)

    def _is_inside(self, rate: float) -> bool:
        return self._lowest < rate < self._highest


def _at_or_below(parents: NDArray[np.int32], node: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes of each tree are at or below one node: bool, shape (chains, nodes)."""
    nodes = parents.shape[1]
    above = np.broadcast_to(np.arange(nodes), parents.shape)
    found = above == node[:, None]
    while (above != nodes - 1).any():
        above = np.take_along_axis(parents, above, axis=1)
        found |= above == node[:, None]
    return np.asarray(found)


def _part_drawn(upper: float, uniform: float) -> float:
    """Return a part: half of them uniform, half as the prior of the upper node's share has them."""
    return 2.0 * uniform if uniform < 0.5 else (2.0 * uniform - 1.0) ** (1.0 / upper)
