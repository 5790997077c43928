"""Doublets: cells that may be two of a tree's clones together, in float64 (docs/model.md, "Doublets").

Source: Kuipers, Jahn, Raphael, Beerenwinkel, "Single-cell sequencing data reveal widespread recurrence and
loss of mutational hits in the life histories of tumors", 2017. The sum over pairs in O(n) is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.likelihood import tree_of_matrix
from syclade.host.data.model.pairs import fit_shares
from syclade.host.data.model.rates import ObservationModel, entries_of
from syclade.host.data.trees.tree import children, preorder
from syclade.host.ground.values import short_repr

__all__ = [
    "Doublets",
    "Mixture",
    "apart_share",
    "best_pairs",
    "best_rate",
    "call_doublets",
    "doublet_log_likelihood",
    "fitted_rate",
    "fitted_shares",
    "mixture_of",
]

EM_START = 0.5
EM_CHANGE = 1e-6
"""EM ends when the expected number of doublets changes by no more than this."""

EM_MOST = 100_000
"""Most rounds of EM: near a rate of 0 or 1 it converges slowly."""


class Mixture(NamedTuple):
    """Log-likelihoods of every cell under a tree: float64, shape (cells,), natural log.

    Attributes:
        single: mean over all nodes, or weighted by the shares of the nodes.
        pair: mean over all ordered pairs of nodes, or weighted by both shares.
        relevant: part of `pair` with two nodes of which neither is above the other; -inf if there is none.
    """

    single: NDArray[np.float64]
    pair: NDArray[np.float64]
    relevant: NDArray[np.float64]

    def log_likelihoods(self, rate: float) -> NDArray[np.float64]:
        """Return the cells' log-likelihoods at a rate of doublets, 0 <= rate <= 1."""
        with np.errstate(divide="ignore"):
            mixed: NDArray[np.float64] = np.logaddexp(
                np.log1p(-rate) + self.single, np.log(np.float64(rate)) + self.pair
            )
        return mixed

    def probabilities(self, rate: float) -> NDArray[np.float64]:
        """Return each cell's probability of being a doublet, given the tree: float64, shape (cells,)."""
        return self._shares(rate, self.pair)

    def relevant_rate(self, rate: float) -> float:
        """Return the mean over the cells of the probability of being two clones in different branches."""
        return float(self.branches(rate).mean())

    def branches(self, rate: float) -> NDArray[np.float64]:
        """Return each cell's probability of being two clones in different branches: float64, (cells,)."""
        return self._shares(rate, self.relevant)

    def _shares(self, rate: float, pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each cell's probability of being one of some pairs, from their log-likelihood."""
        with np.errstate(divide="ignore"):
            share: NDArray[np.float64] = np.exp(np.log(np.float64(rate)) + pairs - self.log_likelihoods(rate))
        return share


@dataclass(frozen=True, eq=False)
class Doublets:
    """Calls of doublets, in the order of the cells of the matrix.

    Attributes:
        rate: rate of doublets.
        probability: float64, shape (cells,): probability of being a doublet, given the tree.
        first, second: int32, shape (cells,): the most likely pair of nodes, the lower number first.
        relevant_rate: expected part of the cells that are doublets of two branches.
        branches: float64, shape (cells,): probability of being one of those; None if not known.
        prior: probability of being one of those before the cells were looked at, with the shares of the nodes
            that the model has.
    """

    rate: float
    probability: NDArray[np.float64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    relevant_rate: float
    branches: NDArray[np.float64] | None = None
    prior: float = 0.0

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def expected(self) -> float:
        """Expected number of doublets, given the tree."""
        return float(self.probability.sum())

    def to_dict(self) -> dict[str, float]:
        """Return rate, expected number of doublets, and the rate of those of two branches, as plain values.

        They have ten digits, which all versions of numpy share.
        """
        values = {"rate": self.rate, "expected": self.expected, "relevant_rate": self.relevant_rate}
        return {name: float(f"{value:.10g}") for name, value in values.items()}


class _Steps(NamedTuple):
    """Input of a walk over a tree.

    Attributes:
        order: all nodes, children before their parents.
        below: children of each node, in ascending order.
        weights: float64, shape (n + 1, columns): what each mutation adds to the score of a column; root: 0.
        base: float64, shape (columns,): score of a column at the root.
        column_of: int32, shape (cells,): distinct column of each cell.
        log_shares: float64, shape (n + 1,): natural logarithms of the shares of the nodes; None if all are
            equal.
    """

    order: list[int]
    below: list[list[int]]
    weights: NDArray[np.float64]
    base: NDArray[np.float64]
    column_of: NDArray[np.int32]
    log_shares: NDArray[np.float64] | None = None

    def of_nodes(self) -> NDArray[np.float64]:
        """Return the logarithm of each node's weight in the sums, (n + 1, columns): 0 without shares."""
        if self.log_shares is None:
            return np.zeros_like(self.weights)
        return np.repeat(self.log_shares[:, None], self.weights.shape[1], axis=1)


def _steps(
    matrix: Matrix, rates: ObservationModel, parents: ArrayLike, shares: NDArray[np.float64] | None = None
) -> _Steps:
    tree = tree_of_matrix(matrix, parents)
    order, logs = preorder(tree)[::-1].tolist(), None if shares is None else np.log(shares)
    entries = entries_of(matrix, rates)
    weights = np.zeros((len(tree), len(entries.base)))
    weights[:-1] = entries.weights
    return _Steps(order, children(tree), weights, entries.base, entries.column_of, logs)


def mixture_of(
    matrix: Matrix, rates: ObservationModel, parents: ArrayLike, shares: NDArray[np.float64] | None = None
) -> Mixture:
    """Return the cells' likelihoods as single cells and as doublets: O(n) per distinct column.

    The pairs whose lowest common ancestor is a node are added up child by child, so all terms are positive.

    Args:
        matrix: the observed values.
        rates: the error rates.
        parents: a parent vector, shape (n_mutations + 1,).
        shares: float64, shape (n_mutations + 1,): part of the cells at each node; equal by default.

    Raises:
        TreeError: the parent vector is invalid.
        MatrixError: the tree has a different number of mutations, or there are homozygous mutations and no
            rates for them.
    """
    return _mixture(_steps(matrix, rates, parents, shares))


def fitted_shares(
    matrix: Matrix,
    rates: ObservationModel,
    parents: NDArray[np.int32],
    rate: float,
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the shares of the nodes under which a tree is most likely, float64, shape (n_mutations + 1,).

    Args:
        matrix, rates, parents, rate: as for `doublet_log_likelihood`, with its errors.
        start: the first shares of a climb; equal by default.
    """
    steps = _steps(matrix, rates, parents)
    cells = np.bincount(steps.column_of).astype(np.float64)
    return fit_shares(parents, steps.weights[:-1] / math.log(2.0), cells, rate, start)


def _mixture(steps: _Steps) -> Mixture:
    order, below, weights, base, column_of, shares = steps
    single, pair = steps.of_nodes(), 2.0 * steps.of_nodes()
    relevant = np.full_like(weights, -np.inf)
    for node in order:
        among = np.full(weights.shape[1], -np.inf)  # sum over the children so far, without the node itself
        for child in below[node]:
            added = weights[child] + single[child]
            pair[node] = np.logaddexp(
                np.logaddexp(pair[node], math.log(2.0) + single[node] + added), weights[child] + pair[child]
            )
            relevant[node] = np.logaddexp(
                np.logaddexp(relevant[node], math.log(2.0) + among + added), weights[child] + relevant[child]
            )
            among = np.logaddexp(among, added)
            single[node] = np.logaddexp(single[node], added)
    nodes = math.log(len(weights)) if shares is None else 0.0
    return Mixture(
        (base + single[-1] - nodes)[column_of],
        (base + pair[-1] - 2 * nodes)[column_of],
        (base + relevant[-1] - 2 * nodes)[column_of],
    )


def doublet_log_likelihood(matrix: Matrix, rates: ObservationModel, parents: ArrayLike, rate: float) -> float:
    """Return the log-likelihood of a tree with doublets: natural log, float64.

    Args:
        matrix, rates, parents: as for `mixture_of`, with its errors.
        rate: rate of doublets.
    """
    return math.fsum(mixture_of(matrix, rates, parents).log_likelihoods(rate).tolist())


def fitted_rate(mixture: Mixture, start: float = EM_START) -> float:
    """Return the rate of doublets that makes a tree most likely, by EM from a start (∞SCITE's start: 0.5)."""
    rate, expected = start, math.inf
    for _ in range(EM_MOST):
        doublets = float(mixture.probabilities(rate).sum())
        rate = doublets / len(mixture.single)
        if abs(doublets - expected) <= EM_CHANGE:
            break
        expected = doublets
    return rate


def best_rate(matrix: Matrix, rates: ObservationModel, parents: ArrayLike) -> float:
    """Return the rate of doublets that makes a tree most likely, see `fitted_rate`.

    Args:
        matrix, rates, parents: as for `mixture_of`, with its errors.
    """
    return fitted_rate(mixture_of(matrix, rates, parents))


def call_doublets(
    matrix: Matrix,
    rates: ObservationModel,
    parents: ArrayLike,
    rate: float,
    shares: NDArray[np.float64] | None = None,
) -> Doublets:
    """Return every cell's probability of being a doublet, and its most likely pair of nodes.

    Args:
        matrix, rates, parents, rate: as for `doublet_log_likelihood`, with its errors.
        shares: as for `mixture_of`.
    """
    steps = _steps(matrix, rates, parents, shares)
    mixture, (first, second) = _mixture(steps), _best_pairs(steps)
    tree = tree_of_matrix(matrix, parents)
    prior = rate * apart_share(tree, np.full(len(tree), 1.0 / len(tree)) if shares is None else shares)
    return Doublets(
        rate, mixture.probabilities(rate), first, second, mixture.relevant_rate(rate),
        mixture.branches(rate), prior,
    )  # fmt: skip


def apart_share(parents: NDArray[np.int32], shares: NDArray[np.float64]) -> float:
    """Return the probability that two cells are at nodes of different branches.

    Args:
        parents: a tree.
        shares: float64, shape (nodes,): part of the cells at each node.
    """
    order = preorder(parents)
    below = shares.astype(np.float64)  # at a node and below it
    for node in order[:0:-1].tolist():
        below[parents[node]] += below[node]
    related = 2.0 * float(shares @ below) - float(shares @ shares)
    return max(0.0, 1.0 - related)


def best_pairs(
    parents: NDArray[np.int32], weights: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the most likely pair of nodes of each column of a tree with shares, int32, (columns,) each.

    Args:
        parents: int32, shape (n + 1,): the tree.
        weights: float64, shape (n + 1, columns): what each mutation adds to a score, natural log; root: 0.
        shares: float64, shape (n + 1,): part of the cells at each node.
    """
    columns = weights.shape[1]
    order = preorder(parents)[::-1].tolist()
    steps = _Steps(order, children(parents), weights, np.zeros(columns), np.arange(columns), np.log(shares))
    return _best_pairs(steps)


def _best_pairs(steps: _Steps) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the most likely pair of nodes of every cell; of equal ones, the first that is found."""
    order, below, weights, _base, column_of, shares = steps
    shape = weights.shape
    single, pair = steps.of_nodes(), 2.0 * steps.of_nodes()
    twice = 0.0 if shares is None else math.log(2.0)  # either of two nodes may be the first
    of_single = np.repeat(np.arange(shape[0], dtype=np.int32)[:, None], shape[1], axis=1)
    ones, others = of_single.copy(), of_single.copy()
    for node in order:
        for child in below[node]:
            added = weights[child] + single[child]
            crossed, inner = single[node] + added + twice, weights[child] + pair[child]
            better = crossed > pair[node]
            pair[node][better] = crossed[better]
            ones[node][better], others[node][better] = of_single[node][better], of_single[child][better]
            better = inner > pair[node]
            pair[node][better] = inner[better]
            ones[node][better], others[node][better] = ones[child][better], others[child][better]
            better = added > single[node]
            single[node][better] = added[better]
            of_single[node][better] = of_single[child][better]
    low, high = np.minimum(ones[-1], others[-1]), np.maximum(ones[-1], others[-1])
    return low[column_of], high[column_of]
