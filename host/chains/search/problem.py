"""Input of a search: integer weights with accurate ratios, and the orders in which starts insert.

Only the ratios of the weights decide which tree is best. All sums must fit in 32 bits, so the weights are
small. Their unit is chosen to make the ratios as accurate as possible; with a power of two as the unit, the
result would be off by 13 nats at 1000 cells x 500 mutations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.levels import EXACT_BITS
from syclade.host.data.model.paths import column_counts
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import preorder
from syclade.host.ground.errors import MatrixError

__all__ = ["SearchProblem", "make_search_problem", "sample_size"]

SUM_BITS = 29
"""All sums over all entries stay below 2^29, since rows, gains and whole scores are int32."""

FINEST = 2.0**16
"""Maximum units per nat."""

_LARGE = 4e5
"""Entries above which starts may use a sample of the columns."""

_ENOUGH = 2
"""Columns per mutation in such a sample. Climbs end at the same scores as from trees of all columns."""

_CANDIDATES, _CANDIDATES_OF_LEVELS, _MOST_VALUES = 4096, 16, 8
"""Numbers of units that are compared, from the finest one down to half as many per nat: of calls, whose few
weights have ratios to keep, and of evidence, which has more weights than that."""

_MOST_ROUNDED = 0.15
"""Most of the weights that rounding may take or add. It is at most a tenth up to some 5e8 entries, and then
half or more: a weight of less than half a unit is 0."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """Input of a search.

    Attributes:
        mutations: number of mutations, n.
        weights: int32, shape (n, distinct columns): what a mutation adds to the score of a column below it,
            in units, times the column's multiplicity.
        falling: int32, shape (n,): the mutations, those seen in most cells first.
        fullest: int32, shape (distinct columns,): the columns, those with most mutations first.
        unit: number of units per nat.
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

    def sample(self) -> SearchProblem:
        """Return the problem that starts use: itself, or evenly spaced columns of it if it is large."""
        count = sample_size(self.mutations, self.columns)
        if count == self.columns:
            return self
        weights = np.ascontiguousarray(self.weights[:, np.arange(count) * self.columns // count])
        return replace(
            self, weights=weights, falling=_by_fall((weights > 0).sum(axis=1)),
            fullest=_by_fall((weights > 0).sum(axis=0)),
        )  # fmt: skip

    def score_of(self, parents: NDArray[np.int32]) -> int:
        """Return the score of a tree by its definition, in units: each column is attached at its best node.

        Args:
            parents: int32, shape (n + 1,): a valid parent vector.
        """
        sums = np.zeros((self.mutations + 1, self.columns), dtype=np.int64)
        for node in preorder(parents)[1:].tolist():
            sums[node] = sums[parents[node]] + self.weights[node]
        return int(sums.max(axis=0).sum())

    def to_nats(self, score: int) -> float:
        """Return the log-likelihood (natural log) of a tree with this score, for the rounded weights."""
        return self.base + score / self.unit


def sample_size(mutations: int, columns: int) -> int:
    """Return the number of columns that starts use, of these: all, or a sample if the matrix is large.

    A start takes time in proportion to columns times squared mutations, or more.
    """
    enough = _ENOUGH * mutations
    return enough if mutations * columns > _LARGE and columns > 2 * enough else columns


def _by_fall(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the indices of the counts, highest first; of equal ones, the lowest first."""
    return np.argsort(-counts, kind="stable").astype(np.int32)


def make_search_problem(problem: Problem) -> SearchProblem:
    """Return the input of a search for a problem; of evidence, by the log odds of its entries themselves.

    Raises:
        MatrixError: there are so many entries that whole numbers of 32 bits do not stand for the weights.
    """
    weights, cells_with, unit = _of_classes(problem) if problem.log_odds is None else _of_entries(problem)
    return SearchProblem(
        mutations=problem.mutations,
        weights=weights,
        falling=_by_fall(cells_with),
        fullest=_by_fall(column_counts(weights > 0)),
        unit=unit,
        base=problem.base,
    )


def _of_classes(problem: Problem) -> tuple[NDArray[np.int32], NDArray[np.int64], float]:
    """Return (weights, number of cells that seem to have each mutation, units per nat)."""
    exact = np.array(problem.rates.weights, dtype=np.float64) * math.ldexp(1.0, -problem.scale_bits)
    cells = np.array(  # of each mutation by class; the sums of whole numbers are exact
        [np.bincount(row, problem.multiplicity, problem.classes) for row in problem.observed]
    )
    counts = cells.sum(axis=0)
    integers, unit = _choose_unit(exact, counts)
    lost, all_weights = np.abs(integers - exact * unit) @ counts, np.abs(exact) @ counts
    if unit == 0 or lost > _MOST_ROUNDED * unit * all_weights:
        raise _too_coarse(int(counts.sum()))
    weights = integers.astype(np.int32)[problem.observed]
    weights *= problem.multiplicity.astype(np.int32)
    return weights, cells[:, integers > 0].sum(axis=1).astype(np.int64), unit


def _of_entries(problem: Problem) -> tuple[NDArray[np.int32], NDArray[np.int64], float]:
    """Return the same by the log odds of all entries.

    Each mutation's weights are differences of its rounded sums over the columns so far. If each were rounded
    alone, the many entries with equal log odds would err in the same direction: at 500 x 2000, a tree's score
    by 12 nats.
    """
    log_odds = problem.log_odds
    assert log_odds is not None
    signed = (np.maximum(sign * log_odds, 0).sum(axis=1).tolist() for sign in (1, -1))
    more, less = (math.ldexp(math.fsum(sums), -EXACT_BITS) for sums in signed)
    unit = min(FINEST, (2.0**SUM_BITS - log_odds.size) / (max(more, less) + 1.0))  # rounding adds 1 an entry
    if log_odds.size / 4.0 > _MOST_ROUNDED * unit * (more + less):
        raise _too_coarse(log_odds.size)
    sums = np.rint(np.cumsum(log_odds, axis=1) * math.ldexp(unit, -EXACT_BITS))
    weights = np.diff(sums, axis=1, prepend=0.0).astype(np.int32)
    return weights, (weights > 0) @ problem.multiplicity, unit


def _too_coarse(entries: int) -> MatrixError:
    """Return the error of a matrix with too many entries."""
    return MatrixError(
        f"a search has sums of 32 bits, which are too coarse for {entries:,} entries",
        hint="search with a part of the cells",
    )


def _choose_unit(exact: NDArray[np.float64], counts: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Return (integer weights, units per nat): as fine as the sums allow, with the most accurate ratios.

    Args:
        exact: float64, shape (classes,): weights, natural log.
        counts: float64, shape (classes,): number of entries of each class.
    """
    largest = max(float((np.maximum(exact, 0) * counts).sum()), float((np.maximum(-exact, 0) * counts).sum()))
    finest = min(FINEST, 2.0**SUM_BITS / (largest + 1.0))
    top = float(np.abs(exact).max()) * finest
    # Each candidate makes the largest weight a whole number; the finest one comes first.
    candidates = _CANDIDATES if len(exact) <= _MOST_VALUES else _CANDIDATES_OF_LEVELS
    heads = np.unique(np.rint(np.linspace(max(top / 2, 1.0), top, candidates)))[::-1]
    units = heads / float(np.abs(exact).max())
    products = np.outer(units, exact)
    rounded = np.rint(products)
    # Many weights rounded up by half a unit may exceed the limit although the exact ones do not.
    sums = np.maximum(np.maximum(rounded, 0) @ counts, np.maximum(-rounded, 0) @ counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(rounded / products - 1.0)
    errors = np.where(exact == 0.0, 0.0, errors).max(axis=1)
    errors[sums >= 2.0**SUM_BITS] = np.inf
    unit = float(units[int(errors.argmin())])
    return np.rint(exact * unit).astype(np.int64), unit
