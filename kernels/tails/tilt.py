"""Exponential tilting; `fallback/tails/tilt.py` has the formulas, and mirrors every operation."""

import numpy as np

from syclade.kernels.tails.arithmetic import log, log1p
from syclade.kernels.target import address, control, device_function

MOST_STEPS = control(100)
CLOSE = np.float64(1e-9)
HOPELESS = np.float64(80.0)
"""K is certain if it is more than √(80·mean) below the mean: the rest has a probability below 1e-17."""

_ZERO = control(0)
_NONE, _SINGLE, _HALF = np.float64(0.0), np.float64(1.0), np.float64(0.5)


@device_function
def mean_of(
    given,  # IN record of arguments.py
    first,  # IN address: where the slot's groups start
    groups,  # IN control
):
    """Return the mean of the number of successes."""
    mean = _NONE
    for group in range(groups):
        at = first + address(group)
        mean = mean + np.float64(given.count[at]) * given.probability[at]
    return mean


@device_function
def trials_of(given, first, groups):
    """Return the number of trials of all groups (int64); arguments as `mean_of`."""
    trials = _ZERO
    for group in range(groups):
        trials = trials + given.count[first + address(group)]
    return trials


@device_function
def log_of_all(given, first, groups):
    """Return ln P of success in all trials; arguments as `mean_of`."""
    total = _NONE
    for group in range(groups):
        at = first + address(group)
        total = total + np.float64(given.count[at]) * log(given.probability[at])
    return total if total < _NONE else _NONE


@device_function
def tilt_to(
    given,  # IN record of arguments.py
    first,  # IN address: where the slot's groups start
    groups,  # IN control
    wanted,  # IN float64: K, above the mean and below the number of trials
):
    """Return r = e^−t with a tilted mean of K."""
    r = _NONE
    for _ in range(MOST_STEPS):
        mean = _NONE
        slope = _NONE
        for group in range(groups):
            at = first + address(group)
            p = given.probability[at]
            count = np.float64(given.count[at])
            q = _SINGLE - p
            below = p + q * r
            part = p / below
            mean = mean + count * part
            slope = slope + count * (part * (q / below))
        if mean - wanted <= CLOSE * wanted:
            break
        r = r + (mean / wanted - _SINGLE) * mean / slope
    return r


@device_function
def log_scale(
    given,  # IN record of arguments.py
    first,  # IN address: where the slot's groups start
    groups,  # IN control
    wanted,  # IN float64: K
    r,  # IN float64: e^−t
):
    """Return ln(Π (1 + p·(1/r − 1))^count · r^K)."""
    growth = (_SINGLE - r) / r
    total = _NONE
    for group in range(groups):
        at = first + address(group)
        total = total + np.float64(given.count[at]) * log1p(given.probability[at] * growth)
    return total + wanted * log(r)


@device_function
def log_tail_of(
    rows,  # IN float64, flat
    window,  # IN address: where the window of the tilted distribution starts
    first,  # IN control: k of its first entry
    length,  # IN control
    at_least,  # IN control: K
    r,  # IN float64: e^−t
    scale,  # IN float64: of `log_scale`
):
    """Return ln P(X ≥ K)."""
    below = at_least - first
    if below < _ZERO:
        below = _ZERO
    if below > length:
        below = length
    if r == _SINGLE:
        missing = _NONE
        for k in range(below):
            missing = missing + rows[window + address(k)]
        if missing < _HALF:
            result = log1p(-missing)
            return result if result < _NONE else _NONE
    total = _NONE
    for back in range(length - below):
        total = total * r + rows[window + address(length - control(1) - back)]
    result = scale + log(total)
    return result if result < _NONE else _NONE
