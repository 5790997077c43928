"""Cells on a clone tree: the probability of each clone, and how well a cell fits the one that it fits best.

A cell of a clone has all mutations of the clone and of those above it, and no others. The clones of all cells
have one posterior, of which the tables of clones and of cells are made (`Mixture`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.dropout import mutation_weights
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.zygosity import MISSING, scored_values
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.prevalence import Mixture, mixture_of
from syclade.host.ground.values import short_repr

__all__ = ["MISFIT", "CloneCells", "cells_on"]

MISFIT = 0.01
"""Probability that any cell of a matrix is listed as fitting nowhere although all follow the model."""


@dataclass(frozen=True, eq=False)
class CloneCells:
    """Cells on the clones of a tree.

    Attributes:
        likelihood: float64, shape (clones, cells): likelihood of each clone, given the tree and the rates,
            relative to the sum over all clones.
        tail: float64, shape (cells,): probability that a cell of the clone with the highest likelihood, with
            the same values missing, has observations that are as unlikely as these, or more so.
    """

    likelihood: NDArray[np.float64]
    tail: NDArray[np.float64]

    @cached_property
    def mixture(self) -> Mixture:
        """Posterior of the clones of all cells, and of the clones' prevalence."""
        return mixture_of(self.likelihood)

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def probability(self) -> NDArray[np.float64]:
        """float64, shape (clones, cells): probability of each clone, given the observations of all cells."""
        return self.mixture.probability

    @property
    def best(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the most probable clone; of equal ones, the first."""
        return np.asarray(self.probability.argmax(axis=0), dtype=np.int32)

    @property
    def fits(self) -> NDArray[np.bool_]:
        """bool, shape (cells,): False for cells that fit nowhere: tail times all cells is below `MISFIT`."""
        return np.asarray(self.tail * len(self.tail) >= MISFIT)


def cells_on(
    tree: CloneTree, matrix: Matrix, rates: Rates, fn_rates: NDArray[np.float64] | None = None
) -> CloneCells:
    """Place the cells of a matrix on a clone tree.

    Args:
        tree: the clone tree, of the matrix's n mutations.
        matrix: the observed values.
        rates: the error rates.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
            The tails are of their mean.

    Raises:
        MatrixError: there are homozygous mutations and no rates for them.
    """
    values, weights = scored_values(matrix, rates), rates.weights()
    has = tree.within[tree.clone_of].T.astype(np.float64)  # (clones, n)
    carried = [has @ (values == value).astype(np.float64) for value in range(MISSING)]  # exact: whole numbers
    if fn_rates is None:
        score = weights[0] * carried[0] + weights[1] * carried[1] + weights[2] * carried[2]
    else:
        score = has @ mutation_weights(values, rates.fp_rate, fn_rates)
        rates = replace(rates, fn_rate=float(fn_rates.mean()))
    best = score.argmax(axis=0)
    share = np.exp(score - score.max(axis=0))
    tail = _tails(values, [counts[best, np.arange(len(best))] for counts in carried], rates)
    return CloneCells(share / share.sum(axis=0), tail)


def _tails(
    values: NDArray[np.uint8], carried: list[NDArray[np.float64]], rates: Rates
) -> NDArray[np.float64]:
    """Return the tail probability of each cell at its clone: float64, shape (cells,).

    The numbers of missed and of false mutations are binomial; the likelihood of the observations depends on a
    weighted sum of the two. A homozygous observation counts as a mutation.

    Args:
        values: uint8, shape (n, cells).
        carried: number of each value, 0 to 2, among the mutations that each cell has at its clone.
        rates: the error rates.
    """
    zeros, seen = (values == 0).sum(axis=0), ((values == 1) | (values == 2)).sum(axis=0)
    missed = carried[0].astype(np.int64)
    present = missed + (carried[1] + carried[2]).astype(np.int64)
    false = seen - (present - missed)
    absent = zeros + seen - present
    table = rates.log_table()[0]
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, len(values) + 1)))))
    fn, fp = float(np.exp(table[1])), float(-np.expm1(table[0]))
    weights = np.log([fn / (1.0 - fn), fp / (1.0 - fp)])
    tails = np.empty(values.shape[1])
    for cell, (n1, k1, n0, k0) in enumerate(
        zip(present.tolist(), missed.tolist(), absent.tolist(), false.tolist(), strict=True)
    ):
        sums = weights[0] * np.arange(n1 + 1)[:, np.newaxis] + weights[1] * np.arange(n0 + 1)
        likely = np.outer(_binomial(n1, fn, logs), _binomial(n0, fp, logs))
        tails[cell] = min(1.0, likely[sums <= sums[k1, k0]].sum())
    return tails


def _binomial(n: int, p: float, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the binomial probabilities of 0 … n: float64, shape (n + 1,).

    Args:
        n, p: number and probability.
        logs: logarithms of the factorials.
    """
    k = np.arange(n + 1)
    return np.asarray(np.exp(logs[n] - logs[: n + 1] - logs[n::-1] + k * np.log(p) + (n - k) * np.log1p(-p)))
