"""Posterior probabilities of cells in insertions and deletions, of the gaps that reads have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.backward import Backward, backward_of, continued
from syclade.fallback.baq.blocks import Block, blocks_of
from syclade.fallback.baq.forward import Forward, chain_of, forward_of

__all__ = ["compute_gaps"]


def compute_gaps(arrays: dict[str, NDArray[Any]], slots: NDArray[np.intp]) -> None:
    """Write the probabilities of the cells of gaps of slots.

    Args:
        arrays: those of `kernels.baq.gap_arguments.GAPS`.
        slots: the slots.
    """
    for slot in slots.tolist():
        for block in blocks_of(arrays, slot):
            forward, gaps = forward_of(block), _gaps_of(arrays, slot, block)
            for row in backward_of(block, forward):
                _store(arrays["posterior"].ravel(), gaps, block, forward, row)


def _gaps_of(arrays: dict[str, NDArray[Any]], slot: int, block: Block) -> NDArray[np.int64]:
    """Return the gaps of a block's reads, (gaps, 1 + numbers of a gap): the read in the block, and those."""
    first, count = (arrays[name][slot].ravel()[slice(*block.members)] for name in ("first_gap", "gap_count"))
    read = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(read)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    numbers = arrays["gap_numbers"].reshape(-1, arrays["gap_numbers"].shape[-1])[number]
    return np.concatenate([read[:, None], numbers], axis=1)


def _store(
    posterior: NDArray[np.float64], gaps: NDArray[np.int64], block: Block, forward: Forward, row: Backward
) -> None:
    """Write the cells of gaps in a row."""
    since = row.i - gaps[:, 2]
    here = (since >= 0) & (since < gaps[:, 4])
    since = since[here]
    read, deleted, _, place, _, first = gaps[here].T
    cell = block.band + 1 - row.i + place + since
    inserted = (
        forward.insertions[row.i][cell, read] * row.insertions[cell, read] * forward.scales[row.i][read]
    )
    found = np.where(deleted == 1, 0.0, inserted)
    if row.i < block.query and (deleted == 1).any():
        found = np.where(deleted == 1, _deletions(block, forward, row)[cell, read], found)
    posterior[first + since] = found


def _deletions(block: Block, forward: Forward, row: Backward) -> NDArray[np.float64]:
    """Return the probabilities of the deletions of a row, (cells, reads)."""
    _, m_to_id, _, _, d_to_m, d_to_d, *_ = block.chances
    first, end = block.cells(row.i)
    line = block.rows(1)[0]
    if row.i > 1:
        sum_of_row = forward.scales[row.i]
        before = chain_of(m_to_id * forward.matches[row.i, first:end], d_to_d)
        follows = continued(block, row.i, row.next_matches) * d_to_m
        after = follows + d_to_d * chain_of(follows[::-1], d_to_d)[::-1]
        line[first:end] = before * (after * (1.0 / sum_of_row)) * sum_of_row
    return line
