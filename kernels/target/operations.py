"""The operations of the contract. Their bodies are what they mean, with an array of numpy for what differs
between lanes; each target has its own, faster ways.

Masks are control integers that lanes share: all ones for true, 0 for false.
"""

import numpy as np

from syclade.kernels.target.device_function import Operation, device_function
from syclade.kernels.target.integers import control


@Operation
def private_array(length, dtype):
    """Numbers of the lane's own, in registers; `length` is a constant, and nothing is in them yet."""
    return [dtype(0)] * length


@Operation
def maximum(a, b):
    """The greater of two numbers in each lane, of the type of both."""
    return np.maximum(a, b)


@Operation
def minimum(a, b):
    """The lesser of two numbers in each lane, of the type of both."""
    return np.minimum(a, b)


@Operation
def lane_sum(value):
    """Sum of the lanes' int64 values, which lanes share."""
    return np.sum(value, dtype=np.int64)


@Operation
def lane_count(value):
    """Sum of the lanes' int32 values, which lanes share."""
    return np.sum(value, dtype=np.int32)


@Operation
def lane_rank(value):
    """Sum of the int32 values of the lane and of those before it."""
    return np.cumsum(value, dtype=np.int32)


@Operation
def in_step(value):
    """An address that lanes share, once all have come here: what they wrote before is there to be read.

    Reads must go through the result, as part of their index.
    """
    return value


@Operation
def apart_from(value):
    """The same integer, which lanes share, kept apart from code for lanes.

    A compiler that makes vectors of lanes might otherwise make one of a number that all of them share.
    """
    return value


@Operation
def any_lane(flag):
    """Mask: is the flag true in any lane?"""
    return -control(np.any(flag))


@Operation
def less(a, b):
    """Mask: a < b, for control integers that lanes share."""
    return -control(a < b)


@Operation
def equal(a, b):
    """Mask: a == b, for control integers that lanes share."""
    return -control(a == b)


@Operation
def choose(mask, a, b):
    """a where the mask is all ones, b where it is 0; control integers that lanes share."""
    return a if mask else b


@device_function
def lesser(a, b):
    """The lesser of two control integers that lanes share."""
    return choose(less(a, b), a, b)


@device_function
def greater(a, b):
    """The greater of two control integers that lanes share."""
    return choose(less(a, b), b, a)
