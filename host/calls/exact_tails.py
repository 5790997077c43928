"""Exact p-values of tests, by the kernel of tails on the device of a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.place import Place, here
from syclade.host.calls.tails import Columns, log_tails
from syclade.host.device.work import WorkDone, merged_work

__all__ = ["ExactTails"]


class ExactTails:
    """Computes tails, and counts them.

    Attributes:
        work: the columns that were computed.

    Args:
        place: where; None: here.
    """

    def __init__(self, place: Place | None = None) -> None:
        self._device = (place or here()).device.filter
        self.work: tuple[WorkDone, ...] = ()

    def of(self, columns: Columns) -> NDArray[np.float64]:
        """Return ln P(X ≥ K) of each column, float64, (columns,).

        Raises:
            DeviceError: the kernel cannot be compiled, or the device cannot be used.
        """
        found = log_tails(columns, device=self._device)
        self.work = merged_work((self.work, found.work))
        return found.log_tails
