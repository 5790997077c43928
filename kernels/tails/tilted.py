"""Kernel `tilted`: one trial at a time in a band around the mean; `fallback/tails/tilted.py` mirrors it."""

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
from syclade.kernels.target import address, control, device_function

CUT = np.float64(1e-22)

_ZERO, _ONE = control(0), control(1)
_NONE, _SINGLE = np.float64(0.0), np.float64(1.0)
_ROWS = address(ROWS)


@device_function
def add_trial(
    rows,  # IN OUT float64, flat
    band,  # IN address: where the band starts
    length,  # IN control
    hit,  # IN float64: tilted probability of success
    miss,  # IN float64: 1 − hit
):
    """Make the distribution that of one more trial; it has one more entry."""
    before = _NONE
    for k in range(length):
        here = rows[band + address(k)]
        rows[band + address(k)] = here * miss + before * hit
        before = here
    rows[band + address(length)] = before * hit


@device_function
def trim_band(rows, band, length):
    """Return (entries to drop at the start, length of the rest): those below CUT (control)."""
    while rows[band + address(length - _ONE)] < CUT:
        length = length - _ONE
    drop = _ZERO
    while rows[band + address(drop)] < CUT:
        drop = drop + _ONE
    return drop, length - drop


@device_function
def divide_by_sum(rows, band, length):
    """Make the sum 1: those of the trials' probabilities are 1 only up to a rounding, and trials are many."""
    total = _NONE
    for k in range(length):
        total = total + rows[band + address(k)]
    for k in range(length):
        rows[band + address(k)] = rows[band + address(k)] / total


@device_function
def tail_of_band(
    given,  # IN OUT record of arguments.py
    first,  # IN address: where the slot's groups start
    groups,  # IN control
    at_least,  # IN control: K, 0 < K ≤ trials
    row,  # IN address: where the slot's rows start
    room,  # IN control: length of all its rows
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
    start = _ZERO  # of the band in the rows
    length = _ONE
    low = _ZERO  # k of the band's first entry
    rows[row] = _SINGLE
    for group in range(groups):
        at = first + address(group)
        p = given.probability[at]
        missing = (_SINGLE - p) * r
        below = p + missing
        hit = p / below
        miss = missing / below
        for _ in range(given.count[at]):
            if start + length >= room:
                for k in range(length):
                    rows[row + address(k)] = rows[row + address(start + k)]
                start = _ZERO
            add_trial(rows, row + address(start), length, hit, miss)
            drop, length = trim_band(rows, row + address(start), length + _ONE)
            start = start + drop
            low = low + drop
    band = row + address(start)
    divide_by_sum(rows, band, length)
    return log_tail_of(rows, band, low, length, at_least, r, scale)


def make_tilted() -> Any:
    """Return the kernel's body."""

    @device_function
    def tilted(
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN OUT record of arguments.py
    ):
        """Compute the tail of the slot's column."""
        groups = given.sizes[number]
        if groups > _ZERO:
            room = control(_ROWS) * given.parameters[address(2)]
            first = number * address(given.parameters[address(0)])
            row = number * address(room)
            given.log_tail[number] = tail_of_band(given, first, groups, given.at_least[number], row, room)
            given.done[number] = given.done[number] + _ONE

    return tilted
