"""Operations of the contract between kernels and targets.

The bodies define the operations; a value that differs between lanes is a numpy array there. Each target has
its own, faster implementations. Masks are control integers, the same in all lanes: all ones for true, 0 for
false.
"""

import numpy as np

from syclade.kernels.target.device_function import Operation, device_function
from syclade.kernels.target.integers import control


@Operation
def private_array(length, dtype):
    """Return an array private to the lane, in registers; `length` is a constant. Contents are undefined."""
    return [dtype(0)] * length


@Operation
def maximum(a, b):
    """Return the greater of two numbers of the same type, in each lane."""
    return np.maximum(a, b)


@Operation
def minimum(a, b):
    """Return the lesser of two numbers of the same type, in each lane."""
    return np.minimum(a, b)


@Operation
def lane_sum(value):
    """Return the sum of the lanes' int64 values, the same in all lanes."""
    return np.sum(value, dtype=np.int64)


@Operation
def lane_count(value):
    """Return the sum of the lanes' int32 values, the same in all lanes."""
    return np.sum(value, dtype=np.int32)


@Operation
def lane_rank(value):
    """Return the sum of the int32 values of the lane and of those before it."""
    return np.cumsum(value, dtype=np.int32)


@Operation
def in_step(value):
    """Return an address, the same in all lanes, once all lanes have arrived here.

    After that, lanes can read what other lanes wrote before. Such reads must use the result in their index.
    """
    return value


@Operation
def apart_from(value):
    """Return the integer, which is the same in all lanes, kept apart from code for lanes.

    A compiler that vectorises over lanes might otherwise make a vector of a number that is the same in all.
    """
    return value


@Operation
def any_lane(flag):
    """Return the mask of whether the flag is true in any lane."""
    return -control(np.any(flag))


@Operation
def less(a, b):
    """Return the mask of a < b, for control integers that are the same in all lanes."""
    return -control(a < b)


@Operation
def equal(a, b):
    """Return the mask of a == b, for control integers that are the same in all lanes."""
    return -control(a == b)


@Operation
def choose(mask, a, b):
    """Return a if the mask is all ones, b if it is 0; control integers, the same in all lanes."""
    return a if mask else b


@device_function
def lesser(a, b):
    """Return the lesser of two control integers that are the same in all lanes."""
    return choose(less(a, b), a, b)


@device_function
def greater(a, b):
    """Return the greater of two control integers that are the same in all lanes."""
    return choose(less(a, b), b, a)
