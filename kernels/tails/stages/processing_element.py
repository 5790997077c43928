"""Processing elements: the entries of a block for one trial."""

import numpy as np

from syclade.kernels.tails.pairs import add_to_pair, log_sum_exp
from syclade.kernels.target import address, control, device_function

LOG_0 = np.float64(-1e100)
_NONE = np.float64(0.0)
_ONE, _TWO = control(1), control(2)


@device_function
def clear_block(
    high,  # OUT float64, flat
    row,  # IN address: where the high parts start
    low,  # OUT float64, flat
    low_row,  # IN address: where the low parts start
    entries,  # IN control
    first,  # IN float64: entry 0
):
    """Write ln 0 to all entries but the first."""
    for k in range(entries):
        high[row + address(k)] = LOG_0
        low[low_row + address(k)] = _NONE
    high[row] = first


@device_function
def process_block(
    high,  # IN OUT float64, flat
    row,  # IN address: where the high parts start
    low,  # IN OUT float64, flat
    low_row,  # IN address: where the low parts start
    entries,  # IN control
    last,  # IN control: 1 if the last entry is that of K or more successes, else 0
    n,  # IN control: the trial, counted from k of the first entry
    before,  # IN float64: the entry before the block, without this trial
    before_low,  # IN float64
    hit,  # IN float64: ln p
    hit_low,  # IN float64
    miss,  # IN float64: ln(1 − p)
):
    """Update all entries of a block for one trial; n + 2 of them can be other than ln 0."""
    most = entries - last
    reached = n + _TWO if n + _TWO < most else most
    old, old_low = process_trial(high, row, low, low_row, reached, before, before_low, hit, hit_low, miss)
    if last == _ONE and reached == most:
        process_tail(high, row + address(most), low, low_row + address(most), old, old_low, hit, hit_low)


@device_function
def process_trial(
    high,  # IN OUT float64, flat
    row,  # IN address: where the high parts start
    low,  # IN OUT float64, flat
    low_row,  # IN address: where the low parts start
    entries,  # IN control: entries that can be other than ln 0
    before,  # IN float64: the entry before the block, without this trial
    before_low,  # IN float64
    hit,  # IN float64: ln p
    hit_low,  # IN float64
    miss,  # IN float64: ln(1 − p)
):
    """Compute PL(k) = log_sum_exp(PL(k) + ln(1 − p), PL(k − 1) + ln p) (Eq. 3); return the last old entry."""
    for k in range(entries):
        at = row + address(k)
        low_at = low_row + address(k)
        here = high[at]
        here_low = low[low_at]
        stay, stay_low = add_to_pair(here, here_low, miss, _NONE)
        come, come_low = add_to_pair(before, before_low, hit, hit_low)
        total, total_low = log_sum_exp(stay, stay_low, come, come_low)
        high[at] = total
        low[low_at] = total_low
        before = here
        before_low = here_low
    return before, before_low


@device_function
def process_tail(
    high,  # IN OUT float64, flat
    at,  # IN address: the high part of the entry of K or more successes
    low,  # IN OUT float64, flat
    low_at,  # IN address: its low part
    before,  # IN float64: the entry of K − 1, without this trial
    before_low,  # IN float64
    hit,  # IN float64: ln p
    hit_low,  # IN float64
):
    """Compute SL = log_sum_exp(SL, PL(K − 1) + ln p) (Eq. 5): K or more stay K or more."""
    come, come_low = add_to_pair(before, before_low, hit, hit_low)
    total, total_low = log_sum_exp(high[at], low[low_at], come, come_low)
    high[at] = total
    low[low_at] = total_low


@device_function
def tail_of(
    high,  # IN float64: the entry of K or more successes
    low,  # IN float64
):
    """Return ln P(X ≥ K), which rounding may not make positive."""
    tail = high + low
    return tail if tail < _NONE else _NONE
