"""What a search needs to know of a problem: integer weights whose ratios are right, and orders to start in.

Only the ratios of the weights say which tree is the best. All sums have to fit in 32 bits, so that weights
are small: they are chosen so that their ratios are nearest to the right ones, which a power of two as their
unit would miss by 13 nats at 1000 cells x 500 mutations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import Problem

__all__ = ["SearchProblem", "make_search_problem"]

SUM_BITS = 29
"""No sum over all entries reaches 2^29: rows, gains and whole scores are int32."""

FINEST = 2.0**16
"""Units a nat, at most."""

_CANDIDATES = 4096
"""Units that are compared, from the finest one down to half of it."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """See the module.

    Attributes:
        mutations: n.
        weights: int32, shape (n, distinct columns): what a mutation adds to a column below it, in units,
            times the column's multiplicity.
        falling: int32, shape (n,): the mutations, those seen in most cells first.
        fullest: int32, shape (distinct columns,): the columns, those with most mutations first.
        unit: units a nat.
        base: log-likelihood of score 0, natural log.
    """

    mutations: int
    weights: NDArray[np.int32]
    falling: NDArray[np.int32]
    fullest: NDArray[np.int32]
    unit: float
    base: float

    @property
    def columns(self) -> int:
        """Number of distinct columns."""
        return self.weights.shape[1]

    def to_nats(self, score: int) -> float:
        """The log-likelihood of a tree with this score, for the rounded weights."""
        return self.base + score / self.unit


def make_search_problem(problem: Problem) -> SearchProblem:
    """What a search needs to know of a problem."""
    exact = np.array(problem.rates.weights, dtype=np.float64) * math.ldexp(1.0, -problem.scale_bits)
    counts = np.zeros(problem.classes, dtype=np.float64)
    for code in range(problem.classes):
        counts[code] = ((problem.observed == code) * problem.multiplicity).sum()
    integers, unit = _choose_unit(exact, counts)
    weights = integers[problem.observed] * problem.multiplicity
    seen = (weights > 0) * problem.multiplicity
    return SearchProblem(
        mutations=problem.mutations,
        weights=weights.astype(np.int32),
        falling=np.argsort(-seen.sum(axis=1), kind="stable").astype(np.int32),
        fullest=np.argsort(-(weights > 0).sum(axis=0), kind="stable").astype(np.int32),
        unit=unit,
        base=problem.base,
    )


def _choose_unit(exact: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """(integer weights, units a nat): as fine as sums allow, with ratios as right as can be.

    Args:
        exact: weights, natural log.
        counts: entries of each class.
    """
    largest = max(float((np.maximum(exact, 0) * counts).sum()), float((np.maximum(-exact, 0) * counts).sum()))
    finest = min(FINEST, 2.0**SUM_BITS / (largest + 1.0))
    top = float(np.abs(exact).max()) * finest
    # Candidates make the largest weight a whole number, the finest first.
    heads = np.unique(np.rint(np.linspace(max(top / 2, 1.0), top, _CANDIDATES)))[::-1]
    units = heads / float(np.abs(exact).max())
    products = np.outer(units, exact)
    rounded = np.rint(products)
    # Rounding up many weights by half a unit may pass the limit that the exact ones keep.
    sums = np.maximum(np.maximum(rounded, 0) @ counts, np.maximum(-rounded, 0) @ counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(rounded / products - 1.0)
    errors = np.where(exact == 0.0, 0.0, errors).max(axis=1)
    errors[sums >= 2.0**SUM_BITS] = np.inf
    unit = float(units[int(errors.argmin())])
    return np.rint(exact * unit).astype(np.int64), unit
