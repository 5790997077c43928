"""What learned rates are worth in integers: at every place of their grids, for kernels and for the fallback.

A weight is a part by the rate of false negatives and a part by that of false positives, each rounded once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.learned import Learned
from syclade.kernels.rates.arguments import FN, FP

__all__ = ["RateTables", "make_rate_tables", "parts_of_weights"]


@dataclass(frozen=True, eq=False)
class RateTables:
    """Tables of learned rates; in the units of the problem's scores.

    Attributes:
        learned: which.
        fn_weights, fp_weights: int64, shape (points, classes): the parts of weights, by class.
        fn_worth: int64, shape (points,): the logarithm of the prior's density.
        fp_worth: likewise, with the base of scores, relative to that of the start.
    """

    learned: Learned
    fn_weights: NDArray[np.int64]
    fp_weights: NDArray[np.int64]
    fn_worth: NDArray[np.int64]
    fp_worth: NDArray[np.int64]

    def weights(self, places: tuple[int, int]) -> tuple[int, ...]:
        """Of every class, at such places."""
        return tuple((self.fn_weights[places[FN]] + self.fp_weights[places[FP]]).tolist())

    def worth(self, places: tuple[int, int]) -> int:
        """What a tree's score gets besides, at such places."""
        return int(self.fn_worth[places[FN]] + self.fp_worth[places[FP]])

    @property
    def digest(self) -> str:
        """Of all that a chain with these rates depends on."""
        digest = hashlib.sha256(self.learned.jumps.astype("<i8").tobytes())
        for table in (self.fn_weights, self.fp_weights, self.fn_worth, self.fp_worth):
            digest.update(table.astype("<i8").tobytes())
        return digest.hexdigest()


def parts_of_weights(learned: Learned) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log P(d | 1) by the rate of false negatives, and -log P(d | 0) by that of false positives.

    Returns:
        Two of float64, shape (points, 4), natural logarithm.
    """
    fn = np.array([rates.log_table()[:, 1] for rates in learned.along(FN)])
    fp = np.array([-rates.log_table()[:, 0] for rates in learned.along(FP)])
    return fn, fp


def make_rate_tables(
    learned: Learned, values: tuple[int, ...], counts: NDArray[np.int64], unit: float
) -> RateTables:
    """The tables.

    Args:
        learned: which rates.
        values: that of class 0, of class 1, ...; the last class has none.
        counts: int64, shape (4,): how often each value was observed.
        unit: what a score of 1 is, in nats.
    """
    fn, fp = parts_of_weights(learned)
    bases = -fp @ counts
    bases -= bases[learned.start[FP]]
    worths = [np.zeros(1) if grid is None else grid.log_density for grid in (learned.fn, learned.fp)]
    return RateTables(
        learned,
        _by_class(fn, values, unit),
        _by_class(fp, values, unit),
        _rounded(worths[FN], unit),
        _rounded(worths[FP] + bases, unit),
    )


def _rounded(nats: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    return np.ascontiguousarray(np.rint(nats / unit), dtype=np.int64)


def _by_class(parts: NDArray[np.float64], values: tuple[int, ...], unit: float) -> NDArray[np.int64]:
    table = np.zeros((len(parts), len(values) + 1), dtype=np.int64)
    table[:, :-1] = _rounded(parts[:, list(values)], unit)
    return table
