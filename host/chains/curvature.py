"""Slope and curvature of a tree's likelihood in its shares and rates, and the way up to its maximum.

Shares are by their logarithms, rates of false negatives by their log odds, so that values have no limits, and
a normal distribution is near their posterior. The information that cells at unknown nodes have is that of
cells at known ones, less the covariance of what the possible nodes of a cell say: where a share and a rate
explain the same cells, there is a ridge on which both are free.

Source: Louis, "Finding the observed information matrix when using the EM algorithm", Journal of the Royal
Statistical Society B 44, 1982.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.dropout import log_weights, within_limits
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["PRIOR_CELLS", "Curvature", "Slope", "log_odds"]

PRIOR_CELLS = 0.5
"""Cells in which each mutation was missed, and seen, that a rate's prior counts."""

_STEPS, _HALVES = 8, 4
"""Most steps to the maximum, and most times that one is halved until it leads up."""

_LONGEST, _LEAST_INFORMATION = 1.0, 0.1
"""Longest step of a log share or log odds, and the least information of a direction."""

_NEAR = 1e-6
"""Nats by which a step has to lead up."""


class Slope(NamedTuple):
    """The likelihood at a point, with a weak prior: one cell for all nodes together, one for each rate.

    Attributes:
        log_density: natural log, without a constant.
        gradient: float64, (n + 1 + n,): by the log shares, and by the log odds of the rates.
        information: float64, (n + 1 + n, n + 1 + n): the negative matrix of second derivatives.
    """

    log_density: float
    gradient: NDArray[np.float64]
    information: NDArray[np.float64]


class Curvature:
    """The likelihood of trees in their shares and rates.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.

    Attributes:
        missed, seen: float64, shape (n, columns): 1 where a distinct column misses, or shows, a mutation.
        cells: float64, shape (columns,): number of cells of each column.
    """

    def __init__(self, problem: Problem, fp_rate: float) -> None:
        known, shows = problem.observed < problem.classes - 1, problem.observed % 2 == 1
        self.missed, self.seen = ((known & one).astype(np.float64) for one in (~shows, shows))
        self.cells = problem.multiplicity.astype(np.float64)
        self._fp_rate = fp_rate

    def at(
        self, parents: NDArray[np.int32], shares: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> Slope:
        """Return the likelihood at a point.

        Args:
            parents: int32, (n + 1,): the tree.
            shares: float64, (n + 1,).
            rates: float64, (n,): rates of false negatives.
        """
        is_above = ancestor_matrix(parents)
        above = is_above.T[:, :-1].astype(np.float64)
        missed, seen = log_weights(self._fp_rate, rates)
        scores = above @ (missed[:, None] * self.missed + seen[:, None] * self.seen)
        best = scores.max(axis=0)
        likely = np.exp(scores - best) * shares[:, None]
        total = likely.sum(axis=0)
        nodes, cells = len(shares), self.cells.sum()
        log_density = float((best + np.log(total)) @ self.cells + np.log(shares).sum() / nodes)
        log_density += PRIOR_CELLS * float((np.log(rates) + np.log1p(-rates)).sum())
        likely /= total
        drawn = likely * self.cells
        having = above.T @ likely
        steep = self.missed * (1.0 - rates)[:, None] - self.seen * rates[:, None]
        of_shares = drawn.sum(axis=1) + 1.0 / nodes - (cells + 1.0) * shares
        of_rates = (having * steep) @ self.cells + PRIOR_CELLS * (1.0 - 2.0 * rates)
        known = (having * (self.missed + self.seen)) @ self.cells + 2.0 * PRIOR_CELLS
        first = (cells + 1.0) * (np.diag(shares) - np.outer(shares, shares))
        first -= np.diag(drawn.sum(axis=1)) - drawn @ likely.T
        both = (drawn @ steep.T) * above - drawn @ (having * steep).T
        last = np.diag(known * rates * (1.0 - rates)) + (having * steep * self.cells) @ (having * steep).T
        # A cell has two mutations if it has the lower one, and they are on one path.
        of_pairs = np.where(is_above[:-1, :-1], steep @ (having * steep * self.cells).T, 0.0)
        last -= of_pairs + of_pairs.T - np.diag(np.diag(of_pairs))
        information = np.block([[first, -both], [-both.T, last]])
        return Slope(log_density, np.concatenate((of_shares, of_rates)), information)

    def climbed(
        self, parents: NDArray[np.int32], shares: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the shares and rates near the maximum, from a point near it: by Newton's steps.

        Args:
            parents, shares, rates: as for `at`.
        """
        here, nodes = self.at(parents, shares, rates), len(shares)
        for _ in range(_STEPS):
            values, vectors = np.linalg.eigh(here.information)
            step = vectors @ ((vectors.T @ here.gradient) / np.maximum(values, _LEAST_INFORMATION))
            step *= min(1.0, _LONGEST / float(abs(step).max()))
            for _ in range(_HALVES):
                logs = np.log(shares) + step[:nodes]
                odds = log_odds(rates) + step[nodes:]
                found = np.exp(logs - np.logaddexp.reduce(logs))
                lost = within_limits(1.0 / (1.0 + np.exp(-odds)), self._fp_rate)
                there = self.at(parents, found, lost)
                if there.log_density > here.log_density + _NEAR:
                    break
                step *= 0.5
            else:
                return shares, rates
            here, shares, rates = there, found, lost
        return shares, rates


def log_odds(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of rates."""
    return np.asarray(np.log(rates) - np.log1p(-rates))
