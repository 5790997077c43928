"""Area under the receiver operating characteristic: how well a number tells two classes apart."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["auroc"]


def auroc(values: ArrayLike, positive: ArrayLike) -> float:
    """Return the probability that a positive has a larger value than a negative; ties count half.

    Args:
        values: real numbers, shape (k,).
        positive: bool, shape (k,).

    Returns:
        0 to 1; nan if all are positive, or none is.

    Source: Mann and Whitney 1947; Hanley and McNeil 1982.
    """
    numbers = np.asarray(values, dtype=np.float64)
    among: NDArray[np.bool_] = np.asarray(positive, dtype=np.bool_)
    count = int(among.sum())
    others = len(among) - count
    if not count or not others:
        return math.nan
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)  # ranks start at 1; equal values share their mean rank
    ranks = (last - (sizes - 1) / 2)[group]
    return float((ranks[among].sum() - count * (count + 1) / 2) / (count * others))
