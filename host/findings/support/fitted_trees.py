"""Trees from which chains start if mutations have rates of their own: the most likely ones with these rates.

With such rates, another tree can be far more likely than the best one with a common rate: a mutation that is
missed in most cells may be above others, instead of beside them. Chains seldom get from one to the other,
because they change tree, shares and rates in turns. So shares and rates are fitted to trees of searches under
several common rates, and then to the trees around them, as long as one is more likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import relabelled
from syclade.host.chains.curvature import PRIOR_CELLS, Curvature
from syclade.host.chains.mode_jumps import FittedTree
from syclade.host.data.model.dropout import log_weights, within_limits
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["COMMON_RATES", "MOST_ENTRIES", "FittedTrees"]

COMMON_RATES = (0.05, 0.2, 0.4, 0.6)
"""Rates of false negatives of the searches whose trees are fitted."""

MOST_ENTRIES = 2**22
"""Most nodes times mutations times distinct columns of a matrix whose trees are fitted."""

_ROUNDS = 60
"""Rounds of expectation and maximisation. They come near the maximum; where data tell little of a rate and a
share, their likelihood hardly changes."""

_MOST_CLIMBED = 2**21
"""Most entries, as for `MOST_ENTRIES`, of all trees around a tree, of which there are nearly nodes times
mutations: fitting so many takes half a second."""

_AT_ONCE = 2**19
"""Products of nodes and columns that are worked on at once."""

_CLIMBS = 3
"""Trees from which to climb."""

_MOST_LIKELY = 64
"""Most trees that are nearly as likely as the best one."""

_NEARLY = 10.0
"""Nats below the most likely tree down to which chains may start: they leave what is below only slowly."""

_GAIN = 0.1
"""Nats by which a tree has to be more likely than the one before."""

_DIGITS = 6
"""Digits of log-likelihoods that count: the last ones differ between processors."""


class FittedTrees:
    """Fits of shares and rates to trees.

    Args:
        problem: of a matrix, in which each mutation is a group of its own (`problem_of_groups`).
        fp_rate: rate of false positives.
        fn_rate: rate of false negatives at which fits begin.
    """

    def __init__(self, problem: Problem, fp_rate: float, fn_rate: float) -> None:
        self._fp_rate, self._fn_rate = fp_rate, fn_rate
        self._curvature = own = Curvature(problem, fp_rate)
        self._missed, self._seen, self._cells = own.missed, own.seen, own.cells
        self._known: dict[bytes, FittedTree] = {}

    def likely(self, trees: Iterable[NDArray[np.int32]]) -> list[FittedTree]:
        """Return all trees found that are nearly as likely as the best one, and that one first.

        Args:
            trees: int32, shape (n + 1,) each: from the most likely ones of these, climbs go to others.
        """
        for tree in _by_likelihood(self.fit(trees))[:_CLIMBS]:
            self._climb(tree)
        best, *others = _by_likelihood(self._known.values())[:_MOST_LIKELY]
        near = [one for one in others if one.log_likelihood > best.log_likelihood - _NEARLY]
        return _by_likelihood(self._settled([best, *near]))

    def _settled(self, fits: Sequence[FittedTree]) -> Iterator[FittedTree]:
        """Yield fits at their maxima, from which others can be far on a ridge."""
        for fit in fits:
            shares, rates = self._curvature.climbed(fit.parents, fit.shares, fit.fn_rates)
            (total,) = self._totals(_mutations_at_nodes([fit.parents]), shares[None], rates[None])
            yield FittedTree(fit.parents, total, shares, rates)

    def fit(self, trees: Iterable[NDArray[np.int32]]) -> list[FittedTree]:
        """Return the fits to trees, those that are known from before."""
        wanted = {tree.tobytes(): tree for tree in trees}
        new = [tree for key, tree in wanted.items() if key not in self._known]
        size = (self._missed.shape[0] + 1) * len(self._cells)
        length = max(1, _AT_ONCE // size)
        for at in range(0, len(new), length):
            self._known |= {one.parents.tobytes(): one for one in self._fitted(new[at : at + length])}
        return [self._known[key] for key in wanted]

    def _climb(self, tree: FittedTree) -> None:
        """Go to the most likely tree around a tree while it is more likely."""
        nodes = len(tree.parents)
        if (nodes * (nodes - 1)) ** 2 * len(self._cells) > _MOST_CLIMBED:
            return
        while True:
            best = _by_likelihood(self.fit(_trees_around(tree.parents)))[0]
            if best.log_likelihood < tree.log_likelihood + _GAIN:
                return
            tree = best

    def _fitted(self, trees: Sequence[NDArray[np.int32]]) -> list[FittedTree]:
        """Return the fits to several trees, by expectation and maximisation for all at once."""
        above = _mutations_at_nodes(trees)
        shares = np.full(above.shape[:2], 1.0 / above.shape[1])
        rates = np.full((len(trees), above.shape[2]), self._fn_rate)
        for _ in range(_ROUNDS):
            likely, _ = self._likelihoods(above, rates)
            likely *= shares[:, :, None]
            likely *= self._cells / likely.sum(axis=1, keepdims=True)
            shares = likely.sum(axis=2) + 1.0 / above.shape[1]  # none becomes 0
            shares /= shares.sum(axis=1, keepdims=True)
            having = above.transpose(0, 2, 1) @ likely
            missed, seen = ((having * one).sum(axis=2) for one in (self._missed, self._seen))
            rates = within_limits((missed + PRIOR_CELLS) / (missed + seen + 2.0 * PRIOR_CELLS), self._fp_rate)
        totals = self._totals(above, shares, rates)
        return [FittedTree(*one) for one in zip(trees, totals, shares, rates, strict=True)]

    def _totals(
        self, above: NDArray[np.float64], shares: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> list[float]:
        """Return the log-likelihood of each tree."""
        likely, best = self._likelihoods(above, rates)
        totals = ((best + np.log((likely * shares[:, :, None]).sum(axis=1))) * self._cells).sum(axis=1)
        return [round(total, _DIGITS) for total in totals.tolist()]

    def _likelihoods(
        self, above: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the likelihood of each column at each node, the best one 1, and the log of the best one."""
        missed, seen = log_weights(self._fp_rate, rates)
        scores = above @ (missed[:, :, None] * self._missed + seen[:, :, None] * self._seen)
        best = scores.max(axis=1)
        scores -= best[:, None]
        return np.exp(scores, out=scores), best


def _mutations_at_nodes(trees: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Return 1 where a node has a mutation: float64, (trees, n + 1, n)."""
    return np.array([ancestor_matrix(tree).T[:, :-1] for tree in trees], dtype=np.float64)


def _by_likelihood(trees: Iterable[FittedTree]) -> list[FittedTree]:
    return sorted(trees, key=lambda one: (-one.log_likelihood, one.parents.tolist()))


def _trees_around(parents: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    """Yield the trees that one move makes: a subtree elsewhere, or two labels swapped.

    Args:
        parents: int32, shape (n + 1,).
    """
    below = ancestor_matrix(parents)
    nodes = len(parents)
    for node in range(nodes - 1):
        for parent in range(nodes):
            if parent != parents[node] and not below[node, parent]:
                moved = parents.copy()
                moved[node] = parent
                yield moved
        for other in range(node):
            label = np.arange(nodes, dtype=np.int32)
            label[[node, other]] = other, node
            yield relabelled(parents[None], label[None])[0]
