"""The kernel that copies a table of counts into a larger one."""

import numpy as np

from syclade.kernels.pileup.columns import place_of
from syclade.kernels.target import device_function

_0, _1, _2 = np.int64(0), np.int64(1), np.int64(2)


def make_growth(**_others: int):
    """Return the kernel."""

    @device_function
    def growth(
        slot,  # IN uint64
        lane,  # IN uint64
        given,  # IN OUT the arrays of `GROWTH`
    ):
        """Copy all keys and counts."""
        old_stride, stride = given.old_stride[_0], given.stride[_0]
        for column in range(given.columns[_0]):
            for place in range(old_stride):
                at = (column * old_stride + place) * _2
                if given.old[at] != np.uint32(0):
                    to = place_of(given.table, column * stride, np.int64(given.old[at]) - _1, stride)
                    given.table[to] = given.old[at]
                    given.table[to + _1] = given.old[at + _1]

    return growth
