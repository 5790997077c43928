"""Error rates that fit a tree best: by expectation and maximisation over the attachments of the cells."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.likelihood import (
    log_likelihood_at_fitted_shares,
    scores_of_counts,
    shares_of,
    tree_of_matrix,
)
from syclade.host.data.model.paths import blocks_of, counts_on_paths, value_counts, walk_of
from syclade.host.data.model.rates import MISSING, ObservationModel, Rates, scored_values
from syclade.host.data.trees.tree import preorder

__all__ = [
    "CHANCE",
    "FAR",
    "PRIORS",
    "RatePrior",
    "advised_rates",
    "chance_of",
    "expected_counts",
    "expected_errors",
    "fit_rates",
    "largest_sum",
    "log_odds_of_rate",
    "misfit",
    "rates_of_calls",
    "within_sum",
]

FAR = 5.0
"""Ratio of two rates from which they contradict each other."""

CHANCE = 1e-3
"""Probability below which a number of errors is no chance."""


_GAIN = 5.41
"""Gain in log-likelihood, in nats, from which a rate fits better than another one, and not by chance: half of
the 0.999 quantile of chi-squared with one degree of freedom."""

_MOST_MAXIMISATIONS, _NEAR = 20, 0.1
"""Rounds of expectation and maximisation before a grid is laid out, and change in log odds that ends them."""


class RatePrior(NamedTuple):
    """Prior of a rate that is estimated: Beta(1, strength), cut off at the largest rate.

    Attributes:
        strength: second shape; strength - 1 right observations are added to those of the matrix.
        most: largest rate that is considered.
    """

    strength: float
    most: float

    def log_density(self, rate: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithm of the density below `most`, up to a constant."""
        return np.asarray((self.strength - 1.0) * np.log1p(-rate))

    def width(self, inside: float) -> float:
        """Return the width of the shortest interval with this probability, which begins at 0."""
        total = 1.0 - (1.0 - self.most) ** self.strength
        return float(1.0 - (1.0 - inside * total) ** (1.0 / self.strength))


PRIORS: Final[Mapping[str, RatePrior]] = {
    "fp_rate": RatePrior(30.0, 0.1),
    "fn_rate": RatePrior(3.0, 0.7),
}
"""Priors of estimated rates. Without the cuts, fp is above 0.1 with a probability of 0.04, and fn above 0.6
with 0.06. The cuts are needed where errors depend on each other: thousands of cells outweigh a weak prior."""

_MOST_ROUNDS, _ROUNDS_OF_SHARES = 50, 20
_SAME = 0.01
"""Relative change of both rates below which they are final."""

_LARGEST_SUM = 0.99
"""Limit of the sum of both rates, or of one in what the other leaves: at 1, an observed mutation would be no
evidence."""


def fit_rates(
    matrix: Matrix,
    parents: ArrayLike,
    start: Rates,
    names: tuple[str, ...] = ("fp_rate", "fn_rate"),
    priors: Mapping[str, RatePrior] | None = None,
) -> Rates:
    """Return the error rates under which the tree's summed likelihood is highest, or its product with priors.

    Half an error is added to both counts of errors, so no rate is 0. Fitted rates have three digits.

    Args:
        matrix: the observed values.
        parents: a parent vector, shape (n_mutations + 1,).
        start: first rates, without rates for zygosity.
        names: the rates to fit; the others stay.
        priors: priors of the rates by name; none by default.

    Raises:
        TreeError, MatrixError: as `likelihood.log_likelihood`.

    Source: Dempster, Laird, Rubin, 1977; the posterior of attachments is SCITE's (Jahn et al. 2016).
    """
    rates, shares = start, None
    for _ in range(_MOST_ROUNDS):
        counts, shares = expected_counts(matrix, rates, parents, shares)
        errors = _errors_of(counts)
        found = within_sum({name: _highest(errors[name], priors, name) for name in names}, rates)
        change = max(abs(np.log(value / getattr(rates, name))) for name, value in found.items())
        rates = _with(rates, found)
        if change < _SAME:
            break
    # Three digits are equal on all processors, and no less certain.
    return _with(rates, {name: float(f"{getattr(rates, name):.3g}") for name in names})


def rates_of_calls(matrix: Matrix, model: ObservationModel, parents: ArrayLike) -> Rates:
    """Return the error rates of a run, or, if it is of evidence, those of the values that fit a tree.

    Args:
        matrix, parents: as for `fit_rates`; the values are what the evidence says (`observed_states`).
        model: observation model of the run.
    """
    if isinstance(model, Rates):
        return model
    return fit_rates(matrix, parents, Rates(0.01, 0.2), tuple(PRIORS), PRIORS)


def _highest(errors: tuple[float, float], priors: Mapping[str, RatePrior] | None, name: str) -> float:
    """Return the most probable rate for numbers of wrong and of right observations."""
    wrong, right = errors
    if priors is None:
        return (wrong + 0.5) / (wrong + right + 1.0)
    return min(priors[name].most, (wrong + 0.5) / (wrong + right + priors[name].strength))


def _with(rates: Rates, found: dict[str, float]) -> Rates:
    return replace(
        rates, fp_rate=found.get("fp_rate", rates.fp_rate), fn_rate=found.get("fn_rate", rates.fn_rate)
    )


def misfit(matrix: Matrix, parents: ArrayLike, given: Rates, fitted: Rates) -> tuple[str, ...]:
    """Return the given rates that the data contradict: five times off, and too far to be chance.

    The latter is one of two: a bound on the Poisson probability, below 0.001, of as many errors, or as few,
    as there are expected over the attachments under the given rates; or the likelihood ratio of the fitted
    rates and of those that fit beside the given rate. The attachments under exchanged rates have few of the
    errors that are too rare in them, so only the ratio shows these.

    Args:
        matrix, parents: as for `fit_rates`.
        given, fitted: the rates of the run, and those that fit its tree.

    Source: Wilks, "The large-sample distribution of the likelihood ratio for testing composite hypotheses",
    Annals of Mathematical Statistics 9, 1938.
    """
    pairs = {name: (getattr(given, name), getattr(fitted, name)) for name in ("fp_rate", "fn_rate")}
    far = [name for name, (rate, fit) in pairs.items() if max(fit / rate, rate / fit) >= FAR]
    if not far:
        return ()
    errors = _errors_of(_at_fitted_shares(matrix, given, parents)[0])
    chances = {
        name: chance_of(round(wrong), pairs[name][0] * (wrong + right))
        for name, (wrong, right) in errors.items()
    }
    return tuple(
        name for name in far if chances[name] < CHANCE or _gain(matrix, parents, given, fitted, name) > _GAIN
    )


def _gain(matrix: Matrix, parents: ArrayLike, given: Rates, fitted: Rates, name: str) -> float:
    """Return how much more likely fitted rates are, in nats, than the given one of a name beside another."""
    others = tuple(one for one in PRIORS if one != name)
    beside = fit_rates(matrix, parents, given, others)
    of_fitted, of_beside = (
        log_likelihood_at_fitted_shares(matrix, rates, parents) for rates in (fitted, beside)
    )
    return of_fitted - of_beside


def advised_rates(matrix: Matrix, parents: ArrayLike, given: Rates, fitted: Rates) -> Rates | None:
    """Return rates to infer with instead of the given ones; None if the data do not contradict these.

    They have the priors of estimated rates, and both are fitted together: one that fits beside the other
    given rate may add up to 1 or more with it, or the other one may no longer fit.

    Args:
        matrix, parents, given, fitted: as for `misfit`.
    """
    if not misfit(matrix, parents, given, fitted):
        return None
    advised = fit_rates(matrix, parents, _considered(given), priors=PRIORS)
    return advised if misfit(matrix, parents, given, advised) else None


def _considered(rates: Rates) -> Rates:
    """Return rates to start from: each at most half as large as the largest that is considered."""
    half = {name: min(getattr(rates, name), prior.most / 2.0) for name, prior in PRIORS.items()}
    return _with(rates, half)


def _errors_of(counts: NDArray[np.float64]) -> dict[str, tuple[float, float]]:
    """Return the numbers of wrong and of right observations that each rate is the share of, by its name."""
    (right, missed), (wrong, seen) = counts[:2].tolist()
    return {"fp_rate": (wrong, right), "fn_rate": (missed, seen)}


def largest_sum(rates: Rates, names: Collection[str]) -> float:
    """Return the largest sum of some rates beside the others, which stay."""
    both = {"fp_rate": rates.fp_rate, "fn_rate": rates.fn_rate}
    return _LARGEST_SUM * (1.0 - sum(rate for name, rate in both.items() if name not in names))


def within_sum(found: dict[str, float], rates: Rates) -> dict[str, float]:
    """Return the rates, scaled if their sum with the others is too large to be error rates."""
    scale = min(1.0, largest_sum(rates, found) / sum(found.values()))
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
    walk = walk_of(tree)
    at_node = np.empty((len(tree), matrix.n_cells))
    for cells in blocks_of(matrix.n_cells, len(tree)):
        part = scores_of_counts(counts_on_paths(values[:, cells], walk, MISSING), weights)
        part -= part.max(axis=0)
        np.exp(part, out=part)
        part *= shares[:, np.newaxis]
        np.divide(part, part.sum(axis=0), out=at_node[:, cells])
    found = shares_of(at_node.sum(axis=1), matrix.n_cells)
    on_path = np.zeros(4)
    for place in range(len(tree) - 1, 0, -1):  # from here on, each has what is below it, too
        below = at_node[place]
        on_path += np.bincount(values[walk.order[place]], weights=below, minlength=4)
        at_node[walk.above[place - 1]] += below
    return np.column_stack([value_counts(values, 4) - on_path, on_path]), found


def _at_fitted_shares(
    matrix: Matrix, rates: Rates, parents: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `expected_counts` after some rounds of expectation and maximisation of the shares."""
    counts, shares = expected_counts(matrix, rates, parents)
    for _ in range(_ROUNDS_OF_SHARES):
        counts, shares = expected_counts(matrix, rates, parents, shares)
    return counts, shares


def chance_of(errors: int, expected: float) -> float:
    """Return a bound on the Poisson probability of as many errors or more; or, if they are few, or fewer.

    Source: Chernoff's bound (Mitzenmacher, Upfal, "Probability and computing", theorem 5.4). The exact tail
    is in scipy.stats, whose import would take longer than a small inference.
    """
    change = errors * math.log(errors / expected) if errors else 0.0
    return math.exp(min(0.0, errors - expected - change))


def expected_errors(
    matrix: Matrix,
    rates: Rates,
    tree: NDArray[np.int32],
    shares: NDArray[np.float64] | None,
    names: Sequence[str],
) -> list[tuple[float, float]]:
    """Return the numbers of errors and of right observations that each rate is the share of.

    They are those that are expected at the most likely rates of this tree with its shares, which may be far
    from the rates that trees were sampled under: rounds of expectation and maximisation come near to them.
    """
    ordered = None if shares is None else shares[preorder(tree)]
    for _ in range(_MOST_MAXIMISATIONS):
        errors = _errors_of(expected_counts(matrix, rates, tree, ordered)[0])
        found = within_sum({name: _share(name, errors[name]) for name in names}, rates)
        before, rates = rates, _with(rates, found)
        moved = (
            abs(log_odds_of_rate(getattr(rates, name)) - log_odds_of_rate(getattr(before, name)))
            for name in names
        )
        if max(moved) < _NEAR:
            break
    return [errors[name] for name in names]


def _share(name: str, errors: tuple[float, float]) -> float:
    """Return the share of the errors, as a rate that the prior allows."""
    wrong, right = (number + 1.0 for number in errors)
    return min(wrong / (wrong + right), PRIORS[name].most)


def log_odds_of_rate(rate: float) -> float:
    """Return the log odds of a rate."""
    return math.log(rate) - math.log1p(-rate)
