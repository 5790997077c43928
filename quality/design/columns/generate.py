"""Columns after the seed's Table 1: N and K of every column of a data set, and error probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from syclade.quality.design.columns.reader import Dataset

__all__ = ["AMPLICON", "Shape", "generate_shape", "group_errors"]

AMPLICON = 300
"""Columns that share a depth: sequencing amplifies about a hundred pieces of the genome."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Depths and errors of the columns of a data set.

    Attributes:
        depths: int64 (columns,): N.
        at_least: int64 (columns,): K ≤ N.
    """

    depths: NDArray[np.int64]
    at_least: NDArray[np.int64]


def generate_shape(
    data: Dataset, seed: int = 1, *, correlation: float = 0.45, columns: int | None = None
) -> Shape:
    """Return columns whose N and K are distributed as in a row of Table 1.

    N is log-normal with the row's mean and deviation, and the same for all columns of an amplicon. K has the
    row's median, quartile, percentiles and maximum; in between its logarithm is interpolated, and the part
    below the median is chosen so that the mean fits. Ranks of both are those of normal numbers with a
    correlation.

    Args:
        data: the row.
        seed: of the random numbers.
        correlation: of the normal numbers behind N and K.
        columns: number of columns; None: the row's.
    """
    rng = np.random.default_rng(seed)
    size = columns or data.columns
    pieces = -(-size // AMPLICON)
    of_piece = _stratified(rng, pieces)
    normal_n = np.repeat(of_piece, AMPLICON)[:size]
    normal_k = correlation * normal_n + math.sqrt(1 - correlation**2) * _stratified(rng, size)
    sigma = math.sqrt(math.log(1 + (data.n_sd / data.n_mean) ** 2))
    depths = np.exp(math.log(data.n_mean) - sigma * sigma / 2 + sigma * normal_n)
    depths *= data.n_mean / depths.mean()
    ranks = (np.argsort(np.argsort(normal_k)) + 0.5) / size
    at_least = _quantiles(data, ranks)
    whole = np.maximum(1, np.rint(depths)).astype(np.int64)
    return Shape(whole, np.minimum(np.maximum(1, np.rint(at_least)).astype(np.int64), whole))


def _stratified(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Return the quantiles of the normal distribution at equal distances, in random order."""
    places = (np.arange(size) + 0.5) / size
    return rng.permutation(np.array([NormalDist().inv_cdf(one) for one in places.tolist()]))


def _quantiles(data: Dataset, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K at these ranks in (0, 1)."""
    known = np.array([0.5, 0.75, 0.9, 0.99, ranks.max()])
    values = np.log([data.k_median, data.k_p75, data.k_p90, data.k_p99, data.k_max])
    # Normal quantiles as the axis: between the known ones K is log-normal. Fast enough, since ranks are
    # sorted once.
    order = np.argsort(ranks)
    axis = np.empty(len(ranks))
    axis[order] = [NormalDist().inv_cdf(one) for one in ranks[order].tolist()]
    known_axis = np.array([NormalDist().inv_cdf(one) for one in known.tolist()])
    above = ranks >= 0.5
    k = np.empty(len(ranks))
    k[above] = np.exp(np.interp(axis[above], known_axis, values))
    slope_low = (values[1] - values[0]) / (known_axis[1] - known_axis[0])
    k[~above] = np.exp(values[0] + slope_low * axis[~above])
    return k


def group_errors(
    depth: int, mean_errors: float, groups: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return (probabilities, counts) of a column: base qualities spread over `groups` values.

    Args:
        depth: N.
        mean_errors: expected number of errors.
        groups: number of distinct probabilities.
        rng: source of randomness.
    """
    qualities = np.linspace(20, 41, groups)
    shares = rng.dirichlet(np.linspace(1, 5, groups))
    counts = rng.multinomial(depth, shares).astype(np.int64)
    p = 10 ** (-qualities / 10)
    return np.minimum(p * mean_errors / max(float(p @ counts), 1e-300), 0.5), counts
