"""Numbers of eight problems in Python: numpy arrays, which the operations of numpy compute one by one."""

import numpy as np

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.reals import Reals

WIDTH = 8
"""Problems of a value."""


@DeviceFunction
def _first(lane):
    return np.int64(0)


@DeviceFunction
def _read(array, at):
    return array[at : at + WIDTH].copy()


@DeviceFunction
def _read_bytes(array, at):
    return array[at : at + WIDTH].astype(np.float64)


@DeviceFunction
def _write(array, at, value):
    array[at : at + WIDTH] = value


@DeviceFunction
def _all(value):
    return np.full(WIDTH, value, dtype=np.float64)


@DeviceFunction
def _if_greater(a, b, yes, no):
    return np.where(a > b, yes, no)


@DeviceFunction
def _if_equal(a, b, yes, no):
    return np.where(a == b, yes, no)


REALS = Reals(WIDTH, _first, _read, _read_bytes, _write, _all, _if_greater, _if_equal)
