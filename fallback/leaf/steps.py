"""Many steps of chains of cell trees: the composition of all chains, with its own tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.steps import ChainSteps
from syclade.fallback.leaf.tables import LeafTables


class LeafChainSteps(ChainSteps):
    """Chain steps of cell trees in numpy. `observed` has one row per cell and one column per mutation."""

    @property
    def slot_bytes(self) -> int:
        """Memory of a slot's tables."""
        return LeafTables.slot_bytes(self._labels + 1, *self._observed.shape)

    @property
    def _labels(self) -> int:
        """Number of nodes besides the root."""
        return 2 * self._observed.shape[0] - 2

    def _new_tables(self, parent: NDArray[np.int32], weights: NDArray[np.int64]) -> Any:
        return LeafTables(parent, weights.astype(np.int32)[:, self._observed])
