"""Kernel `grouped`: tilt, then convolve the windows of the groups; `fallback/tails/grouped.py` mirrors it."""

from typing import Any

import numpy as np

from syclade.kernels.tails.arguments import ROWS
from syclade.kernels.tails.tilt import (
    HOPELESS,
    log_of_all,
    log_scale,
    log_tail_of,
    mean_of,
    tilt_to,
    trials_of,
)
from syclade.kernels.tails.windows import binomial_window, convolve, trim
from syclade.kernels.target import address, control, device_function

_ZERO, _ONE = control(0), control(1)
_NONE, _SINGLE = np.float64(0.0), np.float64(1.0)
_ROWS = address(ROWS)


@device_function
def tail_of_groups(
    given,  # IN OUT record of arguments.py
    first,  # IN address: where the slot's groups start
    groups,  # IN control
    at_least,  # IN control: K, 0 < K ≤ trials
    row,  # IN address: where the slot's rows start
    room,  # IN control: length of a row
):
    """Return ln P(X ≥ K)."""
    if at_least == trials_of(given, first, groups):
        return log_of_all(given, first, groups)
    wanted = np.float64(at_least)
    mean = mean_of(given, first, groups)
    r = _SINGLE
    scale = _NONE
    if mean < wanted:
        r = tilt_to(given, first, groups, wanted)
        scale = log_scale(given, first, groups, wanted, r)
    elif (mean - wanted) * (mean - wanted) > HOPELESS * mean:
        return _NONE
    rows = given.rows
    own = row
    sum_row = row + address(room)
    other_row = sum_row + address(room)
    window = sum_row
    length = _ONE
    k = _ZERO
    rows[window] = _SINGLE
    for group in range(groups):
        at = first + address(group)
        p = given.probability[at]
        start, begin, size = binomial_window(rows, own, room, given.count[at], p / ((_SINGLE - p) * r))
        most = room - length + _ONE
        if size > most:
            size = most  # never, by the size of a row; so that no error can write outside
        convolve(rows, window, length, start, size, other_row)
        drop, length = trim(rows, other_row, length + size - _ONE)
        window = other_row + address(drop)
        k = k + begin + drop
        other_row, sum_row = sum_row, other_row
    return log_tail_of(rows, window, k, length, at_least, r, scale)


def make_grouped() -> Any:
    """Return the kernel's body."""

    @device_function
    def grouped(
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN OUT record of arguments.py
    ):
        """Compute the tail of the slot's column."""
        groups = given.sizes[number]
        if groups > _ZERO:
            room = given.parameters[address(2)]
            first = number * address(given.parameters[address(0)])
            row = number * _ROWS * address(room)
            given.log_tail[number] = tail_of_groups(given, first, groups, given.at_least[number], row, room)
            given.done[number] = given.done[number] + _ONE

    return grouped
