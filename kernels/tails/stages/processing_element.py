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
def process_trial(
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
    """Compute PL(k) = log_sum_exp(PL(k) + ln(1 − p), PL(k − 1) + ln p) (Eq. 3) for all entries of a block.

    Without ln(1 − p) for K or more successes, which stay as many (Eq. 5). After trial n, n + 2 entries can be
    other than ln 0.
    """
    reached = n + _TWO if n + _TWO < entries else entries
    stays = entries - _ONE if last == _ONE else entries
    for k in range(reached):
        at = row + address(k)
        low_at = low_row + address(k)
        here = high[at]
        here_low = low[low_at]
        stay, stay_low = add_to_pair(here, here_low, _NONE if k == stays else miss, _NONE)
        come, come_low = add_to_pair(before, before_low, hit, hit_low)
        total, total_low = log_sum_exp(stay, stay_low, come, come_low)
        high[at] = total
        low[low_at] = total_low
        before = here
        before_low = here_low


@device_function
def tail_of(
    high,  # IN float64: the entry of K or more successes
    low,  # IN float64
):
    """Return ln P(X ≥ K), which rounding may not make positive."""
    tail = high + low
    return tail if tail < _NONE else _NONE
