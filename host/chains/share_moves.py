"""Moves of the share of one node: a clone of few cells appears or vanishes.

Cells that may be of a small clone, or of another one with errors, keep a chain at either: without a share no
cell is drawn to the node, and with the cells there its share stays. A move draws a new share over all nodes
of the cells. The shares of all others beside each other stay.
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
    log_beta_part,
    log_shares_in,
    shares_beside,
)
from syclade.host.chains.points import Points
from syclade.host.chains.shares import rounded_log_shares
from syclade.host.data.model.problem import Problem

__all__ = ["ShareMoves"]

_LEAST_CELLS = 0.1
"""Cells from which shares are proposed evenly by their logarithms."""


class _Move(NamedTuple):
    """A move of one share.

    Attributes:
        log_share: the new one.
        log_factor: what the logs of the others gain.
        log_ratio: as for `Jumps`.
    """

    log_share: float
    log_factor: float
    log_ratio: float


_NONE = _Move(0.0, 0.0, -math.inf)


class ShareMoves:
    """Proposals of shares of single nodes: see `Proposals`.

    Args:
        problem: the problem.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._low = min(_LEAST_CELLS / float(problem.multiplicity.sum()), 0.5)

    def propose(
        self,
        points: Points,
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jumps:
        """See `Proposals.propose`: the first number chooses the node, the second one its share."""
        logs, shapes = log_shares_in(self._problem, points.log_shares), points.shapes
        node, row = chosen(numbers[:, 0], logs.shape[1]), np.arange(len(logs))
        others = logs > LOWEST_LOG_SHARE
        others[row, node] = False
        of_others = np.logaddexp.reduce(logs, axis=1, where=others, initial=-np.inf)
        rest = np.where(others, shapes, 0.0).sum(axis=1)
        given = (logs[row, node], of_others, shapes[row, node], rest, numbers[:, 1])
        moves = [self._move(*one) for one in zip(*(part.tolist() for part in given), strict=True)]
        log_share, log_factor, log_ratios = np.array(moves).T
        moved, above = shares_beside(logs, others, log_factor, node, log_share)
        there = points._replace(log_shares=rounded_log_shares(self._problem, moved))
        return Jumps.to(points, there, np.where(above, log_ratios, -np.inf))

    def _move(
        self, log_share: float, of_others: float, concentration: float, rest: float, uniform: float
    ) -> _Move:
        """Return a move of the share of a node.

        Args:
            log_share: the present one.
            of_others: log of the share of all others that are above the lowest limit; -inf without any.
            concentration, rest: concentrations of the node, and of these others.
            uniform: the number that chooses the share.
        """
        share = self._drawn(concentration, uniform)
        if of_others == -math.inf or share >= 1.0:
            return _NONE
        ratio = self._log_density(share, concentration, rest)
        ratio -= self._log_density(math.exp(log_share), concentration, rest)
        least = math.exp(LOWEST_LOG_SHARE)
        return _Move(math.log(max(share, 0.5 * least)), math.log1p(-share) - of_others, ratio)

    def _drawn(self, concentration: float, uniform: float) -> float:
        """Return a share: half of them even by their logarithms, half as the prior has small ones."""
        if uniform < 0.5:
            return float(self._low ** (1.0 - 2.0 * uniform))
        return float((2.0 * uniform - 1.0) ** (1.0 / concentration))

    def _log_density(self, share: float, concentration: float, rest: float) -> float:
        """Return the log of the prior density, less that with which shares are drawn."""
        least = math.exp(LOWEST_LOG_SHARE)
        even = 0.5 / (share * -math.log(self._low)) if share >= self._low else 0.0
        return log_beta_part(share, concentration, least, even) + (rest - 1.0) * math.log1p(-share)
