"""Nothing: no interval is shifted."""

from typing import Any

import numpy as np

from syclade.kernels.preorder.changes import ONE_INTERVAL, Moved
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.tables.layout import make_layout
from syclade.kernels.target import device_function

_ONE = np.int64(1)
_TWO = np.int64(2)


def make_nothing(shape: Shape) -> Any:
    """Device function moved: a shift by nothing."""
    zero = np.int64(make_layout(shape).zero)

    @device_function
    def moved(given, here, base, proposal):
        """Any interval, by the row of zeros less itself."""
        return Moved(
            ONE_INTERVAL, proposal.v, _ONE, _TWO, proposal.v, _ONE, _ONE, _TWO, _TWO, zero, zero, zero, zero
        )

    return moved
