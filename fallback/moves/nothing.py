"""The null move: the proposal of a move that can do nothing."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import NOTHING, Proposals


def nothing(v: NDArray[np.int64]) -> Proposals:
    """Return proposals that leave the trees as they are."""
    none = np.zeros(len(v), dtype=np.int64)
    return Proposals(none - 1, none + NOTHING, v, v, v, none)
