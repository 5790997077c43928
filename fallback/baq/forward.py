"""The forward algorithm: probability of the first i bases, ending in each state of each place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.blocks import INSERTED, Block

__all__ = ["Forward", "chain_of", "forward_of"]


class Forward(NamedTuple):
    """Forward probabilities of reads.

    Attributes:
        matches, insertions: float64, (query + 1, cells, reads), rows scaled to sum 1.
        scales: float64, (query + 2, reads): sum of each row before that, and the probability of the end.
    """

    matches: NDArray[np.float64]
    insertions: NDArray[np.float64]
    scales: NDArray[np.float64]


def forward_of(block: Block) -> Forward:
    """Return the forward probabilities of a block."""
    found = Forward(
        block.rows(block.query + 1),
        block.rows(block.query + 1),
        np.zeros((block.query + 2, block.bases.shape[1])),
    )
    _first_row(block, found)
    deletions = block.rows(1)[0]
    for i in range(2, block.query + 1):
        deletions = _next_row(block, found, deletions, i)
    first, end = block.cells(block.query)
    to_end = block.chances[6]
    last = found.matches[-1, first:end] * to_end + found.insertions[-1, first:end] * to_end
    found.scales[-1] = _in_order(last)
    return found


def _first_row(block: Block, found: Forward) -> None:
    """Write row 1, which has no deletions."""
    *_, to_match, to_insertion = block.chances
    first, end = block.cells(1)
    match = block.emission(1, *block.places(1)) * to_match
    inserted = INSERTED * to_insertion
    total = _in_order(match + inserted)
    found.matches[1, first:end] = match / total
    found.insertions[1, first:end] = inserted / total
    found.scales[1] = total


def _next_row(
    block: Block, found: Forward, above_deletions: NDArray[np.float64], i: int
) -> NDArray[np.float64]:
    """Write row i, from the one before it; return its deletions."""
    m_to_m, m_to_id, i_to_m, i_to_i, d_to_m, d_to_d, *_ = block.chances
    first, end = block.cells(i)
    here, right = slice(first, end), slice(first + 1, end + 1)
    above_match, above_insertion = found.matches[i - 1], found.insertions[i - 1]
    match = block.emission(i, *block.places(i)) * (
        m_to_m * above_match[here] + i_to_m * above_insertion[here] + d_to_m * above_deletions[here]
    )
    insertion = INSERTED * (m_to_id * above_match[right] + i_to_i * above_insertion[right])
    deletion = chain_of(m_to_id * match, d_to_d)
    total = _in_order(match + insertion + deletion)
    scale = 1.0 / total
    found.matches[i, here] = match * scale
    found.insertions[i, here] = insertion * scale
    found.scales[i] = total
    deletions = np.zeros_like(above_deletions)
    deletions[here] = deletion * scale
    return deletions


def chain_of(opened: NDArray[np.float64], stay: float) -> NDArray[np.float64]:
    """Return x with x[0] = 0 and x[k] = opened[k − 1] + stay · x[k − 1], along the first axis."""
    chain = np.zeros_like(opened)
    for at in range(1, len(opened)):
        chain[at] = opened[at - 1] + stay * chain[at - 1]
    return chain


def _in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums along the first axis, added in its order."""
    return np.add.accumulate(values)[-1]
