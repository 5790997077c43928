"""Many steps of chains of cell-leaf trees: the composition of all chains, with tables of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.steps import ChainSteps
from syclade.fallback.leaf.tables import LeafTables


class LeafChainSteps(ChainSteps):
    """Chain steps in numpy; what is observed has a row a cell, and mutations are the columns."""

    @property
    def slot_bytes(self) -> int:
        """Memory that the tables of a slot take."""
        return LeafTables.slot_bytes(self._labels + 1, *self._observed.shape)

    @property
    def _labels(self) -> int:
        """Nodes besides the root."""
        return 2 * self._observed.shape[0] - 2

    def _new_tables(self, parent: NDArray[np.int32], weights: NDArray[np.int64]) -> Any:
        return LeafTables(parent, weights.astype(np.int32)[:, self._observed])
