"""The space of mutation trees: a node for each mutation, and a column of scores for each distinct cell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Space
from syclade.fallback.chain.tables import Tables


def _tables(parents: NDArray[Any], weights: NDArray[Any], observed: NDArray[Any]) -> Tables:
    root = np.full((1, observed.shape[1]), weights.shape[1] - 1, dtype=np.uint8)
    return Tables(parents, weights.astype(np.int32)[:, np.concatenate((observed, root))])


SPACE = Space(
    labels=len,
    slot_bytes=lambda observed: Tables.slot_bytes(len(observed) + 1, observed.shape[1]),
    tables=_tables,
)
