"""Windows of distributions in memory, and their convolution; `fallback/tails/windows.py` mirrors them."""

import numpy as np

from syclade.kernels.target import address, control, device_function

CUT = np.float64(1e-18)

_ZERO, _ONE = control(0), control(1)
_NONE, _SINGLE = np.float64(0.0), np.float64(1.0)


@device_function
def binomial_window(
    rows,  # OUT float64, flat
    row,  # IN address: where a row over k starts
    room,  # IN control: its length
    count,  # IN control: trials
    odds,  # IN float64: p / (1 − p)
):
    """Write the window somewhere in the row; return (where it starts: address, k there, length: control)."""
    mode = control(np.float64(count + _ONE) * (odds / (_SINGLE + odds)))
    if mode > count:
        mode = count
    middle = room >> _ONE
    if middle > mode:
        middle = mode  # k = 0 is at the row's start at most
    weight = _SINGLE
    rows[row + address(middle)] = weight
    low = middle
    k = np.float64(mode)
    trials = np.float64(count)
    for back in range(middle):
        weight = weight * (k / (odds * (trials - k + _SINGLE)))
        if weight < CUT:
            break
        low = middle - _ONE - back
        rows[row + address(low)] = weight
        k = k - _SINGLE
    most = room - middle
    if most > count - mode + _ONE:
        most = count - mode + _ONE
    high = middle + _ONE
    weight = _SINGLE
    k = np.float64(mode)
    for ahead in range(_ONE, most):
        weight = weight * (odds * (trials - k) / (k + _SINGLE))
        if weight < CUT:
            break
        rows[row + address(middle + ahead)] = weight
        high = middle + ahead + _ONE
        k = k + _SINGLE
    start = row + address(low)
    length = high - low
    total = _NONE
    for at in range(length):
        total = total + rows[start + address(at)]
    for at in range(length):
        rows[start + address(at)] = rows[start + address(at)] / total
    return start, mode - middle + low, length


@device_function
def convolve(
    rows,  # IN OUT float64, flat
    one,  # IN address: where a window starts
    size,  # IN control: its length
    other,  # IN address: where the other window starts
    length,  # IN control: its length
    result,  # IN address: where a row for size + length − 1 numbers starts
):
    """Write the window of the sum of two independent numbers."""
    for k in range(size + length - _ONE):
        rows[result + address(k)] = _NONE
    for at in range(length):
        weight = rows[other + address(at)]
        start = result + address(at)
        for k in range(size):
            rows[start + address(k)] = rows[start + address(k)] + rows[one + address(k)] * weight


@device_function
def trim(
    rows,  # IN float64, flat
    start,  # IN address: where the window starts
    length,  # IN control
):
    """Return (entries to drop at the start, length of the rest): those below CUT of the largest (control)."""
    most = _NONE
    for k in range(length):
        weight = rows[start + address(k)]
        most = weight if weight > most else most
    least = CUT * most
    drop = _ZERO
    while rows[start + address(drop)] < least:
        drop = drop + _ONE
    while rows[start + address(length - _ONE)] < least:
        length = length - _ONE
    return drop, length - drop
