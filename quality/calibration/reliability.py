"""Reliability: of the statements with a share of p among the samples, a part of p should be true."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["EDGES", "LEAST", "Reliability", "reliability", "together"]

LEAST = 0.05
"""Statements with a smaller share are left out: most are, and nearly all are false."""

EDGES = (LEAST, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
"""Ends of the bins of shares; the last bin includes 1."""


@dataclass(frozen=True, eq=False)
class Reliability:
    """Statements in bins of their shares.

    Attributes:
        count: statements, int64, shape (bins,).
        claimed: sum of their shares, float64, shape (bins,).
        true: number of true ones, int64, shape (bins,).
    """

    count: NDArray[np.int64]
    claimed: NDArray[np.float64]
    true: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Mean over the statements of |mean share − part that is true| of their bin; nan without any."""
        total = self.count.sum()
        return float(np.abs(self.claimed - self.true).sum() / total) if total else float("nan")

    @property
    def chance(self) -> float:
        """Mean `error` of independent statements that are right: few statements are off by that much.

        Statements on one tree depend on each other, so chance does more than that. nan without any.
        """
        total = self.count.sum()
        share = self.claimed / np.maximum(self.count, 1)
        deviations = np.sqrt(self.claimed * np.maximum(1.0 - share, 0.0))
        return float(np.sqrt(2.0 / np.pi) * deviations.sum() / total) if total else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: error, chance, and for each bin its ends, count, mean share and true part."""
        bins = [
            {
                "from": low,
                "to": high,
                "count": int(count),
                "share": float(claimed / count) if count else None,
                "true": float(true / count) if count else None,
            }
            for low, high, count, claimed, true in zip(
                EDGES, EDGES[1:], self.count, self.claimed, self.true, strict=False
            )
        ]
        there = bool(self.count.sum())
        return {
            "error": self.error if there else None,
            "chance": self.chance if there else None,
            "bins": bins,
        }


def reliability(shares: ArrayLike, truths: ArrayLike) -> Reliability:
    """Put statements into bins.

    Args:
        shares: shares among the samples, any shape.
        truths: whether each is true, the same shape.
    """
    claimed = np.asarray(shares, dtype=np.float64).ravel()
    true = np.asarray(truths, dtype=bool).ravel()
    counted = claimed >= LEAST
    claimed, true = claimed[counted], true[counted]
    at = np.minimum(np.searchsorted(EDGES, claimed, side="right") - 1, len(EDGES) - 2)
    size = len(EDGES) - 1
    return Reliability(
        np.bincount(at, minlength=size).astype(np.int64),
        np.bincount(at, weights=claimed, minlength=size).astype(np.float64),
        np.bincount(at[true], minlength=size).astype(np.int64),
    )


def together(parts: Iterable[Reliability]) -> Reliability:
    """Return the statements of several inputs in the same bins."""
    found = tuple(parts)
    return Reliability(
        np.sum([one.count for one in found], axis=0),
        np.sum([one.claimed for one in found], axis=0),
        np.sum([one.true for one in found], axis=0),
    )
