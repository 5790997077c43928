"""Gain of a clone tree: the claims it makes that are likely enough, minus those that are not.

A tree claims of two mutations that one is before the other, or that they are apart, on different lineages.
Of mutations in one clone it claims nothing. A claim with probability p gains p - θ, with one θ for each kind.
So a claim pays if its probability is above θ, and the tree with the highest gain has the lowest expected
loss, where a wrong claim costs θ and a missing one 1 - θ. Samples in which no cells show an order do not
count for it (`count_unseparated`).

Gains are integers in units of 1 / (1000 samples), kept in float64, which is exact below 2^53. So sums do not
depend on their order, and equal samples give the same tree on any processor.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.relations import Relations

__all__ = ["THRESHOLDS", "Gains", "Thresholds", "gain_of", "gains_of", "with_open"]

_UNITS = 1000
"""Units of a threshold, and of a share."""


@dataclass(frozen=True)
class Thresholds:
    """The least probabilities of claims that pay, each a multiple of 0.001 from 0 to 1.

    Attributes:
        before: of one mutation before another.
        apart: of two mutations on different lineages.
    """

    before: float
    apart: float


THRESHOLDS = Thresholds(0.6, 0.6)
"""Default thresholds: the highest of those measured whose F1 is as good as the best (docs/samples.md)."""


@dataclass(frozen=True, eq=False)
class Gains:
    """Gain of each possible claim, in units of 1 / (1000 samples): whole numbers.

    Attributes:
        before: float64, shape (n, n): of the row's mutation before the column's; 0 on the diagonal.
        after: its transpose, contiguous.
        apart: float64, shape (n, n), symmetric: of the two on different lineages; 0 on the diagonal.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    apart: NDArray[np.float64]


def gains_of(relations: Relations, thresholds: Thresholds = THRESHOLDS) -> Gains:
    """Return the gain of each possible claim.

    Args:
        relations: counts of the relations in the samples.
        thresholds: the least probabilities of claims that pay.
    """
    tables = []
    for counts, threshold in (
        (relations.separated, thresholds.before),
        (relations.apart_counts, thresholds.apart),
    ):
        gains = _UNITS * counts - round(_UNITS * threshold) * relations.samples
        np.fill_diagonal(gains, 0)
        tables.append(gains.astype(np.float64))
    before, apart = tables
    return Gains(before, np.ascontiguousarray(before.T), apart)


def with_open(gains: Gains, pairs: Collection[tuple[int, int]]) -> Gains:
    """Return the gains with a loss for each claim on some pairs, greater than all other claims can gain.

    So the best tree claims nothing of these pairs: their mutations are in one clone.

    Args:
        gains: gains of claims.
        pairs: rows of two mutations each.
    """
    if not pairs:
        return gains
    highest = np.maximum(np.maximum(gains.before, gains.after), gains.apart)
    loss = -1.0 - float(np.triu(np.maximum(highest, 0.0)).sum())
    before, apart = gains.before.copy(), gains.apart.copy()
    for one, two in pairs:
        for table in (before, apart):
            table[one, two] = table[two, one] = loss
    return Gains(before, np.ascontiguousarray(before.T), apart)


def gain_of(tree: CloneTree, gains: Gains) -> int:
    """Return the gain of a clone tree by the definition: the sum over all of its claims."""
    apart = np.triu(tree.apart, 1)
    return int(gains.before[tree.before].sum() + gains.apart[apart].sum())
