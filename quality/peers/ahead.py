"""Differences on the same inputs: their mean, and an interval of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["LEVEL", "Ahead", "ahead_by"]

LEVEL: Final = 0.95
"""Confidence of the intervals."""


class Ahead(NamedTuple):
    """Mean of differences on the same inputs.

    Attributes:
        mean: the mean.
        error: its standard error; nan for one input.
        low, high: ends of its interval by Student's t; nan for one input.
    """

    mean: float
    error: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """The mean, with the interval if there is one."""
        between = "" if np.isnan(self.error) else f" ({self.low:+.3f} to {self.high:+.3f})"
        return f"{self.mean:+.3f}{between}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        known = not np.isnan(self.error)
        return {
            "consensus_ahead": self.mean,
            "standard_error": self.error if known else None,
            "interval": [self.low, self.high] if known else None,
        }


def ahead_by(differences: Sequence[float]) -> Ahead:
    """Return the mean of differences, at least one, with its interval."""
    from scipy import stats

    mean, count = float(np.mean(differences)), len(differences)
    if count == 1:
        return Ahead(mean, np.nan, np.nan, np.nan)
    error = float(np.std(differences, ddof=1) / np.sqrt(count))
    half = float(stats.t.ppf((1 + LEVEL) / 2, count - 1)) * error
    return Ahead(mean, error, mean - half, mean + half)
