"""Moves of the share of one node: a clone of few cells appears or vanishes.

Cells that may be of a small clone, or of another one with errors, keep a chain at either: without a share no
cell is drawn to the node, and with the cells there its share stays. A move draws a new share over all nodes
of the cells. The shares of all others beside each other stay.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.jump import LOWEST_LOG_SHARE, Jump, log_beta_part, log_shares_in
from syclade.host.chains.shares import log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import Problem

__all__ = ["ShareMoves"]

_LEAST_CELLS = 0.1
"""Cells from which shares are proposed evenly by their logarithms."""


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
        state: ChainState,
        shapes: NDArray[np.float64],
        common: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> Jump | None:
        """See `Proposals.propose`: the first number chooses the node, the second one its share."""
        nodes, logs = len(shapes), log_shares_in(self._problem, state.rates)
        node = min(int(numbers[0] * nodes), nodes - 1)
        others = logs > LOWEST_LOG_SHARE
        others[node] = False
        share = self._drawn(float(shapes[node]), float(numbers[1]))
        if not others.any() or share >= 1.0:
            return None
        least, moved = math.exp(LOWEST_LOG_SHARE), logs.copy()
        moved[node] = math.log(max(share, 0.5 * least))
        moved[others] += math.log1p(-share) - np.logaddexp.reduce(logs[others])
        if moved[others].min() <= LOWEST_LOG_SHARE:
            return None
        rest = float(shapes[others].sum())
        ratio = self._log_density(share, float(shapes[node]), rest)
        ratio -= self._log_density(math.exp(logs[node]), float(shapes[node]), rest)
        rates = replace(state.rates, log_shares=log_shares_of(self._problem, np.exp(moved)))
        return Jump(state.parents, rates, shapes, ratio)

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
