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

_FEW_PLACES = 4
"""Pairs of a node and a column, per cell, up to which cells are counted by these, and not sorted by node."""


class Observed(NamedTuple):
    """Values of the distinct columns, and which cells have these columns.

    Attributes:
        column_of: int32, shape (cells,): the column of each cell, in the order of `cells_by_column`.
        shown: bool, shape (2, columns, n): whether a column misses a mutation, and whether it shows it.
    """

    column_of: NDArray[np.int32]
    shown: NDArray[np.bool_]


def observed_in(problem: Problem) -> Observed:
    """Return what the cells of a problem show."""
    own = problem.observed.T
    known = own < problem.classes - 1
    shown = np.stack([known & (own % 2 == value) for value in (_MISSED, _SEEN)])
    return Observed(cells_by_column(problem), shown)


def missed_and_seen(
    observed: Observed, parents: NDArray[np.int32], nodes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often each mutation was missed and seen in the cells that have it: float64, (2, n).

    All numbers are whole, so that sums are exact in any order.

    Args:
        observed: what the cells show.
        parents: int32, shape (n + 1,): the tree.
        nodes: int64, shape (cells,): node of each cell, in the order of `cells_by_column`.
    """
    columns, at_or_above = observed.shown.shape[1], ancestor_matrix(parents)[:-1]
    if len(parents) * columns <= _FEW_PLACES * len(nodes):
        places = np.bincount(nodes * columns + observed.column_of, minlength=len(parents) * columns)
        cells = at_or_above.astype(np.float64) @ places.reshape(-1, columns)  # with the mutation, by column
        return np.asarray((cells.T * observed.shown).sum(axis=1), dtype=np.float64)
    has = np.ascontiguousarray(at_or_above.T)[nodes]
    return np.array(
        [(has & shown[observed.column_of]).sum(axis=0) for shown in observed.shown], dtype=np.float64
    )


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
        return np.array(
            [
                [
                    np.bincount(self._groups, weights=one, minlength=self._count)
                    for one in missed_and_seen(self._observed, tree, own)
                ]
                for tree, own in zip(trees, nodes, strict=True)
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
