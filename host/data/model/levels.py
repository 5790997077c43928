"""Levels of evidence: the observation model of matrices whose entries have log odds in place of calls.

Chains and searches take a class of each entry and a weight of each class. So the log odds of all entries
become at most `MOST_LEVELS` levels, exact where there are no more distinct values, else the levels with the
least mean squared error. Log-likelihoods of an answer are of the log odds themselves (docs/evidence.md).

Source of the quantiser: Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory
28, 1982.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.values import freeze_arrays, short_repr

__all__ = [
    "EXACT_BITS", "MOST_LEVELS", "Levels", "MisfitBounds", "absent_logs", "exact_weights", "floored",
    "levels_of", "log_odds_of", "misfit_bounds",
]  # fmt: skip

MOST_LEVELS = 254
"""Codes of classes have eight bits, and one class is that of entries of which nothing is known."""

_NOTHING = 1e-9
"""Size of log odds below which nothing is known of an entry."""

_SAME, _OF_CALLS = 0.05, 3
"""Difference of log-likelihoods, in nats, that makes no difference where levels are more than those of calls;
and the most levels of calls. Of log odds of any size, many trees differ from the best one by as little."""

_ROUNDS = 200
"""Most rounds of the quantiser. Each one is a few sums over the levels."""

_SPLITS = 10
"""Most times that levels which are left over divide others."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Observation model of evidence: a few levels of log odds; the arrays are read-only.

    Attributes:
        odds: float64, shape (k,), ascending: log P(data | mutated) - log P(data | not) of each level, in
            nats, the mean over its entries.
        absent: float64, shape (k,): log P(not mutated) of each level, the mean over its entries.
        edges: float64, shape (k - 1,): log odds from which an entry is of the next level.
        floor: least probability of either state of an entry.
        largest_error, mean_error: difference between entries and their levels, in nats.
    """

    odds: NDArray[np.float64]
    absent: NDArray[np.float64]
    edges: NDArray[np.float64]
    floor: float
    largest_error: float
    mean_error: float

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, ("odds", "absent", "edges"))

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __eq__(self, other: object) -> bool:
        """Return whether other levels are the same, with the same edges and floor."""
        return isinstance(other, Levels) and self._key == other._key

    def __hash__(self) -> int:
        """Return the hash of levels, edges and floor."""
        return hash(self._key)

    @property
    def _key(self) -> tuple[bytes, bytes, bytes, float]:
        return self.odds.tobytes(), self.absent.tobytes(), self.edges.tobytes(), self.floor

    @property
    def exact(self) -> bool:
        """Return whether every entry has exactly its level."""
        return self.largest_error < _NOTHING

    @property
    def same(self) -> float:
        """Return the difference of log-likelihoods of trees that makes no difference, in nats."""
        return 0.0 if len(self.odds) <= _OF_CALLS else _SAME

    def codes(self, log_odds: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return the level of each entry: uint8, like log_odds; k where nothing is known."""
        codes = np.searchsorted(self.edges, log_odds, side="right").astype(np.uint8)
        codes[np.abs(log_odds) < _NOTHING] = len(self.odds)
        return codes

    def log_table(self) -> NDArray[np.float64]:
        """Return log P(not mutated) and log P(mutated) by code: float64, shape (k + 1, 2); 0 if unknown."""
        known = np.column_stack((self.absent, self.absent + self.odds))
        return np.concatenate((known, np.zeros((1, 2))))

    def weights(self) -> NDArray[np.float64]:
        """Return what each code adds to a log-likelihood with the mutation: float64, shape (k + 1,)."""
        return np.append(self.odds, 0.0)

    def flip_effect(self) -> float:
        """Return the largest change of the log-likelihood when one true value is flipped, in nats."""
        return float(np.abs(self.odds).max(initial=0.0))

    @property
    def words(self) -> str:
        """The levels as a line of text."""
        count = f"{len(self.odds)} levels of log odds"
        if self.exact:
            return f"{count}, all exact"
        return (
            f"{count}, which differ from those of the entries by {self.mean_error:.2g} nats on the mean, and "
            f"by {self.largest_error:.2g} at most"
        )

    def to_dict(self) -> dict[str, float]:
        """Return sizes and errors as plain values, with six digits."""
        numbers = {
            "floor": self.floor,
            "largest_error": self.largest_error,
            "mean_error": self.mean_error,
        }
        rounded = {name: float(f"{value:.6g}") for name, value in numbers.items()}
        return {"levels": len(self.odds), **rounded}


def log_odds_of(matrix: Matrix) -> NDArray[np.float64]:
    """Return the log odds of all entries: float64, shape (n_mutations, n_cells).

    Args:
        matrix: a matrix whose evidence is `floored` likelihoods.
    """
    assert isinstance(matrix.evidence, Likelihoods)
    return matrix.evidence.log_odds


EXACT_BITS = 30
"""Unit of `exact_weights`: 2^-30 nat. Sums of 10^6 log odds of a floor of 1e-300 are below 2^53 units."""


def exact_weights(matrix: Matrix) -> NDArray[np.int64]:
    """Return the log odds of all entries in units of 2^-30 nat: int64, shape (n_mutations, n_cells).

    Chains compare places by levels. Searches, and the final place of a cell or mutation, compare by these,
    whose sums are exact in any order, so that ties are the same on every processor.

    Args:
        matrix: as for `log_odds_of`.
    """
    return np.asarray(np.rint(log_odds_of(matrix) * 2**EXACT_BITS).astype(np.int64))


def floored(log_odds: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """Return finite log odds: no state of an entry has a probability below the floor.

    Args:
        log_odds: float64, may be infinite.
        floor: a probability, above 0 and below 0.5.
    """
    most = math.log1p(-floor) - math.log(floor)
    return np.clip(log_odds, -most, most)


def absent_logs(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(not mutated) of entries, with both states equally probable before; 0 if unknown."""
    return np.where(np.abs(log_odds) < _NOTHING, 0.0, -np.logaddexp(0.0, log_odds))


def levels_of(log_odds: NDArray[np.float64], floor: float, most: int = MOST_LEVELS) -> Levels:
    """Return the levels of a matrix.

    Args:
        log_odds: float64, finite, of any shape.
        floor: the floor that they have.
        most: maximum number of levels.
    """
    known = log_odds[np.abs(log_odds) >= _NOTHING]
    values, counts = np.unique(known, return_counts=True)
    ends = np.arange(len(values) + 1) if len(values) <= most else _quantised(values, counts, most)
    odds, absent = (_means(of, counts, ends) for of in (values, absent_logs(values)))
    errors = np.abs(values - np.repeat(odds, np.diff(ends)))
    return Levels(
        odds=odds,
        absent=absent,
        edges=(values[ends[1:-1] - 1] + values[ends[1:-1]]) / 2.0,
        floor=floor,
        largest_error=float(errors.max(initial=0.0)),
        mean_error=float(errors @ counts / max(1, counts.sum())),
    )


def _means(
    values: NDArray[np.float64], counts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean of the values of each level; that of a single value is exact."""
    if not len(values):
        return np.zeros(0)
    sums, masses = (np.add.reduceat(of, ends[:-1]) for of in (values * counts, counts))
    return np.where(np.diff(ends) == 1, values[ends[:-1]], sums / masses)


def _quantised(values: NDArray[np.float64], counts: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the first value of each level, and their number at the end: int64, at most (most + 1,).

    Args:
        values: float64, distinct, ascending.
        counts: int64: number of entries of each.
        most: maximum number of levels.
    """
    mass = np.concatenate(([0], np.cumsum(counts)))
    moment = np.concatenate(([0.0], np.cumsum(values * counts)))
    # Half of the first levels are quantiles, and half are evenly spaced, so that rare values have some, too.
    half = most // 2
    even = np.linspace(values[0], values[-1], half + 1)[:-1]
    by_mass = np.searchsorted(mass, mass[-1] * np.arange(most - half) / (most - half), side="right") - 1
    ends = _distinct(np.concatenate((by_mass, np.searchsorted(values, even))), len(values))
    for _ in range(_SPLITS):
        for _ in range(_ROUNDS):
            means = np.diff(moment[ends]) / np.diff(mass[ends])
            inner = np.searchsorted(values, (means[1:] + means[:-1]) / 2.0)
            found = _distinct(np.concatenate(([0], inner)), len(values))
            if np.array_equal(found, ends):
                break
            ends = found
        spare = most - (len(ends) - 1)
        if not spare:
            break
        # Levels of few values become one: those with the largest errors are divided at their means.
        means = np.diff(moment[ends]) / np.diff(mass[ends])
        errors = np.add.reduceat((values - np.repeat(means, np.diff(ends))) ** 2 * counts, ends[:-1])
        worst = np.argsort(-errors, kind="stable")[:spare]
        ends = _distinct(np.concatenate((ends[:-1], np.searchsorted(values, means[worst]))), len(values))
    return ends


def _distinct(starts: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return distinct starts in ascending order, and the number of values."""
    return np.append(np.unique(starts[starts < count]), count).astype(np.int64)


_TILTS = np.linspace(0.05, 0.95, 19)
"""Exponents of the bound of `misfit_bounds`."""


class MisfitBounds(NamedTuple):
    """Bounds of `misfit_bounds`, float64, at most 1: of each cell, and of each mutation."""

    cells: NDArray[np.float64]
    mutations: NDArray[np.float64]


def misfit_bounds(log_odds: NDArray[np.float64], has: NDArray[np.bool_]) -> MisfitBounds:
    """Return bounds on the probability that evidence is so much against states, or more, by chance.

    An entry's state has the probability that its evidence and the part of the mutated entries of its mutation
    give it. If these are right, the sum of -log P(state) over some entries is a sum of independent numbers,
    and its tail has Chernoff's bound.

    Args:
        log_odds: float64, shape (n_mutations, n_cells).
        has: bool, of the same shape: the states.

    Source: Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
    observations", Annals of Mathematical Statistics 23, 1952.
    """
    part = (has.sum(axis=1, keepdims=True) + 0.5) / (has.shape[1] + 1.0)
    known = np.abs(log_odds) >= _NOTHING
    odds = np.where(known, log_odds + np.log(part / (1.0 - part)), 0.0)
    certain, likely = np.abs(odds), _of_both(np.where(known, -np.log1p(np.exp(-np.abs(odds))), 0.0))
    surprise = _of_both(np.where(known & (has != (odds > 0.0)), certain, 0.0)) - likely
    bounds = np.zeros_like(surprise)
    for tilt in _TILTS.tolist():
        ways = np.where(known, np.log1p(np.exp((tilt - 1.0) * certain)), 0.0)
        bounds = np.minimum(bounds, _of_both(ways) + (1.0 - tilt) * likely - tilt * surprise)
    cells = has.shape[1]
    return MisfitBounds(np.exp(bounds[:cells]), np.exp(bounds[cells:]))


def _of_both(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of the entries of each cell, and after them those of each mutation."""
    return np.concatenate((entries.sum(axis=0), entries.sum(axis=1)))
