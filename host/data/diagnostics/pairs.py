"""Effective sample sizes of uncertain pairs of mutations: is one above the other?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.diagnostics.numbers import indicator_ess
from syclade.host.ground.values import short_repr

__all__ = ["LEAST", "MOST", "ROUGH", "PairSizes", "pair_sizes"]

LEAST, MOST = 0.05, 0.95
"""Probabilities of uncertain pairs; others have too few changes to measure."""

ROUGH = 100
"""Pairs with fewer effective samples are counted: their standard error can be above 0.05."""


_SAMPLES = 1024
"""Most samples of each chain."""


class PairSizes(NamedTuple):
    """Effective sample sizes of uncertain pairs.

    Attributes:
        uncertain: number of pairs with a probability from `LEAST` to `MOST`.
        sizes: float64, shape (measured,): effective sample sizes of some of them, evenly spaced.
    """

    uncertain: int
    sizes: NDArray[np.float64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def lowest(self) -> float | None:
        """Smallest effective sample size; None if no pair is uncertain."""
        return float(self.sizes.min()) if self.sizes.size else None

    @property
    def rough(self) -> int:
        """Number of measured pairs with fewer effective samples than `ROUGH`."""
        return int((self.sizes < ROUGH).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for summary.json."""
        return {
            "uncertain": self.uncertain,
            "measured": len(self.sizes),
            "lowest_ess": None if self.lowest is None else float(f"{self.lowest:.6g}"),
            f"below_{ROUGH}": self.rough,
        }


def pair_sizes(chains: Sequence[NDArray[np.int32]], shares: NDArray[np.float64], most: int) -> PairSizes:
    """Measure uncertain pairs of the samples of chains, or of every k-th sample where these are many.

    Every k-th sample tells as much of slow pairs, which matter here.

    Args:
        chains: trees of each chain: int32, shape (samples, n + 1).
        shares: float64, shape (n, n): probability that the row's mutation is above the column's.
        most: most pairs to measure.
    """
    upper, lower = np.nonzero((shares >= LEAST) & (shares <= MOST))
    count = min(most, len(upper))
    chosen = np.arange(count) * len(upper) // max(1, count)
    length = min(map(len, chains), default=0)
    stride = max(1, -(-length // _SAMPLES))
    trees = np.array([chain[:length:stride] for chain in chains])
    sizes = [indicator_ess(_is_above(trees, upper[at], lower[at])) for at in chosen.tolist()]
    return PairSizes(len(upper), np.array(sizes, dtype=np.float64))


def _is_above(trees: NDArray[np.int32], upper: int, lower: int) -> NDArray[np.float64]:
    """Return 1 where a mutation is above another, else 0.

    Args:
        trees: int32, shape (chains, samples, n + 1).
        upper, lower: two mutations.

    Returns:
        float64, shape (chains, samples).
    """
    root = trees.shape[2] - 1
    at = trees[:, :, lower]
    found = at == upper
    while (at != root).any():
        at = np.take_along_axis(trees, at[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        found |= at == upper
    return np.asarray(found, dtype=np.float64)
