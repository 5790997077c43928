"""Columns: ragged arrays of groups of equal error probabilities, and K of each column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.ground.values import short_repr

__all__ = ["LEAST", "MOST", "Columns", "Reduced", "columns_of", "reduce_columns"]

LEAST = 1e-200
"""The least probability besides 0."""

MOST = 10**9
"""The largest depth of a column."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a pileup; column i has the groups starts[i] … starts[i + 1] − 1.

    Attributes:
        probabilities: float64 (groups,): error probability of each group, in [0, 1].
        counts: int64 (groups,): its trials, i.e. bases with this probability.
        starts: int64 (columns + 1,).
        at_least: int64 (columns,): K, the observed number of errors.
    """

    probabilities: NDArray[np.float64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    at_least: NDArray[np.int64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __post_init__(self) -> None:
        groups, columns = len(self.probabilities), len(self.at_least)
        if self.counts.shape != (groups,) or self.starts.shape != (columns + 1,):
            raise ValueError(
                f"{groups} probabilities have {len(self.counts)} counts, and {columns} columns "
                f"{len(self.starts)} starts; there should be {groups} and {columns + 1}"
            )
        if self.starts[0] != 0 or self.starts[-1] != groups or (np.diff(self.starts) < 0).any():
            raise ValueError(f"starts do not rise from 0 to {groups}, the number of groups")
        p = self.probabilities
        bad = np.flatnonzero(~((p == 0) | ((p >= LEAST) & (p <= 1))))
        if bad.size:
            raise ValueError(f"probability {bad[0]} is {p[bad[0]]}, which is neither 0 nor in [{LEAST}, 1]")
        if (self.counts < 0).any():
            raise ValueError(f"count {np.flatnonzero(self.counts < 0)[0]} is negative")

    def __len__(self) -> int:
        return len(self.at_least)


def columns_of(columns: Iterable[tuple[ArrayLike, ArrayLike, int]]) -> Columns:
    """Return columns from (probabilities, counts, K) of each.

    Raises:
        ValueError: a probability is outside of [0, 1] or below LEAST, or a count is negative.
    """
    given = [(np.asarray(p, np.float64), np.asarray(c, np.int64), int(k)) for p, c, k in columns]
    sizes = [len(p) for p, _, _ in given]
    return Columns(
        np.concatenate([p for p, _, _ in given] or [np.zeros(0)]),
        np.concatenate([c for _, c, _ in given] or [np.zeros(0, np.int64)]),
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        np.array([k for _, _, k in given], np.int64),
    )


@dataclass(frozen=True, eq=False)
class Reduced:
    """Columns that need a device, with what is known of all.

    Attributes:
        columns: those with 0 < K ≤ trials, of distinct probabilities in (0, 1), in increasing order.
        number: int64: the number of each among the given columns.
        log_tails: float64, for all given columns: 0 if K is certain, −∞ if it is impossible, else NaN.
        trials: int64: trials of each column of `columns`.
        means: float64: their mean numbers of errors.
    """

    columns: Columns
    number: NDArray[np.int64]
    log_tails: NDArray[np.float64]
    trials: NDArray[np.int64]
    means: NDArray[np.float64]


def reduce_columns(columns: Columns) -> Reduced:
    """Return the columns that need a device; see `fallback.tails.grouped.reduce_groups` for one of them.

    Raises:
        ValueError: a column has more than MOST trials.
    """
    n = len(columns)
    owner = np.repeat(np.arange(n), np.diff(columns.starts))
    p, counts = columns.probabilities, columns.counts
    certain = np.bincount(owner, np.where(p == 1, counts, 0), n).astype(np.int64)
    kept = np.flatnonzero((p > 0) & (p < 1) & (counts > 0))
    kept = kept[np.lexsort((p[kept], owner[kept]))]
    owner, p, counts = owner[kept], p[kept], counts[kept]
    first = np.flatnonzero(np.diff(owner, prepend=-1) | (np.diff(p, prepend=-1.0) != 0))
    owner, p = owner[first], p[first]
    counts = np.add.reduceat(counts, first) if first.size else counts
    at_least = columns.at_least - certain
    trials = np.bincount(owner, counts, n).astype(np.int64)
    deep = np.flatnonzero(trials > MOST)
    if deep.size:
        raise ValueError(f"column {deep[0]} has {trials[deep[0]]} trials, and may have {MOST}")
    log_tails = np.where(at_least <= 0, 0.0, np.where(at_least > trials, -np.inf, np.nan))
    number = np.flatnonzero(np.isnan(log_tails))
    needed = np.isin(owner, number)
    owner, p, counts = owner[needed], p[needed], counts[needed]
    sizes = np.bincount(owner, minlength=n)[number]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    means = np.bincount(owner, p * counts, n)[number].astype(np.float64)
    made = Columns(p, counts.astype(np.int64), starts, at_least[number])
    return Reduced(made, number, log_tails, trials[number], means)
