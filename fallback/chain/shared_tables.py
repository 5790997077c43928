"""Tables of scores with shares: each node's scores are raised by the logarithm of its part of the cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.intervals import Intervals
from syclade.fallback.chain.maxima import renew
from syclade.fallback.chain.tables import Tables


class SharedTables(Tables):
    """Tables with a last column that says nothing: its score at a node is the node's share.

    A shift is a difference of scores without shares. An edit moves a share with its node; labels that swap
    leave the shares at their places.

    Args:
        parent, weights: as for `Tables`.
        log_shares: (slots, nodes) int32.
    """

    _only_trees = False

    def __init__(
        self, parent: NDArray[np.int32], weights: NDArray[np.int32], log_shares: NDArray[np.int32]
    ) -> None:
        super().__init__(parent, np.concatenate((weights, np.zeros_like(weights[:, :, :1])), axis=2))
        row = np.arange(len(parent))[:, None]
        self._table[row, 0, self.trees.start] += log_shares[:, :, None]
        for levels in self._levels_of:
            renew(levels, 0, self.trees.nodes)

    def log_shares(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the shares of the nodes of some slots, (slots, nodes)."""
        shares: NDArray[np.int32] = self._table[slots[:, None], 0, self.trees.start[slots], -1]
        return shares

    def _all(self, slots: NDArray[Any], parts: Intervals) -> NDArray[np.int32]:
        return super()._all(slots, parts)[..., :-1]

    def _shifts(self, slots: NDArray[Any], parts: Intervals) -> tuple[NDArray[Any], NDArray[Any]]:
        outer, inner = super()._shifts(slots, parts)
        return outer - outer[:, -1:], inner - inner[:, -1:]
