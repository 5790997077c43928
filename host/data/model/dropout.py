"""Dropout that differs between mutations: a rate of false negatives for each, under a common Beta.

Amplicons fail at different rates. The rate of mutation g is b_g ~ Beta(s·m, s·(1 − m)), with the mean m and
the concentration s on a grid. Weights of chains are by classes of observed values, so a class is a value of
one mutation; where there are more mutations than classes, mutations of similar rates have one together.

Source: docs/model.md, "Dropout of each mutation".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem, SlotRates, make_problem
from syclade.host.data.model.rate_grid import fixed_tables
from syclade.host.data.model.rates import Rates
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, freeze_arrays, short_repr

__all__ = [
    "COLUMNS", "EVIDENT", "FILE", "LOWEST", "Dropout", "are_inside_limits", "beta_at_most_probable",
    "class_weights", "draw_common_beta", "grouped", "limits_inside", "log_bayes_factor", "log_weights",
    "mutation_weights", "problem_of_groups", "rates_by", "rates_in", "slot_rates", "weights_of",
    "within_limits",
]  # fmt: skip

FILE = "dropout.tsv"

COLUMNS = ("mutation", "fn_rate", "low", "high")
"""Columns of the file: the mean of the rate, and the ends of its interval with a probability of 90 %: 0 or 1
where it reaches the lowest or the highest rate that is considered."""

EVIDENT = 3.0
"""Log Bayes factor from which rates are taken to differ: 20 to 1."""

LOWEST = 1e-3
"""Lowest rate of false negatives of a mutation. It bounds the weights, and so the unit of scores."""

_CLOSE = 0.98
"""Highest sum of a mutation's rate and that of false positives: at 1, its observation is no evidence."""

_MOST_GROUPS = 127
"""Each has two classes, and codes of classes have eight bits."""

_INSIDE = 0.9

_ROUNDED = 1e-3
"""Part of a rate by which the integers of a chain may differ from it."""

_MISSED, _SEEN, _BOTH = range(3)


class _Grid(NamedTuple):
    """Points of the common Beta: mean, and shapes; float64, flat."""

    mean: NDArray[np.float64]
    missed: NDArray[np.float64]
    seen: NDArray[np.float64]


@cache
def _grid() -> _Grid:
    """Return means from 0.005 to 0.7 and concentrations from 2 to 256, all with equal probabilities."""
    odds = np.linspace(math.log(0.005 / 0.995), math.log(0.7 / 0.3), 40)
    mean, total = (
        axis.ravel() for axis in np.meshgrid(1.0 / (1.0 + np.exp(-odds)), 2.0 ** np.arange(1.0, 8.5, 0.5))
    )
    return _Grid(mean, mean * total, (1.0 - mean) * total)


def log_bayes_factor(missed: NDArray[np.float64], seen: NDArray[np.float64]) -> float:
    """Return the log Bayes factor of rates that differ between mutations against one rate for all.

    Args:
        missed, seen: float64, shape (mutations,): numbers of cells with each mutation, seen as 0 and as 1.
    """
    grid = _grid()
    one = np.log(grid.mean) * missed.sum() + np.log1p(-grid.mean) * seen.sum()
    return float(np.logaddexp.reduce(_of_points(missed, seen)) - np.logaddexp.reduce(one))


def _of_points(missed: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-likelihood of numbers at each point of the grid, with the rates integrated out."""
    found = np.zeros(len(_grid().mean))
    for lost, shown in zip(missed.tolist(), seen.tolist(), strict=True):
        found += _log_rising(_MISSED, lost)
        found += _log_rising(_SEEN, shown)
        found -= _log_rising(_BOTH, lost + shown)
    return found


@lru_cache(maxsize=2**12)
def _log_rising(which: int, count: float) -> NDArray[np.float64]:
    """Return log Gamma(count + a) / Gamma(a) for the shapes a of all points, or of their sums.

    Chains ask for the same numbers of cells again and again.
    """
    from scipy.special import gammaln

    grid = _grid()
    shapes = (grid.missed, grid.seen, grid.missed + grid.seen)[which]
    return np.asarray(gammaln(shapes + count) - gammaln(shapes))


def draw_common_beta(
    missed: NDArray[np.float64], seen: NDArray[np.float64], uniform: float
) -> tuple[float, float]:
    """Return the shapes of the common Beta at a point of the grid, drawn by a uniform number."""
    logs, grid = _of_points(missed, seen), _grid()
    ends = np.cumsum(np.exp(logs - logs.max()))
    point = min(int(np.searchsorted(ends, uniform * ends[-1], side="right")), len(ends) - 1)
    return float(grid.missed[point]), float(grid.seen[point])


def beta_at_most_probable(missed: NDArray[np.float64], seen: NDArray[np.float64]) -> tuple[float, float]:
    """Return the shapes of the common Beta at the most probable point of the grid."""
    grid, best = _grid(), int(_of_points(missed, seen).argmax())
    return float(grid.missed[best]), float(grid.seen[best])


def within_limits(rates: NDArray[np.float64], fp_rate: float) -> NDArray[np.float64]:
    """Return rates within the limits of a mutation's rate."""
    return np.clip(rates, LOWEST, _CLOSE - fp_rate)


def are_inside_limits(rates: NDArray[np.float64], fp_rate: float) -> NDArray[np.bool_]:
    """Return which rates are inside the limits of a mutation's rate, and not at them up to rounding."""
    lowest, highest = limits_inside(fp_rate)
    return (rates > lowest) & (rates < highest)


def limits_inside(fp_rate: float) -> tuple[float, float]:
    """Return the rates between which one is not at the limits of a mutation's rate up to rounding."""
    return LOWEST * (1.0 + _ROUNDED), (_CLOSE - fp_rate) * (1.0 - _ROUNDED)


def grouped(rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the group of each mutation, int64, (n,): its own, or if they are many, one of similar rates."""
    groups, ranks = min(len(rates), _MOST_GROUPS), np.arange(len(rates))
    if groups < len(rates):
        ranks[np.argsort(rates, kind="stable")] = np.arange(len(rates)) * groups // len(rates)
    return ranks.astype(np.int64)


def problem_of_groups(
    matrix: Matrix, rates: Rates, groups: NDArray[np.int64], *, octaves: bool = True
) -> Problem:
    """Return a problem whose classes are values of groups of mutations, by default with scores in octaves.

    Its own rates of false negatives are the lowest ones, which have the largest weights; so the weights of
    any others fit its unit and its kernels.

    Raises:
        MatrixError: the matrix is too large for the score.
    """
    plain = make_problem(matrix, replace(rates, fn_rate=LOWEST), octaves=octaves)
    count = int(groups.max()) + 1
    observed = np.where(plain.observed < 2, plain.observed + 2 * groups[:, None], 2 * count).astype(np.uint8)
    made = replace(plain, values=plain.values * count, observed=np.ascontiguousarray(observed))
    lowest = slot_rates(made, rates.fp_rate, np.full(count, LOWEST))
    return replace(made, rate_tables=fixed_tables(plain.rate_tables.model, lowest.weights))


def log_weights(
    fp_rate: float, fn_rates: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what an observed 0 and an observed 1 add to the log-likelihood of having a mutation.

    Args:
        fp_rate: rate of false positives.
        fn_rates: float64, of any shape: rates of false negatives.

    Returns:
        float64, two arrays of the same shape, natural log.
    """
    return np.log(fn_rates) - math.log1p(-fp_rate), np.log1p(-fn_rates) - math.log(fp_rate)


def slot_rates(problem: Problem, fp_rate: float, rates: NDArray[np.float64]) -> SlotRates:
    """Return the integers of the rates of all groups, float64, (groups,)."""
    (weights,) = class_weights(problem, fp_rate, rates[None]).tolist()
    return SlotRates(tuple(weights), round(problem.base / problem.unit))


def class_weights(problem: Problem, fp_rate: float, rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the weights of all classes of observed values, in units of 2^-f nat.

    Args:
        problem: of the groups (`problem_of_groups`).
        fp_rate: rate of false positives.
        rates: float64, shape (chains, groups): rates of false negatives.

    Returns:
        int64, shape (chains, classes).
    """
    weights = np.zeros((len(rates), 2 * rates.shape[1] + 1), dtype=np.int64)
    parts = log_weights(fp_rate, within_limits(rates, fp_rate))
    for first, part in enumerate(parts):
        weights[:, first:-1:2] = np.rint(part / problem.unit)
    return weights


def weights_of(problem: Problem, fp_rate: float, fn_rate: float) -> tuple[int, int]:
    """Return the weights of one rate within the limits: what an observed 0 and an observed 1 add."""
    missed = math.log(fn_rate) - math.log1p(-fp_rate)
    seen = math.log1p(-fn_rate) - math.log(fp_rate)
    return round(missed / problem.unit), round(seen / problem.unit)


def rates_in(problem: Problem, fp_rate: float, rates: SlotRates) -> NDArray[np.float64]:
    """Return the rate of each group that integers stand for: float64, (groups,)."""
    (found,) = rates_by(problem, fp_rate, np.array([rates.weights]))
    return np.asarray(found)


def rates_by(problem: Problem, fp_rate: float, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rate of each group that weights, (chains, classes), stand for: float64, (chains, groups)."""
    return np.asarray(np.exp(weights[:, :-1:2] * problem.unit + math.log1p(-fp_rate)))


def mutation_weights(
    values: NDArray[np.uint8], fp_rate: float, fn_rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each observation adds to the log-likelihood of having its mutation: float64, like values.

    Args:
        values: uint8, shape (n, cells): 0, 1, or more for missing ones.
        fp_rate: rate of false positives.
        fn_rates: float64, shape (n,): rates of false negatives.
    """
    missed, seen = log_weights(fp_rate, fn_rates)
    of_seen = np.where(values == 1, seen[:, None], 0.0)
    return np.where(values == 0, missed[:, None], of_seen)


@dataclass(frozen=True, eq=False)
class Dropout:
    """Rates of false negatives of all mutations, by samples of chains; the arrays are read-only.

    Attributes:
        fn_rates: float64, shape (n,): means.
        low, high: float64, shape (n,): ends of the intervals with a probability of 90 %.
        log_bayes_factor: evidence that rates differ; natural log.
        unseen: rows of mutations that were seen in no cell: their rates are those of the prior.
    """

    fn_rates: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    log_bayes_factor: float
    unseen: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, ("fn_rates", "low", "high"))

    @classmethod
    def of_samples(
        cls, rates: NDArray[np.float64], fp_rate: float, log_bayes_factor: float, unseen: Iterable[int] = ()
    ) -> Dropout:
        """Return the summary of sampled rates.

        A rate at a limit stands for all that are beyond it, so an interval that ends there goes on to 0 or 1.

        Args:
            rates: float64, shape (samples, n): within the limits of a mutation's rate.
            fp_rate: rate of false positives.
            log_bayes_factor: evidence that rates differ.
            unseen: rows of mutations that were seen in no cell.
        """
        low, high = np.quantile(rates, [(1.0 - _INSIDE) / 2.0, (1.0 + _INSIDE) / 2.0], axis=0)
        low = np.where(low <= LOWEST * (1.0 + _ROUNDED), 0.0, low)
        high = np.where(high >= (_CLOSE - fp_rate) * (1.0 - _ROUNDED), 1.0, high)
        return cls(rates.mean(axis=0), low, high, log_bayes_factor, tuple(unseen))

    @property
    def of_seen(self) -> NDArray[np.float64]:
        """float64: means of the mutations that were seen in some cell; of all, if none was."""
        seen = np.delete(self.fn_rates, list(self.unseen))
        return seen if seen.size else self.fn_rates

    @property
    def words(self) -> str:
        """The rates as a line of text."""
        factor = f"(log Bayes factor {self.log_bayes_factor:.1f})"
        shown = f"the data do not show that dropout differs between mutations {factor}"
        if self.log_bayes_factor > EVIDENT:
            shown = (
                f"dropout differs between mutations, or some cells have lost a mutation {factor}; "
                f"{flag_of('recurrent', 'all')} looks for losses"
            )
        return (
            f"{shown}: rates of false negatives from {self.of_seen.min():.3g} to "
            f"{self.of_seen.max():.3g}, see {FILE}"
        )

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json, with six digits."""
        numbers = {
            "log_bayes_factor": self.log_bayes_factor,
            "lowest": self.of_seen.min(),
            "mean": self.of_seen.mean(),
            "highest": self.of_seen.max(),
        }
        return {name: float(f"{value:.6g}") for name, value in numbers.items()}

    def table(self, mutations: Sequence[str]) -> str:
        """Return the text of the file: a line with `COLUMNS`, then one line per mutation.

        Mutations that were seen in no cell have no numbers.
        """
        rows = zip(mutations, self.fn_rates.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        lines = ["\t".join(COLUMNS)]
        lines += [
            f"{name}\t\t\t" if row in self.unseen else f"{name}\t{mean:.6g}\t{low:.6g}\t{high:.6g}"
            for row, (name, mean, low, high) in enumerate(rows)
        ]
        return "\n".join(lines) + "\n"
