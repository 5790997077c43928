"""The sum score: a cell's score is the logarithm of the sum of its likelihoods at all nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Score, State
from syclade.fallback.scores.powers import MANTISSA_BITS, logarithm_of_two, power_of_two


def of_attachments(state: State, slots: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """Return the cells' scores, (slots, columns) int64."""
    fraction = state["sum_fraction"][slots, None].astype(np.int32)
    spare = state["sum_spare"][slots, None].astype(np.int32)
    octave = scores.max(axis=1) >> fraction
    total = power_of_two(scores, octave[:, None, :], fraction[:, :, None], spare[:, :, None]).sum(
        axis=1, dtype=np.int32
    )
    bits = fraction.astype(np.int64)
    worth: NDArray[np.int64] = (
        (octave.astype(np.int64) - (MANTISSA_BITS - spare)) << bits
    ) + logarithm_of_two(total, bits)
    return worth


def of_cells(_state: State, _slots: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    """Return the logarithms of the sums, unchanged."""
    return found


SCORE = Score(of_cells=of_cells, of_attachments=of_attachments)
"""The sum score."""
