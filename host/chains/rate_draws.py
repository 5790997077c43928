"""Draws of the rates of false negatives of mutations, in Gibbs steps.

Given the tree and the node of each cell, the cells with a mutation are known, and so are the numbers in which
it was missed and seen. These give the point of the common Beta, and then the rate of each group of mutations.

Source: docs/model.md, "Dropout of each mutation".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.cells_at_nodes import cells_by_column
from syclade.host.chains.shares import log2_gamma
from syclade.host.data.model.dropout import class_weights, draw_common_beta
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["Observed", "RateDraws", "missed_and_seen", "observed_in"]

_MISSED, _SEEN = 0, 1


class Observed(NamedTuple):
    """Values of the distinct columns, and which cells have these columns.

    Attributes:
        column_of: int32, shape (cells,): the column of each cell, in the order of `cells_by_column`.
        first: int64, shape (columns + 1,): the first cell of each column, and the number of cells.
        shown: bool, shape (2, columns, n): whether a column misses a mutation, and whether it shows it.
        rows: float32, shape (columns, 2 n): the same, for products.
    """

    column_of: NDArray[np.int32]
    first: NDArray[np.int64]
    shown: NDArray[np.bool_]
    rows: NDArray[np.float32]


def observed_in(problem: Problem) -> Observed:
    """Return what the cells of a problem show."""
    own = problem.observed.T
    known = own < problem.classes - 1
    shown = np.stack([known & (own % 2 == value) for value in (_MISSED, _SEEN)])
    rows = shown.transpose(1, 0, 2).reshape(problem.columns, -1).astype(np.float32)
    first = np.append(0, np.cumsum(problem.multiplicity))
    return Observed(cells_by_column(problem), first, shown, rows)


def missed_and_seen(
    observed: Observed, trees: NDArray[np.int32], nodes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often each mutation was missed and seen in the cells that have it: float64, (chains, 2, n).

    All numbers are whole, so that sums are exact in any order.

    Args:
        observed: what the cells show.
        trees: int32, shape (chains, n + 1).
        nodes: int64, shape (chains, cells): node of each cell, in the order of `cells_by_column`.
    """
    at_or_above = np.array([ancestor_matrix(tree)[:-1] for tree in trees])
    if trees.shape[1] > nodes.shape[1]:
        has = [np.ascontiguousarray(above.T)[own] for above, own in zip(at_or_above, nodes, strict=True)]
        values = observed.shown[:, observed.column_of]
        return np.array([(own & values).sum(axis=1) for own in has], dtype=np.float64)
    at_nodes = _shown_at_nodes(observed, nodes, trees.shape[1])
    found = np.einsum("cgv,cvsg->csg", at_or_above.astype(np.float32), at_nodes)
    return np.asarray(found, dtype=np.float64)


def _shown_at_nodes(observed: Observed, nodes: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """Return how many cells at each node miss each mutation, and show it: (chains, nodes, 2, n).

    Up to 2^24 cells, whole numbers are exact.
    """
    from scipy.sparse import csc_array

    chains = len(nodes)
    places = (nodes + count * np.arange(chains)[:, None]).T.ravel()  # of the cells of a column together
    entries = np.ones(nodes.size, dtype=np.float32), places, chains * observed.first
    found = csc_array(entries, shape=(chains * count, len(observed.rows))) @ observed.rows
    return np.asarray(found).reshape(chains, count, 2, -1)


class RateDraws:
    """Draws of the rates of groups of mutations, and of the common Beta, for several chains at once.

    Args:
        problem: of the groups (`problem_of_groups`).
        fp_rate: rate of false positives.
        groups: int64, shape (n,): group of each mutation.
    """

    def __init__(self, problem: Problem, fp_rate: float, groups: NDArray[np.int64]) -> None:
        self._problem, self._fp_rate, self._groups = problem, fp_rate, groups
        self._observed, self._count = observed_in(problem), int(groups.max()) + 1

    def counts(self, trees: NDArray[np.int32], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how often the mutations of each group were missed and seen: float64, (chains, 2, groups).

        Args:
            trees: int32, shape (chains, n + 1).
            nodes: int64, shape (chains, cells): node of each cell, in the order of `cells_by_column`.
        """
        found = missed_and_seen(self._observed, trees, nodes)
        return np.array(
            [
                [np.bincount(self._groups, weights=one, minlength=self._count) for one in both]
                for both in found
            ]
        )

    def common(self, counts: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shapes of each chain's common Beta, drawn given `counts`: float64, (chains, 2).

        Args:
            counts: as `counts` returns them.
            numbers: float64, shape (chains,): uniform numbers.
        """
        pairs = zip(counts, numbers.tolist(), strict=True)
        return np.array([draw_common_beta(missed, seen, number) for (missed, seen), number in pairs])

    @property
    def numbers(self) -> int:
        """Uniform numbers of `weights` for each chain."""
        return 4 * self._count

    def weights(
        self, counts: NDArray[np.float64], common: NDArray[np.float64], numbers: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the weights of each chain's classes of observed values, after a draw of all rates.

        Args:
            counts: as `counts` returns them.
            common: as `common` returns them.
            numbers: float64, shape (chains, `numbers`): uniform numbers.

        Returns:
            int64, shape (chains, classes).
        """
        parts = numbers.reshape(len(numbers), 2, 2, self._count)
        of_both = log2_gamma(common[:, :, None] + counts, parts[:, :, 0], parts[:, :, 1])
        lost = of_both[:, _MISSED] - of_both[:, _SEEN]
        rates = 1.0 / (1.0 + np.exp2(np.clip(-lost, -100.0, 100.0)))
        return class_weights(self._problem, self._fp_rate, rates)
