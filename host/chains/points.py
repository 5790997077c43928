"""Trees, shares and rates of several chains, as arrays: in Gibbs steps, which change those of all at once.

Most of the time of a step of few mutations would be that of calls, if each chain had its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import ChainState

__all__ = ["Points", "Standing"]


class Points(NamedTuple):
    """Trees, shares and rates, as the integers of chains.

    Attributes:
        parents: int32, shape (chains, n + 1): the trees.
        weights: int64, shape (chains, classes): of every class of observed values.
        log_shares: int32, shape (chains, n + 1): log2 of the shares, in units of 2^-f octave.
        shapes: float64, shape (chains, n + 1): concentrations of the nodes.
    """

    parents: NDArray[np.int32]
    weights: NDArray[np.int64]
    log_shares: NDArray[np.int32]
    shapes: NDArray[np.float64]

    def taking(self, other: Points, chosen: NDArray[np.bool_]) -> Points:
        """Return these points, but for the chosen chains the other ones; arrays that are equal stay."""
        if not chosen.any():
            return self
        rows = chosen[:, None]
        parents, weights, log_shares, shapes = other
        return Points(
            self.parents if parents is self.parents else np.where(rows, parents, self.parents),
            self.weights if weights is self.weights else np.where(rows, weights, self.weights),
            self.log_shares if log_shares is self.log_shares else np.where(rows, log_shares, self.log_shares),
            self.shapes if shapes is self.shapes else np.where(rows, shapes, self.shapes),
        )


class Standing:
    """Chains within a Gibbs step: where they are, and the best trees that they have seen.

    Args:
        states: the chains before the step, which have shares.

    Attributes:
        points: where they are.
        scores: int64, shape (chains,): of the points; before the first `move`, those of the states.
    """

    def __init__(self, states: Sequence[ChainState]) -> None:
        parents = np.array([state.parents for state in states], dtype=np.int32)
        weights = np.array([state.rates.weights for state in states], dtype=np.int64)
        log_shares = np.array([state.rates.log_shares for state in states], dtype=np.int32)
        self.points = Points(parents, weights, log_shares, np.zeros(parents.shape))
        self.scores = np.array([state.score for state in states], dtype=np.int64)
        self._states, self._begun = states, self.points
        self._best_scores = [state.best_score for state in states]
        self._best_parents = [state.best_parents for state in states]

    def move(self, points: Points, scores: NDArray[np.int64]) -> None:
        """Take other points, with their scores; a tree is the best one if its score is the highest so far."""
        self.points, self.scores = points, scores
        for at, score in enumerate(scores.tolist()):
            if score > self._best_scores[at]:
                self._best_scores[at], self._best_parents[at] = score, points.parents[at].copy()

    def states(self) -> list[ChainState]:
        """Return the states of the chains; arrays of trees that are as before are those of before."""
        points, before = self.points, self._states
        other = (points.parents != self._begun.parents).any(axis=1).tolist()
        weights = None if points.weights is self._begun.weights else points.weights.tolist()
        scores, log_shares, states = self.scores.tolist(), points.log_shares.tolist(), []
        for at, state in enumerate(before):
            own = state.rates.weights if weights is None else tuple(weights[at])
            states.append(
                replace(
                    state,
                    parents=points.parents[at] if other[at] else state.parents,
                    score=scores[at],
                    best_parents=self._best_parents[at],
                    best_score=self._best_scores[at],
                    rates=replace(state.rates, weights=own, log_shares=tuple(log_shares[at])),
                )
            )
        return states
