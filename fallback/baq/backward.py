"""The backward algorithm: probability of the bases after i, from each state of each place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.blocks import INSERTED, Block
from syclade.fallback.baq.forward import Forward, chain_of

__all__ = ["Backward", "backward_of", "continued"]


class Backward(NamedTuple):
    """Backward probabilities of row i, scaled except for the last row; float64, (cells, reads).

    Attributes:
        i: the row.
        matches, insertions: its probabilities.
        next_matches: those of the row after it.
    """

    i: int
    matches: NDArray[np.float64]
    insertions: NDArray[np.float64]
    next_matches: NDArray[np.float64]


def backward_of(block: Block, forward: Forward) -> Iterator[Backward]:
    """Yield the rows of a block, the last one first."""
    i, scales = block.query, forward.scales
    matches, insertions, nothing = block.rows(3)
    first, end = block.cells(i)
    matches[first:end] = insertions[first:end] = block.chances[6] / scales[i] / scales[i + 1]
    yield Backward(i, matches, insertions, nothing)
    for i in range(block.query - 1, 0, -1):
        old = matches
        matches, insertions = _row_before(block, i, matches, insertions)
        scale = 1.0 / scales[i]
        matches *= scale
        insertions *= scale
        yield Backward(i, matches, insertions, old)


def continued(block: Block, i: int, old_matches: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that a match of base i + 1 follows at the next place, from each place of row i.

    Args:
        block: the reads.
        i: the row.
        old_matches: backward probabilities of row i + 1.
    """
    (begin, end), (first, after) = block.places(i), block.cells(i)
    match = np.zeros((after - first, old_matches.shape[1]))
    last = min(end, block.reference - 1)  # no place follows the last one of the window
    number = last - begin + 1
    if number > 0:
        found = block.emission(i + 1, begin + 1, last + 1)
        match[:number] = found * old_matches[first : first + number]
    return match


def _row_before(
    block: Block, i: int, old_matches: NDArray[np.float64], old_insertions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return matches and insertions of row i, unscaled, from those of the row after it."""
    m_to_m, m_to_id, i_to_m, i_to_i, d_to_m, d_to_d, *_ = block.chances
    first, end = block.cells(i)
    match = continued(block, i, old_matches)
    inserted = old_insertions[first - 1 : end - 1]
    right_deletion = np.zeros_like(match)
    if i > 1:  # nothing is deleted before the first base
        right_deletion = chain_of((match * d_to_m)[::-1], d_to_d)[::-1]
    matches, insertions, _ = block.rows(3)
    matches[first:end] = match * m_to_m + INSERTED * m_to_id * inserted + m_to_id * right_deletion
    insertions[first:end] = match * i_to_m + INSERTED * i_to_i * inserted
    return matches, insertions
