"""Score mapping: the best attachment score of every cell (the mirror of `kernels/ancestor/score_mapping.py`).

Where the kernel counts bits of masked words, this looks up the summed weights of a few bits at a time in a
table made once per problem. The sums are the same integers.
"""

import numpy as np
from numpy.typing import NDArray

TABLE_BYTES = 128 * 2**20
"""Tables for eight bits at a time may take this much; beyond it they are for four bits at a time."""

CHUNK_BYTES = 2**17
"""Slots are worked on in groups whose scores fit in a level 2 cache."""


class ScoreMapping:
    """Scores trees for one problem.

    Args:
        columns: (mutations, cells) uint8: 0, 1 or 3.
        gain_one: what an observed one above the attachment adds.
        loss_zero: what an observed zero above it takes away.
        multiplicity: (cells,) int64.
    """

    def __init__(
        self, columns: NDArray[np.uint8], gain_one: int, loss_zero: int, multiplicity: NDArray[np.int64]
    ) -> None:
        mutations, cells = columns.shape
        weights = np.where(columns == 1, gain_one, np.where(columns == 0, -loss_zero, 0)).astype(np.int32)
        self._bits = 8 if -(-mutations // 8) * 256 * cells * 4 <= TABLE_BYTES else 4
        self._table = _subset_sums(weights, self._bits)
        self._multiplicity = multiplicity

    @property
    def memory_bytes(self) -> int:
        """Of the table."""
        return self._table.nbytes

    def __call__(
        self,
        trees: NDArray[np.uint64],  # IN (slots, words, nodes); rows of padding are 0 and score as the root
    ) -> NDArray[np.int64]:
        """(slots,): sum over cells of multiplicity * max over nodes of the score."""
        slots, _, nodes = trees.shape
        group = max(1, CHUNK_BYTES // (4 * nodes * len(self._multiplicity)))
        parts = [self._score(trees[start : start + group]) for start in range(0, slots, group)]
        return np.concatenate(parts) @ self._multiplicity

    def _score(self, trees: NDArray[np.uint64]) -> NDArray[np.int32]:
        """(slots, cells): the best score of each cell."""
        slots, words, nodes = trees.shape
        rows = np.ascontiguousarray(trees.transpose(0, 2, 1)).reshape(slots * nodes, words)
        digits = rows.astype("<u8", copy=False).view(np.uint8)
        if self._bits == 4:
            digits = np.stack((digits & 15, digits >> 4), axis=-1).reshape(slots * nodes, -1)
        scores = self._table[0].take(digits[:, 0], axis=0)
        term = np.empty_like(scores)
        for place in range(1, len(self._table)):
            self._table[place].take(digits[:, place], axis=0, out=term, mode="clip")
            scores += term
        best: NDArray[np.int32] = scores.reshape(slots, nodes, -1).max(axis=1)
        return best


def _subset_sums(weights: NDArray[np.int32], bits: int) -> NDArray[np.int32]:
    """(places, 2^bits, cells): the summed weights of every subset of each `bits` mutations in turn."""
    mutations, cells = weights.shape
    places = -(-mutations // bits)
    padded = np.zeros((places * bits, cells), dtype=np.int32)
    padded[:mutations] = weights
    table = np.zeros((places, 1, cells), dtype=np.int32)
    for bit in range(bits):
        table = np.concatenate((table, table + padded[bit::bits, None, :]), axis=1)
    return table
