"""Range maxima over the positions of trees: a sparse table over the rows of scores.

Row p of level k is the maximum, column by column, of rows p ... p + 2^k - 1 of the scores. The maximum over
an interval is that of two rows: one begins where the interval begins, and the other ends where it ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def levels_of(nodes: int) -> int:
    """Return the number of levels for intervals of up to nodes - 1 positions, including the scores."""
    return max(1, (nodes - 1).bit_length())


def renew(
    levels: Sequence[NDArray[np.int32]],  # IN OUT (nodes, columns) each: level 0 is given
    start: int,
    stop: int,
) -> None:
    """Recompute all maxima that depend on positions `start` ... `stop - 1`."""
    below, half = levels[0], 1
    nodes = len(below)
    for level in levels[1:]:
        first, last = start + 1 - 2 * half, nodes + 1 - 2 * half
        first, last = first if first > 0 else 0, last if last < stop else stop
        np.maximum(below[first:last], below[first + half : last + half], out=level[first:last])
        below, half = level, 2 * half


class Lookup:
    """Finds the two rows whose maximum is that of an interval, for trees with this number of nodes."""

    def __init__(self, nodes: int) -> None:
        length = np.arange(nodes + 1)
        level = np.maximum([number.bit_length() - 1 for number in length.tolist()], 0)
        self._first = level * nodes
        self._second = level * nodes - (1 << level)

    def rows(
        self,
        start: NDArray[np.int64],  # IN any shape
        stop: NDArray[np.int64],  # IN likewise
    ) -> NDArray[np.int64]:
        """Return the indices of the two rows, (2, ...), in a flat table (levels, nodes, columns).

        For empty intervals they are 0, the root's row.
        """
        length = stop - start
        found = np.stack((start + self._first.take(length), stop + self._second.take(length)))
        found *= length > 0
        return found
