"""Rows of numbers in memory; each lane has its own columns, and each function goes through them once.

Rows are in flat arrays of int32.
"""

import numpy as np

from syclade.kernels.search.slot import lane_at
from syclade.kernels.target import device_function, lane_sum, maximum

LOWEST = np.int32(-(1 << 29))
"""Below every score, and still far from the end of int32."""


@device_function
def fill(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # OUT int32, flat
    at,  # IN address: where the row starts
    value,  # IN int32
):
    """Compute row = value."""
    for part in range(rounds):
        array[at + lane_at(slot, part)] = value


@device_function
def copy(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # OUT int32, flat
    at,  # IN address: where the row starts
    other,  # IN int32, flat
    source,  # IN address: where the other row starts
):
    """Compute row = other's row."""
    for part in range(rounds):
        cell = lane_at(slot, part)
        array[at + cell] = other[source + cell]


@device_function
def add(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # IN OUT int32, flat
    at,  # IN address: where the row starts
    other,  # IN int32, flat
    source,  # IN address: where the other row starts
    sign,  # IN int32
):
    """Compute row = row + sign * other's row."""
    for part in range(rounds):
        cell = lane_at(slot, part)
        array[at + cell] = np.int32(array[at + cell] + np.int32(sign * other[source + cell]))


@device_function
def add_to(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # OUT int32, flat
    at,  # IN address: where the row starts
    other,  # IN int32, flat
    one,  # IN address: where the first row starts
    more,  # IN int32, flat
    two,  # IN address: where the second row starts
):
    """Compute row = other's row one + more's row two."""
    for part in range(rounds):
        cell = lane_at(slot, part)
        array[at + cell] = np.int32(other[one + cell] + more[two + cell])


@device_function
def subtract(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # OUT int32, flat
    at,  # IN address: where the row starts
    other,  # IN int32, flat
    one,  # IN address: where the first row starts
    more,  # IN int32, flat
    two,  # IN address: where the second row starts
):
    """Compute row = other's row one - more's row two."""
    for part in range(rounds):
        cell = lane_at(slot, part)
        array[at + cell] = np.int32(other[one + cell] - more[two + cell])


@device_function
def raise_by(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # IN OUT int32, flat
    at,  # IN address: where the row starts
    other,  # IN int32, flat
    source,  # IN address: where the other row starts
):
    """Compute row = max(row, other's row)."""
    for part in range(rounds):
        cell = lane_at(slot, part)
        array[at + cell] = maximum(array[at + cell], other[source + cell])


@device_function
def total(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # IN int32, flat
    at,  # IN address: where the row starts
):
    """Return the row's sum over all lanes (int64)."""
    share = np.int64(0)
    for part in range(rounds):
        share = share + np.int64(array[at + lane_at(slot, part)])
    return lane_sum(share)


@device_function
def total_above(
    slot,  # IN Slot
    rounds,  # IN control: the row's length in lanes
    array,  # IN int32, flat
    at,  # IN address: where the row starts
):
    """Return the sum over all lanes of the numbers above 0 (int64)."""
    share = np.int64(0)
    for part in range(rounds):
        share = share + np.int64(maximum(array[at + lane_at(slot, part)], np.int32(0)))
    return lane_sum(share)
