"""Prefetch: accesses of memory outside the column unit, an iteration before or after the use of a value."""

import numpy as np

from syclade.kernels.target import address, control, device_function

_ZERO = control(0)
_ANY = np.float64(0.5)


@device_function
def prefetch_error(
    given,  # IN record of arguments.py
    first,  # IN address: where the slot's trials start
    trials,  # IN control
    n,  # IN control: the trial, which may be behind the last
):
    """Return the probability of a trial."""
    return given.error[first + address(n)] if n < trials else _ANY


@device_function
def prefetch_boundary(
    given,  # IN record of arguments.py
    first,  # IN address: where the slot's trials start
    trials,  # IN control
    n,  # IN control: trials, which may be as many as there are
):
    """Return (high, low) of the entry before the block, after n trials."""
    at = first + address(n if n < trials else _ZERO)
    return given.edge[at], given.edge_low[at]


@device_function
def store_boundary(
    given,  # IN OUT record of arguments.py
    first,  # IN address: where the slot's trials start
    n,  # IN control: trials; below 0: there is nothing to store yet
    high,  # IN float64: the block's last entry after n trials
    low,  # IN float64
):
    """Store the value for the next block."""
    if n >= _ZERO:
        given.edge[first + address(n)] = high
        given.edge_low[first + address(n)] = low
