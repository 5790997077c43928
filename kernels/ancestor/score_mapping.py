"""Score mapping: the best attachment score of every cell, by popcount of masked words (thesis 3.2).

A cell attached to node y carries the mutations of row y. Its score, relative to attachment at the root, is
(observed ones under the row) * gain of a one - (observed zeros under it) * loss of a zero.
"""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.words import popcount

_LOW_WORD = np.uint64(0xFFFFFFFF)


def make_score_mapping(nodes: int, words: int, cells: int, lanes: int) -> Callable[..., Any]:
    """Device function: the lane's share of the tree's score, over `cells` columns dealt out to `lanes`."""
    row_stride = np.uint64(nodes)
    cell_stride = np.uint64(cells)
    rounds = cells // lanes

    @dpex.device_func
    def score_mapping(
        tree,  # IN (slots, words, nodes) uint64, flat; rows of padding are 0 and score as the root
        base,  # IN uint64: where the slot's matrix starts
        ones,  # IN (words, cells) uint64, flat: bit g of column c is set iff mutation g was observed in c
        zeros,  # IN (words, cells) uint64, flat: ... iff g was observed absent
        multiplicity,  # IN (cells,) int64: how many cells have this column; 0 for padding
        gain_one,  # IN uint64 < 2^32: what an observed one under the row adds
        loss_zero,  # IN uint64 < 2^32: what an observed zero under the row takes away
        lane,  # IN uint64
    ):
        """Sum over the lane's columns of multiplicity * max over nodes of the score (int64)."""
        # Operands known to be below 2^32 make the product one cheap instruction.
        gain = gain_one & _LOW_WORD
        loss = loss_zero & _LOW_WORD
        share = np.int64(0)
        for part in range(rounds):
            cell = np.uint64(part * lanes) + lane
            best = np.int64(0)
            for node in range(nodes):
                count_one = np.uint64(0)
                count_zero = np.uint64(0)
                for index in range(words):
                    row = tree[base + np.uint64(index) * row_stride + np.uint64(node)]
                    at = np.uint64(index) * cell_stride + cell
                    count_one = count_one + popcount(row & ones[at])
                    count_zero = count_zero + popcount(row & zeros[at])
                score = np.int64((count_one & _LOW_WORD) * gain) - np.int64((count_zero & _LOW_WORD) * loss)
                best = max(best, score)
            share = share + best * multiplicity[cell]
        return share

    return score_mapping
