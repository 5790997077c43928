"""Choices between values that all lanes share, as arithmetic with masks (all ones or all zeros, int64).

The CPU device's compiler makes vectors of selects, minima and maxima even where all lanes have the same
values: a branch that is often mispredicted, and ten cycles to fetch the result back. It leaves masks alone as
long as it does not see that they come from a comparison: so they go through `apart_from`.
"""

import numba_dpex as dpex
import numpy as np

from syclade.kernels.sub_group import in_step, sub_group_count

_SIGN = np.int64(63)
_ONE = np.int64(1)


@dpex.device_func
def apart_from(value):
    """The same int64, for vector code that shall not make a vector of the original."""
    return np.int64(in_step(np.uint64(value)))


@dpex.device_func
def any_lane(flag):
    """Mask: does any lane have the boolean true?"""
    return apart_from(-np.int64(sub_group_count(np.int32(flag)) != np.int32(0)))


@dpex.device_func
def less(a, b):
    """Mask: a < b."""
    return apart_from((a - b) >> _SIGN)


@dpex.device_func
def equal(a, b):
    """Mask: a == b."""
    difference = a ^ b
    return apart_from(~((difference | -difference) >> _SIGN))


@dpex.device_func
def choose(mask, a, b):
    """a where the mask is all ones, b where it is all zeros."""
    return b + ((a - b) & mask)


@dpex.device_func
def lesser(a, b):
    """The lesser of two."""
    return choose(less(a, b), a, b)


@dpex.device_func
def greater(a, b):
    """The greater of two."""
    return choose(less(a, b), b, a)
