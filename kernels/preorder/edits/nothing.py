"""Nothing: no interval is shifted."""

import numpy as np

from syclade.kernels.preorder.changes import ONE_INTERVAL, Moved
from syclade.kernels.target import device_function

_ONE = np.int64(1)
_TWO = np.int64(2)


@device_function
def moved_by_nothing(given, here, base, proposal):
    """Any interval, by the row of zeros less itself."""
    zero = here.layout.zero
    return Moved(
        ONE_INTERVAL, proposal.v, _ONE, _TWO, proposal.v, _ONE, _ONE, _TWO, _TWO, zero, zero, zero, zero
    )
