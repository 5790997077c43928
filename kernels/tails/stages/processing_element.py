"""Processing elements: the entries of a block for one trial."""

import numpy as np

from syclade.kernels.tails.pairs import add_to_pair, log_sum_exp
from syclade.kernels.target import address, device_function

LOG_0 = np.float64(-1e100)
_NONE = np.float64(0.0)


@device_function
def clear_block(
    rows,  # OUT float64, flat
    row,  # IN address: where the high parts start
    low_row,  # IN address: where the low parts start
    entries,  # IN control
):
    """Write ln 0 to all entries."""
    for k in range(entries):
        rows[row + address(k)] = LOG_0
        rows[low_row + address(k)] = _NONE


@device_function
def process_trial(
    rows,  # IN OUT float64, flat
    row,  # IN address: where the high parts start
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
        here = rows[at]
        here_low = rows[low_at]
        stay, stay_low = add_to_pair(here, here_low, miss, _NONE)
        come, come_low = add_to_pair(before, before_low, hit, hit_low)
        high, low = log_sum_exp(stay, stay_low, come, come_low)
        rows[at] = high
        rows[low_at] = low
        before = here
        before_low = here_low
    return before, before_low


@device_function
def process_tail(
    rows,  # IN OUT float64, flat
    at,  # IN address: the high part of the entry of K or more successes
    low_at,  # IN address: its low part
    before,  # IN float64: the entry of K − 1, without this trial
    before_low,  # IN float64
    hit,  # IN float64: ln p
    hit_low,  # IN float64
):
    """Compute SL = log_sum_exp(SL, PL(K − 1) + ln p) (Eq. 5): K or more stay K or more."""
    come, come_low = add_to_pair(before, before_low, hit, hit_low)
    high, low = log_sum_exp(rows[at], rows[low_at], come, come_low)
    rows[at] = high
    rows[low_at] = low
