"""Windows of binomial distributions, and their convolution: where the mass is, to 1e-18 of the mode's.

A window is (first, weights): the value of k at its first entry, and one probability per k. Only +, −, ×, ÷ in
a
fixed order: devices get the same bits (`kernels/tails/windows.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

CUT = 1e-18
"""Entries below this part of the largest one at either end of a window are dropped."""

Window = tuple[int, NDArray[np.float64]]
Ratio = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def in_order(values: NDArray[np.float64]) -> float:
    """Return the sum, added one after another; the order of numpy's own sum depends on the machine."""
    return float(np.add.accumulate(values)[-1])


def binomial_window(count: int, odds: float) -> Window:
    """Return the window of a binomial distribution of `count` trials; odds = p / (1 − p)."""
    mode = min(count, int((count + 1) * (odds / (1.0 + odds))))
    reach = 40 + int(math.sqrt(400.0 + 90.0 * min(mode + 1, count - mode + 1)))
    right = _falling(lambda k: odds * (count - k) / (k + 1.0), range(mode, count), reach)
    left = _falling(lambda k: k / (odds * (count - k + 1.0)), range(mode, 0, -1), reach)
    weights = np.concatenate([left[::-1], [1.0], right])
    return mode - len(left), weights / in_order(weights)


def _falling(ratio: Ratio, steps: range, reach: int) -> NDArray[np.float64]:
    """Return the weights beside the mode, whose own is 1, until they are below CUT.

    Args:
        ratio: of the next weight to that of k.
        steps: each k, from the mode outwards.
        reach: number of steps that should do.
    """
    while True:
        weights = np.multiply.accumulate(ratio(np.array(steps[:reach], dtype=np.float64)))
        small = np.flatnonzero(weights < CUT)
        if small.size:
            return weights[: small[0]]
        if reach >= len(steps):
            return weights
        reach *= 2


def convolve(one: Window, other: Window) -> Window:
    """Return the window of the sum of two independent numbers, with ends below CUT of the largest cut off.

    Each entry is the sum over the entries of `other`, in their order.
    """
    size = len(one[1])
    weights = np.zeros(size + len(other[1]) - 1)
    for at, weight in enumerate(other[1]):
        weights[at : at + size] += one[1] * weight
    return trim(one[0] + other[0], weights)


def trim(first: int, weights: NDArray[np.float64]) -> Window:
    """Return the window without entries below CUT of the largest at its ends."""
    kept = np.flatnonzero(weights >= CUT * weights.max())
    return first + int(kept[0]), weights[kept[0] : kept[-1] + 1]
