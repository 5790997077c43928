"""Ways to compute log2 of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import LOGARITHM, logarithm_of_two

__all__ = ["LOGARITHMS", "Logarithm"]

FINEST = 19
"""Fraction bits at which our logarithm is compared; with the 16 of scores, rounding hides its own error."""


class Logarithm(NamedTuple):
    """A way to compute log2.

    Attributes:
        name: name for reports.
        of: (int64 numbers, 2^30 to 2^31 - 1) -> log2, float64.
        order: order of the polynomial, or None.
    """

    name: str
    of: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    order: int | None = None


def _own(bits: int, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    made: NDArray[np.float64] = logarithm_of_two(numbers.astype(np.int32), np.int64(bits)) / 2.0**bits
    return made


def _own_coarse(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    return _own(16, numbers)


def _own_fine(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    return _own(FINEST, numbers)


LOGARITHMS = (
    Logarithm("numpy log2", lambda numbers: np.log2(numbers.astype(np.float64))),
    Logarithm("syclade logarithm", _own_fine, len(LOGARITHM) + 1),
    Logarithm("syclade logarithm, in units of scores", _own_coarse, len(LOGARITHM) + 1),
)
