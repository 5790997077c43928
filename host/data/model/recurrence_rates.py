"""Rates of false negatives of all mutations, for tests of recurrence (docs/model.md, "Recurrence").

A mutation that is missed often seems to be lost, or to arise twice, if it has the rate of all others. Where
rates differ, each one is fitted to the tree by expectation and maximisation over the nodes of the cells. That
of a tested mutation is fitted with its copy as well; for Bayes factors, it is integrated out.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.dropout import (
    beta_at_most_probable,
    grouped,
    log_bayes_factor,
    mutation_weights,
    slot_rates,
    within_limits,
)
from syclade.host.data.model.likelihood import shares_of
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = ["Fit", "OwnRates", "fit_own_rates"]

_MOST_ROUNDS: Final = 100
_SAME: Final = 1e-3
"""Change of the log of every rate below which rates are final."""

_RATES: Final = 32
"""Rates that stand for the common Beta."""


class Fit(NamedTuple):
    """Rates that fit a tree.

    Attributes:
        rates: float64, shape (groups,).
        missed, seen: float64, shape (groups,): expected numbers of cells with the mutations, by observation.
        shapes: the common Beta of the rates.
    """

    rates: NDArray[np.float64]
    missed: NDArray[np.float64]
    seen: NDArray[np.float64]
    shapes: tuple[float, float]


class OwnRates(NamedTuple):
    """Rates of all mutations in tests of recurrence.

    Attributes:
        values: uint8, shape (n, cells): 0, 1, or more for missing ones.
        fp_rate: rate of false positives.
        groups: int64, shape (n,): mutations of one number have one rate.
        fit: the rates that fit the tree without a recurrence.
        log_bayes_factor: evidence that rates differ; natural log.
    """

    values: NDArray[np.uint8]
    fp_rate: float
    groups: NDArray[np.int64]
    fit: Fit
    log_bayes_factor: float

    @property
    def of_mutations(self) -> NDArray[np.float64]:
        """The rate of each mutation without a recurrence: float64, shape (n,)."""
        return self.fit.rates[self.groups]

    def refitted(self, genotypes: NDArray[np.bool_]) -> OwnRates:
        """Return the rates that fit another tree without a recurrence; arguments as for `fit_own_rates`."""
        return self._replace(fit=_fit(self, genotypes, self.fit.rates, None, self.fit.shapes))

    def at_mean(self, mutation: int) -> Fit:
        """Return the rates with the mean of the common Beta for a mutation, from which its copy is sought."""
        rates, (a, b) = self.fit.rates.copy(), self.fit.shapes
        rates[self.groups[mutation]] = a / (a + b)
        return self.fit._replace(rates=within_limits(rates, self.fp_rate))

    def with_copy(self, genotypes: NDArray[np.bool_], mutation: int) -> Fit:
        """Return the rates with that of a mutation fitted to a tree with its copy; the others stay.

        Args:
            genotypes: bool, shape (n, nodes): which mutations each node has.
            mutation: number of the mutation.
        """
        start = self.at_mean(mutation).rates
        return _fit(self, genotypes, start, int(self.groups[mutation]), self.fit.shapes)

    def log_tables(self) -> NDArray[np.float64]:
        """Return logs of the probabilities of values at equally probable rates of the common Beta.

        Returns:
            float64, shape (rates, 4, 2): without the mutation and with it, as `Rates.log_table`.
        """
        from scipy.special import betaincinv

        a, b = self.fit.shapes
        rates = betaincinv(a, b, (np.arange(_RATES) + 0.5) / _RATES)
        tables = np.zeros((_RATES, 4, 2))
        tables[:, 0, 0], tables[:, 1, 0] = np.log1p(-self.fp_rate), np.log(self.fp_rate)
        within = within_limits(rates, self.fp_rate)
        tables[:, 0, 1], tables[:, 1, 1] = np.log(within), np.log1p(-within)
        return tables

    def slot_rates(self, problem: Problem, fit: Fit) -> SlotRates:
        """Return rates as integers of a problem of the groups."""
        return slot_rates(problem, self.fp_rate, fit.rates)

    def log_likelihood(self, genotypes: NDArray[np.bool_], fit: Fit, base: float, *, summed: bool) -> float:
        """Return the log-likelihood of a tree: of the best nodes of the cells, or summed over all nodes.

        Args:
            genotypes: bool, shape (n, nodes): which mutations each node has.
            fit: the rates.
            base: log-likelihood with no mutation in any cell.
            summed: whether all nodes count.
        """
        scores = _scores(self, genotypes, fit.rates)
        of_cells = np.logaddexp.reduce(scores, axis=0) if summed else scores.max(axis=0)
        return base + float(of_cells.sum())


def fit_own_rates(
    values: NDArray[np.uint8], fp_rate: float, fn_rate: float, genotypes: NDArray[np.bool_]
) -> OwnRates:
    """Fit a rate for each mutation to a tree.

    Whether rates differ is decided by the numbers that are expected under one rate.

    Args:
        values: uint8, shape (n, cells): 0, 1, or more for missing ones.
        fp_rate, fn_rate: common rates.
        genotypes: bool, shape (n, nodes): which mutations each node has.
    """
    same = np.full(len(values), fn_rate)
    missed, seen = _counts(values, _cells_given_tree(values, fp_rate, same, genotypes)[0])
    rates = (missed + 0.5) / (missed + seen + 1.0)
    groups, none = grouped(rates), Fit(rates, missed, seen, (1.0, 1.0))
    own = OwnRates(values, fp_rate, groups, none, log_bayes_factor(missed, seen))
    count = int(groups.max()) + 1
    mean = np.bincount(groups, rates, count) / np.bincount(groups, minlength=count)
    return own._replace(fit=_fit(own, genotypes, within_limits(mean, fp_rate), None, none.shapes))


def _cells_given_tree(
    values: NDArray[np.uint8],
    fp_rate: float,
    fn_rates: NDArray[np.float64],
    genotypes: NDArray[np.bool_],
    shares: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability of each mutation in each cell, and the shares of the nodes that follow.

    Args:
        values, fp_rate, genotypes: as for `fit_own_rates`.
        fn_rates: float64, shape (n,).
        shares: float64, shape (nodes,): part of the cells at each node; found in some rounds by default.

    Returns:
        float64, shape (n, cells); float64, shape (nodes,).
    """
    scores = genotypes.T.astype(np.float64) @ mutation_weights(values, fp_rate, fn_rates)
    nodes, cells = scores.shape
    rounds = 1 if shares is not None else _MOST_ROUNDS // 5
    now = np.full(nodes, 1.0 / nodes) if shares is None else shares
    for _ in range(rounds):
        logs = scores + np.log(now)[:, None]
        at_node = np.exp(logs - logs.max(axis=0))
        at_node /= at_node.sum(axis=0)
        now = shares_of(at_node.sum(axis=1), cells)
    return genotypes.astype(np.float64) @ at_node, now


def _scores(own: OwnRates, genotypes: NDArray[np.bool_], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of the cells at all nodes, relative to no mutation: float64, (nodes, cells)."""
    weights = mutation_weights(own.values, own.fp_rate, rates[own.groups])
    return np.asarray(genotypes.T.astype(np.float64) @ weights)


def _counts(
    values: NDArray[np.uint8], present: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each mutation is expected to be missed and seen: float64, (n,) each."""
    return (present * (values == 0)).sum(axis=1), (present * (values == 1)).sum(axis=1)


def _fit(
    own: OwnRates,
    genotypes: NDArray[np.bool_],
    start: NDArray[np.float64],
    only: int | None,
    shapes: tuple[float, float],
) -> Fit:
    """Return the rates that fit a tree, by expectation and maximisation.

    Args:
        own: the observed values and the groups.
        genotypes: bool, shape (n, nodes): which mutations each node has.
        start: float64, shape (groups,): first rates.
        only: the group to fit; None for all, together with their common Beta.
        shapes: the common Beta if one group is fitted.
    """
    rates, shares = start, None
    for _ in range(_MOST_ROUNDS):
        present, shares = _cells_given_tree(own.values, own.fp_rate, rates[own.groups], genotypes, shares)
        missed, seen = (
            np.bincount(own.groups, of, len(rates)).astype(np.float64) for of in _counts(own.values, present)
        )
        if only is None:
            shapes = beta_at_most_probable(missed, seen)
        a, b = shapes
        found = within_limits((a + missed) / (a + b + missed + seen), own.fp_rate)
        if only is not None:
            found = np.where(np.arange(len(rates)) == only, found, rates)
        change = float(np.abs(np.log(found / rates)).max())
        rates = found
        if change < _SAME:
            break
    return Fit(rates, missed, seen, shapes)
