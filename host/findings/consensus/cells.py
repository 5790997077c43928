"""Cells on a clone tree: the probability of each clone, and how well a cell fits the one that it fits best.

A cell of a clone has all mutations of the clone and of those above it, and no others. The clones of all cells
have one posterior, of which the tables of clones and of cells are made (`Mixture`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublets import best_pairs
from syclade.host.data.model.dropout import mutation_weights
from syclade.host.data.model.levels import Levels, misfit_bounds
from syclade.host.data.model.likelihood import presence, scores_of_counts
from syclade.host.data.model.paths import blocks_of, column_counts, distinct_rows, first_best
from syclade.host.data.model.rates import (
    MISSING,
    ObservationModel,
    Rates,
    entry_weights,
    error_rates,
    scored_values,
)
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.of_specimens import (
    SpecimenShares,
    mixture_of_specimens,
    mixture_of_specimens_with_doublets,
    pooled_joint_shares,
)
from syclade.host.findings.consensus.prevalence import Mixture, mixture_of, mixture_with_doublets
from syclade.host.findings.finding import SURE
from syclade.host.findings.joint_shares import JointShare
from syclade.host.ground.values import short_repr

__all__ = [
    "MISFIT",
    "ROUNDING",
    "CloneCells",
    "CloneDoublets",
    "cells_on",
    "mutation_gains",
    "seeding_probabilities",
]


_TIE = 1e-9
"""Log-likelihood, in nats, by which equally unlikely observations differ because of rounding."""

ROUNDING = 1e-9
"""Part of a probability that rounding explains."""

_LARGEST_FP = 0.5 - 1e-13
"""At 0.5, any number of false positives is as likely as any other."""

MISFIT = 0.01
"""Probability that any cell of a matrix is listed as fitting nowhere although all follow the model."""


@dataclass(frozen=True, eq=False)
class CloneDoublets:
    """Cells that may be two cells of a clone tree.

    Attributes:
        mixture: posterior of single cells and doublets.
        first, second: int32, shape (cells,): the most probable two clones of each cell as a doublet, at the
            mean shares of the clones; the lower number first.
    """

    mixture: Mixture
    first: NDArray[np.int32]
    second: NDArray[np.int32]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def probability(self) -> NDArray[np.float64]:
        """float64, shape (cells,): probability of each cell of being a doublet."""
        assert self.mixture.doublet is not None
        return self.mixture.doublet


@dataclass(frozen=True, eq=False)
class CloneCells:
    """Cells on the clones of a tree.

    Attributes:
        likelihood: float64, shape (clones, cells): likelihood of each clone, given the tree and the rates,
            relative to the sum over all clones.
        tail: float64, shape (cells,): probability that a cell of the clone with the highest likelihood, or of
            the best two clones of a doublet, with the same values missing, has observations that are as
            unlikely as these, or more so.
        doublets: doublets on the clones; None if all cells are single.
        specimens: shares of the clones in the cells' specimens; None if all cells are of one.
    """

    likelihood: NDArray[np.float64]
    tail: NDArray[np.float64]
    doublets: CloneDoublets | None = None
    specimens: SpecimenShares | None = None

    @cached_property
    def mixture(self) -> Mixture:
        """Posterior of the clones of all cells, and of the clones' prevalence."""
        if self.doublets is not None:
            return self.doublets.mixture
        if self.specimens is not None:
            return mixture_of_specimens(self.likelihood, self.specimens)
        return mixture_of(self.likelihood)

    @cached_property
    def joint(self) -> tuple[JointShare, ...]:
        """Groups of clones that some specimens do not tell from each other, with their share of all cells."""
        return () if self.specimens is None else pooled_joint_shares(self.mixture, self.specimens)

    def joint_of_cells(self) -> list[tuple[str, float] | None]:
        """Return the group of the most probable clone of each cell, and its probability.

        It is None for a cell whose specimen tells this clone from all others.
        """
        assert self.specimens is not None
        found: list[tuple[str, float] | None] = []
        of, groups = self.specimens.specimen_of.tolist(), self.specimens.group_of
        for cell, (specimen, clone) in enumerate(zip(of, self.best.tolist(), strict=True)):
            if (number := groups[specimen, clone]) < 0:
                found.append(None)
                continue
            joint = self.specimens.joint[specimen][number]
            found.append((joint.name, float(self.probability[list(joint.clones), cell].sum())))
        return found

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def probability(self) -> NDArray[np.float64]:
        """float64, shape (clones, cells): probability of each clone, given the observations of all cells."""
        return self.mixture.probability

    @property
    def sure_words(self) -> str:
        """Number of cells whose most probable clone has a probability of at least `SURE`, as text."""
        sure = int((self.probability.max(axis=0, initial=0.0) >= SURE).sum())
        return f"{sure} {'is' if sure == 1 else 'are'} of one with a probability of at least {SURE}"

    @cached_property
    def _first_two(self) -> NDArray[np.int32]:
        """int32, shape (2, cells): the two most probable clones; of equal ones, the first."""
        clones, cells = self.probability.shape
        found = np.empty((2, cells), dtype=np.int32)
        for block in blocks_of(cells, clones):
            others = self.probability[:, block].copy()
            found[0, block] = _first_of_equal(others)
            np.put_along_axis(others, found[:1, block].astype(np.int64), -1.0, axis=0)
            found[1, block] = _first_of_equal(others)
        return found

    @property
    def best(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the most probable clone; of equal ones, the first."""
        return np.asarray(self._first_two[0])

    @property
    def runner_up(self) -> NDArray[np.int32]:
        """int32, shape (cells,): the second most probable clone; of equal ones, the first."""
        return np.asarray(self._first_two[1])

    def probability_of(self, clones: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return each cell's probability of a clone of its own: float64, shape (cells,).

        Args:
            clones: int32, shape (cells,).
        """
        return np.asarray(self.probability[clones, np.arange(len(clones))])

    @property
    def fits(self) -> NDArray[np.bool_]:
        """bool, shape (cells,): False for cells that fit nowhere: tail times all cells is below `MISFIT`."""
        return np.asarray(self.tail * len(self.tail) >= MISFIT)


def _first_of_equal(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the row of the largest value in each column; of those that only rounding tells apart, the first.

    Sums of two clones that a cell fits equally differ in their last bits, otherwise than on other processors.
    """
    return np.asarray((values >= values.max(axis=0) * (1.0 - ROUNDING)).argmax(axis=0))


def cells_on(
    tree: CloneTree,
    matrix: Matrix,
    rates: ObservationModel,
    fn_rates: NDArray[np.float64] | None = None,
    doublets: float | None = None,
    specimens: SpecimenShares | None = None,
) -> CloneCells:
    """Place the cells of a matrix on a clone tree.

    Args:
        tree: the clone tree, of the matrix's n mutations.
        matrix: the observed values.
        rates: the error rates, or levels of evidence.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
            The tails are of their mean.
        doublets: rate of doublets; None if all cells are single.
        specimens: as in `CloneCells`.

    Raises:
        MatrixError: there are homozygous mutations and no rates for them.
    """
    if fn_rates is None and doublets is None and not isinstance(rates, Levels):
        return CloneCells(*_calls_on(tree, scored_values(matrix, rates), rates), None, specimens)
    gains = mutation_gains(matrix, rates, fn_rates)
    score = _sums_at_clones(tree, gains)
    has = tree.within[tree.clone_of].T  # (clones, n)
    best = has[score.argmax(axis=0)].T  # (n, cells)
    pairs = None
    if doublets is not None:
        pairs = _doublets_on(tree, gains, doublets, specimens)
        both = (has[pairs.first] | has[pairs.second]).T
        better = (both * gains).sum(axis=0) > (best * gains).sum(axis=0)
        best = np.where(better, both, best)
    if isinstance(rates, Levels):
        tail = misfit_bounds(gains, best).cells
    else:
        mean = rates if fn_rates is None else replace(rates, fn_rate=float(fn_rates.mean()))
        values = scored_values(matrix, rates)
        tail = _tails(values, [(best & (values == value)).sum(axis=0) for value in range(MISSING)], mean)
    return CloneCells(_shares(score), tail, pairs, specimens)


def _calls_on(
    tree: CloneTree, values: NDArray[np.uint8], rates: Rates
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the likelihoods and tails of single cells (`CloneCells`), whose values are called.

    Args:
        tree: the clone tree.
        values: uint8, shape (n, cells), as they are scored.
        rates: the error rates.
    """
    likelihood = np.empty((tree.clones, values.shape[1]))
    of_best = np.empty((MISSING, values.shape[1]), dtype=np.int32)
    for cells in blocks_of(values.shape[1], tree.clones):
        part = values[:, cells]
        carried = np.stack([_sums_at_clones(tree, part == value) for value in range(MISSING)])
        score = scores_of_counts(carried, rates.weights())
        _, best = first_best(score)
        of_best[:, cells] = np.take_along_axis(carried, best[np.newaxis, np.newaxis], axis=1)[:, 0]
        likelihood[:, cells] = _shares(score)
    return likelihood, _tails(values, of_best, rates)


def _shares(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return likelihoods relative to the sum over all clones, from their logarithms: (clones, cells)."""
    share = np.exp(score - score.max(axis=0))
    return np.asarray(share / share.sum(axis=0))


def _sums_at_clones(tree: CloneTree, rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of the rows of the mutations that a cell of each clone has.

    A clone has those of its parent, which comes before it, and its own. The order of the additions is that of
    the tree, on every processor.

    Args:
        tree: the clone tree.
        rows: bool or float64, shape (n, cells).

    Returns:
        int32 or float64, shape (clones, cells).
    """
    kind = np.dtype(np.int32 if rows.dtype == np.bool_ else np.float64)
    sums = np.zeros((tree.clones, rows.shape[1]), dtype=kind)
    if kind == np.int32 and not rows.any():
        return sums
    for clone, (parent, own) in enumerate(zip(tree.parents.tolist(), tree.members, strict=True)):
        if clone:
            gained = rows[own[0]] if len(own) == 1 else rows[own].sum(axis=0, dtype=kind)
            np.add(sums[parent], gained, out=sums[clone])
    return sums


def mutation_gains(
    matrix: Matrix, rates: ObservationModel, fn_rates: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return what each mutation adds to the score of a cell that has it: float64, shape (n, cells).

    Args:
        matrix: the observed values.
        rates: the error rates, or levels of evidence.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; None for that of `rates`.
    """
    if fn_rates is None:
        return entry_weights(matrix, rates)
    return mutation_weights(scored_values(matrix, rates), error_rates(rates).fp_rate, fn_rates)


def _doublets_on(
    tree: CloneTree, gains: NDArray[np.float64], rate: float, specimens: SpecimenShares | None
) -> CloneDoublets:
    """Return single cells and doublets on a clone tree.

    Args:
        tree: the clone tree, whose root has the number 0.
        gains: float64, shape (n, cells): what each mutation adds to the score of a cell.
        rate: rate of doublets.
        specimens: as in `CloneCells`.
    """
    parents = tree.parents_root_last
    weights = np.zeros((tree.clones, gains.shape[1]))
    np.add.at(weights, tree.clone_of - 1, gains)
    of_clone = np.roll(np.arange(tree.clones), -1).astype(np.int32)  # clone of each node
    first, second = np.empty((2, gains.shape[1]), dtype=np.int32)
    if specimens is not None:
        mixture = mixture_of_specimens_with_doublets(tree, gains, rate, specimens)
        for at, own in specimens.blocks():
            shares = specimens.shares[:, at].mean(axis=0)[of_clone]
            first[own], second[own] = best_pairs(parents, weights[:, own], shares)
    else:
        mixture = mixture_with_doublets(parents, weights[:-1], rate)
        first, second = best_pairs(parents, weights, mixture.expected / mixture.expected.sum())
        names = ("probability", "low", "high", "parts")
        mixture = replace(mixture, **{name: np.roll(getattr(mixture, name), 1, axis=0) for name in names})
    found = of_clone[first], of_clone[second]
    return CloneDoublets(mixture, np.minimum(*found), np.maximum(*found))


def _tails(
    values: NDArray[np.uint8], carried: Sequence[NDArray[np.int_]] | NDArray[np.int32], rates: Rates
) -> NDArray[np.float64]:
    """Return the tail probability of each cell at its clone: float64, shape (cells,).

    The numbers of missed and of false mutations are binomial; the likelihood of the observations depends on a
    weighted sum of the two. A homozygous observation counts as a mutation.

    Args:
        values: uint8, shape (n, cells).
        carried: number of each value, 0 to 2, among the mutations that each cell has at its clone.
        rates: the error rates.
    """
    zeros, seen = column_counts(values == 0), column_counts((values == 1) | (values == 2))
    missed = carried[0].astype(np.int64)
    present = missed + carried[1] + carried[2]
    false = seen - (present - missed)
    absent = zeros + seen - present
    table = rates.log_table()[0]
    logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, len(values) + 1)))))
    fn, fp = float(np.exp(table[1])), float(-np.expm1(table[0]))
    if fp > 0.5:  # then those that are not seen are the unlikely ones
        fp, false = 1.0 - fp, absent - false
    fp = min(fp, _LARGEST_FP)
    weights = np.log([fn / (1.0 - fn), fp / (1.0 - fp)])
    kinds, kind_of, _ = distinct_rows(np.stack((present, missed, absent, false), axis=1))
    of_missed = cache(lambda count: _binomial(count, fn, logs))
    of_false = cache(lambda count: np.append(np.cumsum(_binomial(count, fp, logs)[::-1])[::-1], 0.0))
    tails = np.empty(len(kinds))
    for at, (n1, k1, n0, k0) in enumerate(kinds.tolist()):
        sums = weights[0] * (k1 - np.arange(n1 + 1)) + weights[1] * k0
        fewest = np.ceil((sums + _TIE) / weights[1]).clip(0.0, n0 + 1.0)  # false ones beside so many missed
        tails[at] = min(1.0, (of_missed(n1) * of_false(n0)[fewest.astype(np.int64)]).sum())
    return np.asarray(tails[kind_of])


def _binomial(n: int, p: float, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the binomial probabilities of 0 … n: float64, shape (n + 1,).

    Args:
        n, p: number and probability.
        logs: logarithms of the factorials.
    """
    k = np.arange(n + 1)
    return np.asarray(np.exp(logs[n] - logs[: n + 1] - logs[n::-1] + k * np.log(p) + (n - k) * np.log1p(-p)))


def seeding_probabilities(
    trees: Iterable[NDArray[np.int32]],
    matrix: Matrix,
    rates: ObservationModel,
    inside: NDArray[np.bool_],
    fn_rates: NDArray[np.float64] | None = None,
    shares: Iterable[NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """Return for each mutation the probability that exactly some cells have it, as a mean over trees.

    Given a tree and the shares of its nodes, cells are independent of each other, and each is at a node with
    the probability of its likelihood there times the share. The partition function of Trisicell and
    scphylo-tools asks the same of binary cell trees, whose prior is another, so that its values differ.

    Args:
        trees: sampled mutation trees, int32, shape (n + 1,) each; at least one.
        matrix: the observed values.
        rates: the error rates.
        inside: bool, shape (cells,): the cells of the group.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
        shares: float64, shape (n + 1,) each: part of the cells at each node of a tree; equal by default.

    Returns:
        float64, shape (n,).
    """
    gains = mutation_gains(matrix, rates, fn_rates)
    total, count = np.zeros(len(gains)), 0
    even = repeat(np.ones(len(gains) + 1))
    for tree, own in zip(trees, even if shares is None else shares, strict=False):
        below = presence(gains, tree, own)[0]
        total += np.prod(np.where(inside, below, np.maximum(1.0 - below, 0.0)), axis=1)
        count += 1
    return np.asarray(total / count)
