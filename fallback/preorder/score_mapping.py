"""Score mapping: a proposal's score from range maxima (the mirror of `kernels/preorder/score_mapping.py`)."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.propose import Moves
from syclade.fallback.preorder.range_maximum import PLANES, RangeMaximum
from syclade.fallback.preorder.rebuild import as_items
from syclade.fallback.preorder.trees import Numbers

Scores = NDArray[np.int32]

CHUNK_BYTES = 2**20
"""Lanes are worked on in groups whose rows fit in a level 2 cache."""

_SHIFT = 2 * PLANES

_OUTER = np.array((4, 1, 0, 8, 5, 10, 9, 17, 14, 13, 21, 18, 23, 22, _SHIFT, _SHIFT + 1))
"""Rows for the ranges after, first and before: planes of spans, then two of heads (after, first), then two of
tails (first, before); the other halves of these planes; first's shift, plus and minus."""

_INNER = np.array((2, 3, 6, 7, 11, 12, 15, 16, 19, 20, 24, 25, _SHIFT + 2, _SHIFT + 3))
"""Rows for the ranges middle and last: planes of spans, heads and tails; the other halves; last's shift."""


class ScoreMapping:
    """Scores proposals for one problem and layout."""

    def __init__(
        self,
        layout: Layout,
        multiplicity: Numbers,  # IN (cells,)
    ) -> None:
        self._find = RangeMaximum(layout)
        self._multiplicity = multiplicity
        self._chunk = max(8, CHUNK_BYTES // (4 * len(_OUTER) * len(multiplicity)))

    def __call__(
        self,
        tables: Scores,  # IN (rows, cells)
        moves: Moves,  # IN
    ) -> Numbers:
        """(lanes,): sum over cells of multiplicity * best score in the proposed tree."""
        lanes = len(moves.nested)
        rows = np.empty((_SHIFT + 4, lanes), dtype=np.int64)
        self._find(moves.cuts, rows[:_SHIFT].reshape(2, PLANES, lanes))
        rows[-4:-2] = moves.shift
        rows[-2:] = np.where(moves.nested, moves.shift, moves.shift[::-1])
        swaps = (moves.cuts[2] != moves.cuts[4]).nonzero()[0]
        outer = rows.take(_OUTER, axis=0)
        inner = rows.take(_INNER, axis=0).take(swaps, axis=1)
        scores = np.empty(lanes, dtype=np.int64)
        for start in range(0, lanes, self._chunk):
            stop = start + self._chunk
            best = _best_outside(tables, outer[:, start:stop])
            low, high = (0, len(swaps)) if lanes <= self._chunk else swaps.searchsorted((start, stop))
            if low < high:
                chosen = swaps[low:high]
                within = _best_inside(tables, inner[:, low:high], chosen, moves.inner)
                chosen = chosen - start
                np.maximum(within, best.take(chosen, axis=0), out=within)
                as_items(best)[chosen] = as_items(within)
            # Not `@`: that is slower for integers, and for floats it may wake up threads.
            scores[start:stop] = np.einsum("lc,c->l", best.astype(np.int64), self._multiplicity)
        return scores


def _best_outside(
    tables: Scores,  # IN (rows, cells)
    rows: Numbers,  # IN (16, lanes): see _OUTER
) -> Scores:
    """Best scores before, in and after the first range, (lanes, cells)."""
    taken = _taken(tables, rows)
    np.maximum(taken[:7], taken[7:14], out=taken[:7])
    np.maximum(taken[:2], taken[3:5], out=taken[:2])
    np.maximum(taken[1:3], taken[5:7], out=taken[1:3])
    taken[1] += np.subtract(taken[14], taken[15], out=taken[14])
    np.maximum(taken[0], taken[1], out=taken[0])
    return np.maximum(taken[0], taken[2], out=taken[0])


def _best_inside(
    tables: Scores,  # IN (rows, cells)
    rows: Numbers,  # IN (14, swaps): see _INNER
    lanes: Numbers,  # IN (swaps,)
    related: Numbers,  # IN (3, any): Moves.inner
) -> Scores:
    """Best scores in the middle and the last range, (swaps, cells)."""
    taken = _taken(tables, rows)
    np.maximum(taken[:6], taken[6:12], out=taken[:6])
    np.maximum(taken[:2], taken[2:4], out=taken[:2])
    np.maximum(taken[:2], taken[4:6], out=taken[:2])
    taken[1] += np.subtract(taken[12], taken[13], out=taken[12])
    if related.size:
        here = related[:, (related[0] >= lanes[0]) & (related[0] <= lanes[-1])]
        taken[0, lanes.searchsorted(here[0])] += tables[here[1]] - tables[here[2]]
    return np.maximum(taken[0], taken[1], out=taken[0])


def _taken(
    tables: Scores,  # IN (rows, cells)
    rows: Numbers,  # IN (rows a lane, lanes): numbers beyond the last row mean the last
) -> Scores:
    """(rows a lane, lanes, cells)."""
    taken = np.empty((*rows.shape, tables.shape[1]), dtype=np.int32)
    tables.take(rows, axis=0, out=taken, mode="clip")
    return taken
