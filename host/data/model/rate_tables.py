"""Integer tables of error rates at every grid point, for kernels and for the fallback.

A weight is the sum of a part from the false-negative rate and a part from the false-positive rate, each
rounded once. Fixed rates have one point, whose weights are rounded as a whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.ground.values import short_repr
from syclade.kernels.rates.arguments import FN, FP

__all__ = ["RateTables", "fixed_tables", "greatest_weights", "make_rate_tables"]


@dataclass(frozen=True, eq=False)
class RateTables:
    """Tables of error rates, in the units of the problem's scores.

    Attributes:
        model: the rates, fixed or learned.
        fn_weights, fp_weights: int64, shape (points, classes): the parts of the weights, by class.
        fn_worth: int64, shape (points,): logarithm of the prior's density.
        fp_worth: likewise, plus the base of scores relative to that at the start.
        doublet_worth: likewise, for the rate of doublets, without that base.
    """

    model: RateModel
    fn_weights: NDArray[np.int64]
    fp_weights: NDArray[np.int64]
    fn_worth: NDArray[np.int64]
    fp_worth: NDArray[np.int64]
    doublet_worth: NDArray[np.int64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def weights(self, places: Places) -> tuple[int, ...]:
        """Return the weight of every class at grid points."""
        return tuple((self.fn_weights[places[FN]] + self.fp_weights[places[FP]]).tolist())

    def worth(self, places: Places) -> int:
        """Return what is added to a tree's score at grid points."""
        worths = (self.fn_worth, self.fp_worth, self.doublet_worth)
        return sum(int(worth[place]) for worth, place in zip(worths, places, strict=True))

    @property
    def digest(self) -> str | None:
        """SHA-256 digest of everything that a chain with learned rates depends on; None for fixed rates."""
        if not self.model.learns:
            return None
        digest = hashlib.sha256(self.model.jumps.astype("<i8").tobytes())
        for table in (self.fn_weights, self.fp_weights, self.fn_worth, self.fp_worth, self.doublet_worth):
            digest.update(table.astype("<i8").tobytes())
        return digest.hexdigest()


def greatest_weights(model: RateModel) -> NDArray[np.float64]:
    """Return bounds of the weights' sizes over all grid points: float64, shape (4,), natural logarithm."""
    if not model.learns:
        return np.abs(model.rates.weights())
    fn, fp = (np.abs(parts).max(axis=0) for parts in model.parts_of_weights)
    return np.asarray(fn + fp)


def fixed_tables(model: RateModel, weights: tuple[int, ...]) -> RateTables:
    """Make the tables of fixed rates.

    Args:
        model: the rates.
        weights: of every class, in units of score.
    """
    nothing = np.zeros(1, dtype=np.int64)
    own = np.array([weights], dtype=np.int64)
    return RateTables(model, own, np.zeros_like(own), nothing, nothing, nothing)


def make_rate_tables(
    model: RateModel, values: tuple[int, ...], counts: NDArray[np.int64], unit: float
) -> RateTables:
    """Make the tables.

    Args:
        model: the rates.
        values: observed value of class 0, of class 1, ...; the last class has none.
        counts: int64, shape (4,): how often each value was observed.
        unit: value of a score of 1, in nats.
    """
    if not model.learns:
        weights = model.rates.weights()
        return fixed_tables(model, (*(round(float(weights[value]) / unit) for value in values), 0))
    fn, fp = model.parts_of_weights
    bases = -fp @ counts
    bases -= bases[model.start[FP]]
    fn_worth, fp_worth, doublet_worth = (
        np.zeros(1) if grid is None else grid.log_density for grid in model.grids
    )
    return RateTables(
        model,
        _by_class(fn, values, unit),
        _by_class(fp, values, unit),
        _rounded(fn_worth, unit),
        _rounded(fp_worth + bases, unit),
        _rounded(doublet_worth, unit),
    )


def _rounded(nats: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    return np.ascontiguousarray(np.rint(nats / unit), dtype=np.int64)


def _by_class(parts: NDArray[np.float64], values: tuple[int, ...], unit: float) -> NDArray[np.int64]:
    table = np.zeros((len(parts), len(values) + 1), dtype=np.int64)
    table[:, :-1] = _rounded(parts[:, list(values)], unit)
    return table
