"""Integers in raw bytes, least significant byte first."""

import numpy as np

from syclade.kernels.target import device_function

_1, _2, _3 = np.int64(1), np.int64(2), np.int64(3)
_8, _16, _24 = np.int64(8), np.int64(16), np.int64(24)
SIGN, WHOLE = np.int64(1 << 31), np.int64(1 << 32)


@device_function
def two_bytes(raw, at):
    """Return an unsigned number of 16 bits."""
    return np.int64(raw[at]) | (np.int64(raw[at + _1]) << _8)


@device_function
def four_bytes(raw, at):
    """Return an unsigned number of 32 bits."""
    low = np.int64(raw[at]) | (np.int64(raw[at + _1]) << _8)
    return low | (np.int64(raw[at + _2]) << _16) | (np.int64(raw[at + _3]) << _24)


@device_function
def signed(raw, at):
    """Return a signed number of 32 bits."""
    number = four_bytes(raw, at)
    return number - WHOLE if number >= SIGN else number
