"""Columns of tails, their sizes on a device, and the kernels that compute them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.ground.values import short_repr
from syclade.kernels.arguments import Argument
from syclade.kernels.tails.arguments import BLOCKED, GROUPED, ROWS

__all__ = [
    "BLOCK",
    "KERNELS",
    "LEAST",
    "MOST",
    "Columns",
    "Reduced",
    "Sizes",
    "columns_of",
    "reduce_columns",
    "sizes_of",
    "tail_arguments",
    "tail_kernel",
    "work_of",
]


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
    relevant = np.flatnonzero((p > 0) & (p < 1) & (counts > 0))
    relevant = relevant[np.lexsort((p[relevant], owner[relevant]))]
    owner, p, counts = owner[relevant], p[relevant], counts[relevant]
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


KERNELS = ("grouped", "tilted", "blocked")
"""The kernels: groups of equal probabilities, one trial at a time, Algorithm 1 in log space."""

BLOCK = 4096
"""Entries of a block of Algorithm 1: W."""


@cache
def tail_kernel(name: str, lanes: int = 1) -> Kernel:
    """Return the kernel with this name.

    Args:
        name: one of KERNELS.
        lanes: those of machine code for this processor, which has them without using them; else 1.
    """
    return Kernel(
        name=f"tails_{name}",
        factory=f"syclade.kernels.tails.{name}:make_{name}",
        parts={},
        constants={},
        records=(Record("Given", tail_arguments(name)),),
        group="work-group",
        lanes=lanes,
    )


def tail_arguments(name: str) -> tuple[Argument, ...]:
    """Return the arguments of a kernel."""
    return BLOCKED if name == "blocked" else GROUPED


@dataclass(frozen=True)
class Sizes:
    """Sizes of a slot's arrays.

    Attributes:
        groups: of equal probabilities.
        trials: entries of arrays over trials; 0 if the kernel has none.
        room: entries of a row over k.
    """

    groups: int
    trials: int
    room: int

    @property
    def slot_bytes(self) -> int:
        """Memory of one slot, in bytes."""
        return 8 * (2 * self.groups + 3 * self.trials + ROWS * self.room + 4)

    def symbols(self, slots: int) -> dict[str, int]:
        """Return the values of the symbols in the shapes of arguments."""
        return {"slots": slots, "groups": self.groups, "trials": self.trials, "room": self.room}


def sizes_of(name: str, reduced: Reduced, block: int = BLOCK) -> Sizes:
    """Return the sizes that all columns fit in.

    A window ends where the distribution is below 1e-18 of its maximum. By Bernstein's inequality it reaches
    at most 20 + √(400 + 120·m) to either side of the mean m, which is the larger of K and the mean without
    tilting. A row has room for two windows.
    """
    groups = int(np.diff(reduced.columns.starts).max(initial=1))
    if name == "blocked":
        most = int(reduced.columns.at_least.max(initial=1)) + 1
        return Sizes(groups, int(reduced.trials.max(initial=1)), min(block, most))
    mean = float(np.maximum(reduced.columns.at_least, reduced.means).max(initial=1.0))
    return Sizes(groups, 0, 4 * (20 + int(np.sqrt(400 + 120 * mean)) + 1))


def work_of(name: str, reduced: Reduced) -> NDArray[np.float64]:
    """Return the approximate work of each column, in cells; float64."""
    at_least = reduced.columns.at_least.astype(np.float64)
    trials = reduced.trials.astype(np.float64)
    spread = np.maximum(at_least, reduced.means) + 1
    cells: NDArray[np.float64] = spread * np.sqrt(np.diff(reduced.columns.starts))
    if name == "blocked":
        cells = trials * (at_least + 1)
    elif name == "tilted":
        cells = trials * np.sqrt(spread)
    return cells
