"""The maximum over a range of places, as that of a few rows of the tables."""

import numpy as np

from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.trees import Numbers

PLANES = 13
"""Row numbers a lane, twice: each of these maxima is that of two rows.

Planes 0 … 4 are the ranges' spans of whole blocks; 5 … 8 are the heads of all ranges but the first, and
9 … 12 the tails of all ranges but the last.
"""

_NOWHERE = 1 << 40
"""More than any row number. Rows are taken with numbers clipped, so that this means the last row, `low`."""


class RangeMaximum:
    """Finds the rows for the five ranges that four cut points make of a slot's places.

    A range consists of a head up to the first border of a block, a span of whole blocks and a tail, and each
    of them is covered by two windows or two spans from the tables, which may overlap. A range between two
    borders is all head.
    """

    def __init__(self, layout: Layout) -> None:
        self._bits = layout.block_bits
        self._mask = (1 << layout.block_bits) - 1
        # Two rows that cover so many places, as seen from their start; and so many blocks.
        windows, spans = [(_NOWHERE, _NOWHERE)], [(_NOWHERE, _NOWHERE)]
        for places in range(1, self._mask + 1):
            level = places.bit_length() - 1
            windows.append((level * layout.places, level * layout.places + places - (1 << level)))
        for blocks in range(1, layout.blocks):
            level = blocks.bit_length() - 1
            span = layout.spans + level * layout.slots * layout.blocks
            spans.append((span, span - (1 << level)))
        self._window = np.array(windows, dtype=np.int64).T.copy()
        # By the last bits of the place where a head starts or a tail ends: (2, head or tail, places).
        length = np.arange(self._mask + 1)
        self._ends = np.stack((self._window[:, -length], self._window - length), axis=1)
        # The second row is counted from the end of the span.
        self._span = np.array(spans, dtype=np.int64).T.copy()

    def __call__(
        self,
        cuts: Numbers,  # IN (6, lanes): places in ascending order; the first and the last are borders
        rows: Numbers,  # OUT (2, 13, lanes): numbers beyond the last row mean that row
    ) -> None:
        """Find the rows, as PLANES has them."""
        start, stop, inner = cuts[:-1], cuts[1:], cuts[1:-1]
        first = (start + self._mask) >> self._bits
        last = stop >> self._bits
        blocks = last - first
        span = self._span.take(blocks, axis=1, mode="clip")
        np.add(span[0], first, out=rows[0, :5])
        np.add(span[1], last, out=rows[1, :5])
        ends = self._ends.take(inner & self._mask, axis=2)
        np.add(ends, inner, out=rows[:, 5:].reshape(2, 2, 4, -1))
        within = blocks[1:-1] < 0
        window = self._window.take(inner[1:] - inner[:-1], axis=1, mode="clip")
        window += inner[:-1]
        np.copyto(rows[:, 5:8], window, where=within)
        np.copyto(rows[:, 10:13], _NOWHERE, where=within)
