"""The space of cell trees: a leaf for each cell, and a column of scores for each mutation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Space
from syclade.fallback.leaf.tables import LeafTables


def _tables(parents: NDArray[Any], weights: NDArray[Any], observed: NDArray[Any]) -> LeafTables:
    return LeafTables(parents, weights.astype(np.int32)[:, observed])


SPACE = Space(
    labels=lambda observed: 2 * len(observed) - 2,
    slot_bytes=lambda observed: LeafTables.slot_bytes(2 * len(observed) - 1, *observed.shape),
    tables=_tables,
)
