"""Error rates that fit a tree best: by expectation and maximisation over the attachments of the cells."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.input.matrix import Matrix
from syclade.host.model.likelihood import tree_of_matrix
from syclade.host.model.path_counts import path_counts
from syclade.host.model.rates import Rates
from syclade.host.model.zygosity import scored_values

__all__ = ["CHANCE", "FAR", "chance_of", "expected_counts", "fit_rates", "misfit"]

FAR = 5.0
"""Ratio of two rates from which they contradict each other."""

CHANCE = 1e-3
"""Probability below which a number of errors is no chance."""

_MOST_ROUNDS, _ROUNDS_OF_SHARES = 50, 20
_SAME = 0.01
"""Relative change of both rates below which they are final."""

_NOBODY = 0.01
"""Cells that each node has besides those expected there, so that no share is 0."""

_LARGEST_SUM = 0.99
"""Limit of the sum of both rates: at 1, an observed mutation would be no evidence."""


def fit_rates(
    matrix: Matrix, parents: ArrayLike, start: Rates, names: tuple[str, ...] = ("fp_rate", "fn_rate")
) -> Rates:
    """Return the error rates under which the tree's summed likelihood is highest.

    Half an error is added to both counts of errors, so no rate is 0. Fitted rates have three digits.

    Args:
        matrix: the observed values.
        parents: a parent vector, shape (n_mutations + 1,).
        start: first rates, without rates for zygosity.
        names: the rates to fit; the others stay.

    Raises:
        TreeError, MatrixError: as `likelihood.log_likelihood`.

    Source: Dempster, Laird, Rubin, 1977; the posterior of attachments is SCITE's (Jahn et al. 2016).
    """
    rates, shares = start, None
    for _ in range(_MOST_ROUNDS):
        counts, shares = expected_counts(matrix, rates, parents, shares)
        errors = _errors_of(counts)
        found = {name: (errors[name][0] + 0.5) / (sum(errors[name]) + 1.0) for name in names}
        found = _within(found, rates)
        change = max(abs(np.log(value / getattr(rates, name))) for name, value in found.items())
        rates = _with(rates, found)
        if change < _SAME:
            break
    # Three digits are equal on all processors, and no less certain.
    return _with(rates, {name: float(f"{getattr(rates, name):.3g}") for name in names})


def _with(rates: Rates, found: dict[str, float]) -> Rates:
    return replace(
        rates, fp_rate=found.get("fp_rate", rates.fp_rate), fn_rate=found.get("fn_rate", rates.fn_rate)
    )


def misfit(matrix: Matrix, parents: ArrayLike, given: Rates, fitted: Rates) -> tuple[str, ...]:
    """Return the given rates that the data contradict: five times off, and too far to be chance.

    The latter is a bound on the Poisson probability, below 0.001, of as many errors, or as few, as there are
    expected over the attachments under the given rates.

    Args:
        matrix, parents: as for `fit_rates`.
        given, fitted: the rates of the run, and those that fit its tree.
    """
    pairs = {name: (getattr(given, name), getattr(fitted, name)) for name in ("fp_rate", "fn_rate")}
    far = [name for name, (rate, fit) in pairs.items() if max(fit / rate, rate / fit) >= FAR]
    if not far:
        return ()
    errors = _errors_of(_at_fitted_shares(matrix, given, parents))
    chances = {
        name: chance_of(round(wrong), pairs[name][0] * (wrong + right))
        for name, (wrong, right) in errors.items()
    }
    return tuple(name for name in far if chances[name] < CHANCE)


def _errors_of(counts: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
    """Return the numbers of wrong and of right observations that each rate is the share of, by its name."""
    (right, missed), (wrong, seen) = counts[:2].tolist()
    return {"fp_rate": (wrong, right), "fn_rate": (missed, seen)}


def _within(found: dict[str, float], rates: Rates) -> dict[str, float]:
    """Return the rates, both scaled if their sum is too large to be error rates."""
    both = {"fp_rate": rates.fp_rate, "fn_rate": rates.fn_rate, **found}
    scale = min(1.0, _LARGEST_SUM / sum(both.values()))
    return {name: value * scale for name, value in found.items()}


def expected_counts(
    matrix: Matrix, rates: Rates, parents: ArrayLike, shares: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each value is expected with and without the mutation, over all attachments.

    Each cell is at each node with its posterior probability, where the share of cells at a node is its prior
    probability.

    Args:
        matrix, rates, parents: as for `fit_rates`.
        shares: float64, shape (n_mutations + 1,): the share of each node in preorder; equal by default.

    Returns:
        float64, shape (4, 2): as `likelihood.event_counts`, which takes the best attachment alone; and the
        expected shares, like `shares`: those of the next round of expectation and maximisation.
    """
    tree = tree_of_matrix(matrix, parents)
    values, weights = scored_values(matrix, rates), rates.weights()
    shares = np.full(len(tree), 1.0 / len(tree)) if shares is None else shares
    best = np.full(matrix.n_cells, -np.inf)
    for counts in path_counts(values, tree):
        np.maximum(best, weights @ counts, out=best)
    total, expected = np.zeros(matrix.n_cells), np.zeros((4, matrix.n_cells))
    at_node = np.empty((len(tree), matrix.n_cells))
    for place, counts in enumerate(path_counts(values, tree)):
        at_node[place] = shares[place] * np.exp(weights @ counts - best)
        total += at_node[place]
        expected += at_node[place] * counts
    on_path = (expected / total).sum(axis=1)
    table = np.column_stack([np.bincount(values.ravel(), minlength=4) - on_path, on_path])
    at_node /= total
    return table, np.asarray((at_node.sum(axis=1) + _NOBODY) / (matrix.n_cells + len(tree) * _NOBODY))


def _at_fitted_shares(matrix: Matrix, rates: Rates, parents: ArrayLike) -> NDArray[np.float64]:
    """Return `expected_counts` after some rounds of expectation and maximisation of the shares."""
    counts, shares = expected_counts(matrix, rates, parents)
    for _ in range(_ROUNDS_OF_SHARES):
        counts, shares = expected_counts(matrix, rates, parents, shares)
    return counts


def chance_of(errors: int, expected: float) -> float:
    """Return a bound on the Poisson probability of as many errors or more; or, if they are few, or fewer.

    Source: Chernoff's bound (Mitzenmacher, Upfal, "Probability and computing", theorem 5.4). The exact tail
    is in scipy.stats, whose import would take longer than a small inference.
    """
    change = errors * math.log(errors / expected) if errors else 0.0
    return math.exp(min(0.0, errors - expected - change))
