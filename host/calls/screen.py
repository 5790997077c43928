"""Columns that certainly have no significant alternative, found without their exact tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.columns import ColumnsToTest

__all__ = ["may_be_significant"]


def may_be_significant(columns: ColumnsToTest, sig: float) -> NDArray[np.bool_]:
    """Return which tested columns may have an alternative whose tail is at most `sig`.

    A Poisson-binomial distribution with mean m differs from the Poisson distribution by at most
    min(1, 1/m) · Σ p² in the probability of any event. So a column whose Poisson tail exceeds `sig` by more
    has no such alternative. Source: Barbour and Hall, Math. Proc. Camb. Phil. Soc. 95 (1984).

    Args:
        columns: the columns of a window.
        sig: significance level of one test.
    """
    from scipy.special import pdtrc

    owner = np.repeat(np.arange(len(columns.tested)), np.diff(columns.starts))
    p, count = columns.probability, columns.count
    mean = np.bincount(owner, p * count, len(columns.tested))
    squares = np.bincount(owner, p * p * count, len(columns.tested))
    most = columns.alternatives.max(axis=1)
    tail = pdtrc(np.maximum(most - 1, 0), mean)  # P(X ≥ most)
    distance = squares * np.minimum(1.0, 1.0 / np.maximum(mean, 1e-300))
    possible: NDArray[np.bool_] = columns.tested & (tail - distance * (1 + 1e-9) <= sig)
    return possible
