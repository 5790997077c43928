"""Pairs of mutations of which no cell tells anything, since they were called in different cells.

Specimens with different panels have such pairs. Samples of trees prefer a relation for them nevertheless,
since the share of each clone is that of all specimens together; that is no evidence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.evidence import PairCounts
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.consensus.search import Thresholds

__all__ = ["consequences", "unobserved_in"]

_TOGETHER = 0.5
"""Part of the cells with values of both that would be expected if missing values did not depend on each
other, from which two mutations were called together."""


def unobserved_in(
    relations: Relations, counts: PairCounts, cells: int, thresholds: Thresholds
) -> NDArray[np.bool_] | None:
    """Return the pairs without an observation of them, or a consequence of others; None if there are none.

    A pair is observed if a cell has values of both and one of them, or if about as many cells have values of
    both as where missing values are random: a relation of rare mutations is then open by chance alone. A
    relation is a consequence of others if, for example, the first mutation is before a third one, and that
    before the second. Mutations without a claimed order say nothing of each other's relations: the first may
    be above the second, or below it.

    Args:
        relations: relations of the mutations in the samples.
        counts: of the same mutations.
        cells: number of cells.
        thresholds: the least probabilities of relations that count.

    Returns:
        bool, shape (n, n), symmetric.
    """
    seen = counts.both + counts.only + counts.only.T
    together = seen + counts.neither
    called = together.diagonal()
    observed = (seen > 0) | (together * cells >= _TOGETHER * np.outer(called, called))
    if observed.all():
        return None
    before, apart = relations.before > thresholds.before, relations.apart > thresholds.apart
    before, apart = consequences(before & observed, apart & observed)
    found = ~(observed | before | before.T | apart)
    np.fill_diagonal(found, False)
    return found if found.any() else None


def consequences(
    before: NDArray[np.bool_], apart: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return all relations that follow from some, and these: (before, apart).

    Args:
        before: bool, shape (n, n): whether the row's mutation is before the column's.
        apart: bool, shape (n, n), symmetric: whether they are on different lineages.
    """

    def joined(one: NDArray[np.bool_], two: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.asarray(one.astype(np.float32) @ two.astype(np.float32) > 0.5)

    before, apart, count = before.copy(), apart.copy(), -1
    while count != (count := int(before.sum() + apart.sum())):
        before |= joined(before, before)
        # what is below one of two lineages is not on the other
        below = joined(apart, before)
        apart |= below | below.T
    return before, apart
