"""The maximum over a range of places, as that of four rows of the tables."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.layout import Layout

Numbers = NDArray[np.int64]

_NOWHERE = 1 << 40
"""More than any row number. Rows are taken with numbers clipped, so that this means the last row, `low`."""


class RangeMaximum:
    """Finds the rows for many ranges at once.

    A range within one block is covered by two windows, which may overlap. A longer one consists of a suffix
    of its first block, a prefix of its last one, and two overlapping runs of the blocks between them.
    """

    def __init__(self, layout: Layout) -> None:
        self._bits = layout.block_bits
        block = 1 << layout.block_bits
        self._across = block - 1
        plan = np.full((4, block + layout.blocks + 1), _NOWHERE, dtype=np.int64)
        near_start, far_start, near_stop, far_stop = plan
        for length in range(1, block):
            level = length.bit_length() - 1
            near_start[length] = level * layout.places
            near_stop[length] = level * layout.places - (1 << level)
        near_start[block:] = layout.suffix
        near_stop[block:] = layout.prefix
        all_blocks = layout.slots * layout.blocks
        for between in range(1, layout.blocks):
            level = between.bit_length() - 1
            run = layout.runs + level * all_blocks
            far_start[block + between] = run + 1
            far_stop[block + between] = run - (1 << level)
        self._plan = plan

    def __call__(
        self,
        cuts: Numbers,  # IN (ranges + 1, lanes): places; each range ends where the next one starts
        rows: Numbers,  # OUT (4, ranges, lanes): rows whose maximum is that of the range; all `low` if empty
    ) -> None:
        """The rows, any number beyond the last meaning the last."""
        ends = np.empty((2, *cuts.shape), dtype=np.int64)
        ends[0] = cuts
        np.right_shift(cuts, self._bits, out=ends[1])
        length, apart = ends[:, 1:] - ends[:, :-1]
        key = np.where(apart > 0, apart + self._across, length)
        self._plan.take(key, axis=1, out=rows, mode="clip")
        rows[:2] += ends[:, :-1]
        rows[2:] += ends[:, 1:]
