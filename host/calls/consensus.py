"""Columns whose consensus is an indel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.indel_counts import IndelCounts, Qualities

__all__ = ["consensus_indels"]


def consensus_indels(counts: IndelCounts) -> NDArray[np.bool_]:
    """Return where an indel has a larger sum of qualities than all reads without its kind, bool, (columns,).

    LoFreq does not test the bases of such columns.
    """
    found = np.zeros(len(counts.depth), dtype=bool)
    for column, indels in counts.by_column.items():
        for inserted in (True, False):
            mine = [counts.indels[one] for one in indels if (one.length > 0) == inserted]
            others = [counts.indels[one] for one in indels if (one.length > 0) != inserted]
            against = sum(_sum_of(one, inserted) for one in (counts.without_at(column), *others))
            found[column] |= max((_sum_of(one, inserted) for one in mine), default=0) > against
    return found


def _sum_of(reads: Qualities, inserted: bool) -> int:
    quality = reads.insertion if inserted else reads.deletion
    return int((quality * reads.count).sum())
