"""The most likely state of each base, and its quality."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.backward import Backward, backward_of
from syclade.fallback.baq.blocks import Block, blocks_of
from syclade.fallback.baq.forward import Forward, forward_of

__all__ = ["compute_states"]

HIGHEST = 99
"""Quality beyond which all are the same."""

CERTAIN = 127
"""Entry of `limits` with the quality of an error probability of 0."""


def compute_states(arrays: dict[str, NDArray[Any]], slots: NDArray[np.intp]) -> None:
    """Write states and confidence of the reads of slots.

    Args:
        arrays: those of `kernels.baq.arguments.BAQ`.
        slots: the slots.
    """
    states, confidence = arrays["states"].ravel(), arrays["confidence"].ravel()
    for slot in slots.tolist():
        for block in blocks_of(arrays, slot):
            forward = forward_of(block)
            for row in backward_of(block, forward):
                state, error = _best_state(block, forward, row)
                states[block.letters[row.i - 1]] = state
                confidence[block.letters[row.i - 1]] = _quality_of(arrays["limits"], error)


def _best_state(
    block: Block, forward: Forward, row: Backward
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the best state of each read in a row, and its error probability."""
    first, end = block.cells(row.i)
    weights = np.empty((2 * (end - first), block.bases.shape[1]))  # matches and insertions in turns
    weights[::2] = forward.matches[row.i, first:end] * row.matches[first:end]
    weights[1::2] = forward.insertions[row.i, first:end] * row.insertions[first:end]
    place, inserted = np.divmod(weights.argmax(axis=0), 2)
    best = weights.max(axis=0)
    state = 4 * (block.places(row.i)[0] - 1 + place) + inserted
    total = np.add.accumulate(weights)[-1]
    return np.where(best > 0.0, state, -1), 1.0 - best / total


def _quality_of(limits: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the largest quality whose limit each error probability does not exceed, at most 99."""
    increasing = limits[1 : HIGHEST + 1][::-1]
    quality = HIGHEST - np.searchsorted(increasing, error)
    return np.where(error == 0.0, int(limits[CERTAIN]), quality)
