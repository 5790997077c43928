"""Real numbers of several problems at once: the operations that a target gives to kernels of float64.

A kernel takes a `Reals` as a part. Its arrays have the numbers of a block's problems side by side; a value in
the kernel has the numbers of one or more of them, as many as the target's vectors hold. `PLAIN` holds one:
one problem a work-item, and the definition of each operation.
"""

from typing import NamedTuple

import numpy as np

from syclade.kernels.target.device_function import DeviceFunction, device_function


class Reals(NamedTuple):
    """Operations on values with one number for each problem.

    Attributes:
        width: problems of a value.
        first: (lane) -> number of the lane's first problem in its block.
        read: (array of float64, index) -> the value that begins there.
        read_bytes: (array of uint8, index) -> the value that begins there.
        write: (array of float64, index, value): store a value, which begins there.
        all: (float64) -> the value with this number for every problem.
        if_greater: (a, b, yes, no) -> `yes` where a > b, else `no`.
        if_equal: (a, b, yes, no) -> `yes` where a == b, else `no`.
    """

    width: int
    first: DeviceFunction
    read: DeviceFunction
    read_bytes: DeviceFunction
    write: DeviceFunction
    all: DeviceFunction
    if_greater: DeviceFunction
    if_equal: DeviceFunction


@device_function
def _first(lane):
    return np.int64(lane)


@device_function
def _read(array, at):
    return array[at]


@device_function
def _read_bytes(array, at):
    return np.float64(array[at])


@device_function
def _write(array, at, value):
    array[at] = value


@device_function
def _all(value):
    return np.float64(value)


@device_function
def _if_greater(
    a,  # IN
    b,  # IN
    yes,  # IN
    no,  # IN
):
    return yes if a > b else no


@device_function
def _if_equal(
    a,  # IN
    b,  # IN
    yes,  # IN
    no,  # IN
):
    return yes if a == b else no


PLAIN = Reals(1, _first, _read, _read_bytes, _write, _all, _if_greater, _if_equal)
