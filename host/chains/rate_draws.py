"""Draws of the rates of false negatives of mutations, in Gibbs steps.

Given the tree and the node of each cell, the cells with a mutation are known, and so are the numbers in which
it was missed and seen. These give the point of the common Beta, and then the rate of each group of mutations.

Source: docs/model.md, "Dropout of each mutation".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.shares import log2_gamma
from syclade.host.data.model.dropout import class_weights, draw_common_beta
from syclade.host.data.model.problem import Problem

__all__ = ["RateDraws"]

_MISSED, _SEEN = 0, 1


class RateDraws:
    """Draws of the rates of groups of mutations, and of the common Beta, for several chains at once.

    Args:
        problem: of the groups (`problem_of_groups`).
        fp_rate: rate of false positives.
        groups: int64, shape (n,): group of each mutation.
    """

    def __init__(self, problem: Problem, fp_rate: float, groups: NDArray[np.int64]) -> None:
        self._problem, self._fp_rate, self._groups = problem, fp_rate, groups
        self._count = int(groups.max()) + 1

    def counts(self, found: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how often the mutations of each group were missed and seen: float64, (chains, 2, groups).

        Args:
            found: the same for each mutation, as `CellsAtNodes.missed_and_seen` returns it.
        """
        rows = found.transpose(0, 2, 1).reshape(-1, len(self._groups))
        groups = self._groups + self._count * np.arange(len(rows))[:, None]
        summed = np.bincount(groups.ravel(), rows.ravel(), self._count * len(rows))
        return summed.reshape(len(found), 2, self._count).astype(np.float64)

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
