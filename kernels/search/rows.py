"""Rows of numbers in memory; each lane has its own columns, and each function goes through them once.

All take `rounds`, int64, the row's length in lanes, and where rows start, uint64, in a flat array of int32.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import device_function, lane_sum, maximum

LOWEST = np.int32(-(1 << 29))
"""Below every score, and still far from the end of int32."""


class Rows(NamedTuple):
    """Device functions.

    Attributes:
        fill: (rounds, lane, array, at, value): row = value.
        copy: (rounds, lane, array, at, other, source): row = other's row.
        add: (rounds, lane, array, at, other, source, sign): row = row + sign * other's row.
        add_to: (rounds, lane, array, at, other, one, more, two): row = other's row one + more's row two.
        subtract: (rounds, lane, array, at, other, one, more, two): row = other's row one - more's row two.
        raise_by: (rounds, lane, array, at, other, source): row = max(row, other's row).
        total: (rounds, lane, array, at) -> int64, the row's sum over all lanes.
        total_above: likewise, of the numbers above 0.
    """

    fill: Any
    copy: Any
    add: Any
    add_to: Any
    subtract: Any
    raise_by: Any
    total: Any
    total_above: Any


def make_rows(lanes: int) -> Rows:
    """Return the device functions for this number of lanes."""
    step = np.uint64(lanes)

    @device_function
    def fill(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # OUT int32, flat
        at,  # IN uint64: where the row starts
        value,  # IN int32
    ):
        for part in range(rounds):
            array[at + np.uint64(part) * step + lane] = value

    @device_function
    def copy(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # OUT int32, flat
        at,  # IN uint64: where the row starts
        other,  # IN int32, flat
        source,  # IN uint64: where the other row starts
    ):
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            array[at + cell] = other[source + cell]

    @device_function
    def add(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # IN OUT int32, flat
        at,  # IN uint64: where the row starts
        other,  # IN int32, flat
        source,  # IN uint64: where the other row starts
        sign,  # IN int32
    ):
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            array[at + cell] = np.int32(array[at + cell] + np.int32(sign * other[source + cell]))

    @device_function
    def add_to(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # OUT int32, flat
        at,  # IN uint64: where the row starts
        other,  # IN int32, flat
        one,  # IN uint64: where the first row starts
        more,  # IN int32, flat
        two,  # IN uint64: where the second row starts
    ):
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            array[at + cell] = np.int32(other[one + cell] + more[two + cell])

    @device_function
    def subtract(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # OUT int32, flat
        at,  # IN uint64: where the row starts
        other,  # IN int32, flat
        one,  # IN uint64: where the first row starts
        more,  # IN int32, flat
        two,  # IN uint64: where the second row starts
    ):
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            array[at + cell] = np.int32(other[one + cell] - more[two + cell])

    @device_function
    def raise_by(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # IN OUT int32, flat
        at,  # IN uint64: where the row starts
        other,  # IN int32, flat
        source,  # IN uint64: where the other row starts
    ):
        for part in range(rounds):
            cell = np.uint64(part) * step + lane
            array[at + cell] = maximum(array[at + cell], other[source + cell])

    @device_function
    def total(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # IN int32, flat
        at,  # IN uint64: where the row starts
    ):
        share = np.int64(0)
        for part in range(rounds):
            share = share + np.int64(array[at + np.uint64(part) * step + lane])
        return lane_sum(share)

    @device_function
    def total_above(
        rounds,  # IN int64
        lane,  # IN uint64
        array,  # IN int32, flat
        at,  # IN uint64: where the row starts
    ):
        share = np.int64(0)
        for part in range(rounds):
            share = share + np.int64(maximum(array[at + np.uint64(part) * step + lane], np.int32(0)))
        return lane_sum(share)

    return Rows(fill, copy, add, add_to, subtract, raise_by, total, total_above)
