"""Natural logarithm and exponential made of IEEE +, −, ×, ÷; `fallback/tails/arithmetic.py` mirrors them."""

import numpy as np

from syclade.kernels.target import control, device_function

_ZERO = control(0)
LN2_HIGH = np.float64(0.693147180369123816490)
LN2_LOW = np.float64(1.90821492927058770002e-10)
LOG2_E = np.float64(1.4426950408889634)
SQRT_2 = np.float64(1.4142135623730951)
ROUND = np.float64(6755399441055744.0)
"""1.5 · 2^52: a number below 2^51 is rounded to an integer when this is added and subtracted."""

NEAR_LOW, NEAR_HIGH = np.float64(-0.29), np.float64(0.41)
_NONE, _HALF, _SINGLE, _TWICE = np.float64(0.0), np.float64(0.5), np.float64(1.0), np.float64(2.0)

L25, L23, L21, L19, L17, L15, L13, L11, L9, L7, L5, L3 = (
    np.float64(1.0 / odd) for odd in range(25, 1, -2)
)  # fmt: skip


@device_function
def log1p_near_0(f):
    """Return ln(1 + f) for f in [√½ − 1, √2 − 1]."""
    s = f / (_TWICE + f)
    z = s * s
    series = L25 * z + L23
    series = series * z + L21
    series = series * z + L19
    series = series * z + L17
    series = series * z + L15
    series = series * z + L13
    series = series * z + L11
    series = series * z + L9
    series = series * z + L7
    series = series * z + L5
    series = series * z + L3
    return f - s * (f - _TWICE * (z * series))


_UP, _DOWN = np.float64(2.0**32), np.float64(2.0**-32)
_UP_BITS = control(32)
_BYTE_UP, _BYTE_DOWN, _BYTE_BITS = np.float64(256.0), np.float64(2.0**-8), control(8)
_ONE = control(1)


@device_function
def log_parts(x):
    """Return two parts of ln x of a positive normal number: a multiple of LN2_HIGH, and at most 0.35."""
    exponent = _ZERO
    while x >= _UP:
        x = x * _DOWN
        exponent = exponent + _UP_BITS
    while x < _DOWN:
        x = x * _UP
        exponent = exponent - _UP_BITS
    while x >= _BYTE_UP:
        x = x * _BYTE_DOWN
        exponent = exponent + _BYTE_BITS
    while x < _BYTE_DOWN:
        x = x * _BYTE_UP
        exponent = exponent - _BYTE_BITS
    while x >= _TWICE:
        x = x * _HALF
        exponent = exponent + _ONE
    while x < _SINGLE:
        x = x * _TWICE
        exponent = exponent - _ONE
    if x > SQRT_2:
        x = x * _HALF
        exponent = exponent + _ONE
    power = np.float64(exponent)
    return power * LN2_HIGH, log1p_near_0(x - _SINGLE) + power * LN2_LOW


@device_function
def log(x):
    """Return ln x of a positive normal number."""
    high, low = log_parts(x)
    return high + low


@device_function
def log1p(y):
    """Return ln(1 + y) for y > −1."""
    if y > NEAR_LOW and y < NEAR_HIGH:
        return log1p_near_0(y)
    return log(_SINGLE + y)


F13, F12, F11, F10, F9, F8, F7, F6, F5, F4, F3, F2 = (
    np.float64(1.0 / factorial)
    for factorial in (
        6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2,
    )
)  # fmt: skip
H32, H16, H8, H4, H2, H1 = (np.float64(2.0**-power) for power in (32, 16, 8, 4, 2, 1))
P32, P16, P8, P4, P2 = (np.float64(power) for power in (32, 16, 8, 4, 2))


@device_function
def exp(d):
    """Return e^d for d in [−40, 0]. There are no branches, so that loops with it are vectorised."""
    power = (-d * LOG2_E + ROUND) - ROUND
    rest = (d + power * LN2_HIGH) + power * LN2_LOW
    series = F13 * rest + F12
    series = series * rest + F11
    series = series * rest + F10
    series = series * rest + F9
    series = series * rest + F8
    series = series * rest + F7
    series = series * rest + F6
    series = series * rest + F5
    series = series * rest + F4
    series = series * rest + F3
    series = series * rest + F2
    series = series * rest + _SINGLE
    series = series * rest + _SINGLE
    series = series * (H32 if power >= P32 else _SINGLE)
    power = power - (P32 if power >= P32 else _NONE)
    series = series * (H16 if power >= P16 else _SINGLE)
    power = power - (P16 if power >= P16 else _NONE)
    series = series * (H8 if power >= P8 else _SINGLE)
    power = power - (P8 if power >= P8 else _NONE)
    series = series * (H4 if power >= P4 else _SINGLE)
    power = power - (P4 if power >= P4 else _NONE)
    series = series * (H2 if power >= P2 else _SINGLE)
    power = power - (P2 if power >= P2 else _NONE)
    return series * (H1 if power >= _SINGLE else _SINGLE)
