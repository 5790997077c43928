"""Score mapping: a proposal's score from range maxima (the mirror of `kernels/preorder/score_mapping.py`)."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.propose import Moves
from syclade.fallback.preorder.range_maximum import RangeMaximum

Numbers = NDArray[np.int64]
Scores = NDArray[np.int32]

CHUNK_BYTES = 2**20
"""Lanes are worked on in groups whose rows fit in a level 2 cache."""

_EXACT_CELLS = 2**23
"""Scores of a cell are below 2^30: float64 sums that many of them exactly, and faster than int64."""

_FIRST, _MIDDLE, _LAST = 1, 2, 3
_ROWS = 22


class ScoreMapping:
    """Scores proposals for one problem and layout."""

    def __init__(
        self,
        layout: Layout,
        multiplicity: Numbers,  # IN (cells,)
    ) -> None:
        self._find = RangeMaximum(layout)
        exact = int(multiplicity.sum()) <= _EXACT_CELLS
        self._multiplicity = multiplicity.astype(np.float64 if exact else np.int64)
        self._chunk = max(8, CHUNK_BYTES // (4 * _ROWS * len(multiplicity)))

    def __call__(
        self,
        tables: Scores,  # IN (rows, cells)
        moves: Moves,  # IN
    ) -> Numbers:
        """(lanes,): sum over cells of multiplicity * best score in the proposed tree."""
        lanes = len(moves.related)
        rows = np.empty((_ROWS, lanes), dtype=np.int64)
        self._find(moves.cuts, rows[:20].reshape(4, 5, lanes))
        rows[20:] = moves.shift
        sign = np.where(moves.related, np.int32(1), np.int32(-1))[:, None]
        scores = np.empty(lanes, dtype=np.int64)
        for start in range(0, lanes, self._chunk):
            part = slice(start, start + self._chunk)
            scores[part] = self._score(tables, rows[:, part], sign[part], start, moves.inner)
        return scores

    def _score(
        self,
        tables: Scores,  # IN (rows, cells)
        rows: Numbers,  # IN (22, lanes): of the five ranges, then of the shift
        sign: Scores,  # IN (lanes, 1): of the last range's shift
        start: int,  # IN number of the first lane
        inner: Numbers,  # IN (4, any): Moves.inner
    ) -> NDArray[np.float64] | Numbers:
        """Scores of some lanes, (lanes,)."""
        lanes = rows.shape[1]
        taken = np.empty((_ROWS, lanes, tables.shape[1]), dtype=np.int32)
        tables.take(rows, axis=0, out=taken, mode="clip")
        np.maximum(taken[:10], taken[10:20], out=taken[:10])
        best = np.maximum(taken[:5], taken[5:10], out=taken[:5])
        shift = np.subtract(taken[20], taken[21], out=taken[20])
        best[_FIRST] += shift
        best[_LAST] += np.multiply(shift, sign, out=taken[21])
        if inner.size:
            here = inner[:, (inner[0] >= start) & (inner[0] < start + lanes)]
            best[_MIDDLE, here[0] - start] += tables[here[1]] - tables[here[2]]
        highest = np.maximum.reduce(best, axis=0, out=best[0])
        return highest.astype(self._multiplicity.dtype) @ self._multiplicity
