"""Processing elements: the entries of a block for one trial."""

import numpy as np

from syclade.kernels.tails.arithmetic import log_sum_exp
from syclade.kernels.target import address, control, device_function

LOG_0 = np.float64(-1e100)
_ONE = control(1)


@device_function
def clear_block(
    rows,  # OUT float64, flat
    row,  # IN address: where the block starts
    entries,  # IN control
):
    """Write ln 0 to all entries."""
    for k in range(entries):
        rows[row + address(k)] = LOG_0


@device_function
def process_trial(
    rows,  # IN OUT float64, flat
    row,  # IN address: where the block starts
    entries,  # IN control: entries that can be other than ln 0
    before,  # IN float64: the entry before the block, without this trial
    hit,  # IN float64: ln p
    miss,  # IN float64: ln(1 − p)
):
    """Compute PL(k) = log_sum_exp(PL(k) + ln(1 − p), PL(k − 1) + ln p) (Eq. 3); return the last old entry."""
    for k in range(entries):
        here = rows[row + address(k)]
        rows[row + address(k)] = log_sum_exp(here + miss, before + hit)
        before = here
    return before


@device_function
def process_tail(
    rows,  # IN OUT float64, flat
    at,  # IN address: the entry of K or more successes
    before,  # IN float64: the entry of K − 1, without this trial
    hit,  # IN float64: ln p
):
    """Compute SL = log_sum_exp(SL, PL(K − 1) + ln p) (Eq. 5): K or more stay K or more."""
    rows[at] = log_sum_exp(rows[at], before + hit)
