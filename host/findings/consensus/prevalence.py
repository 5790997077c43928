"""Cells as a mixture of clones: the clone of each cell and the prevalence of each clone, by Gibbs sampling.

The shares of the clones have the prior of the shares score, with concentrations that are drawn, too
(host/chains/shares.py), and the clones as the nodes. The clone of each cell is drawn by the shares, and
its observations follow from the clone. So a cell that fits several clones counts for those that have clear
cells. Cells of specimens have shares of their own (consensus/of_specimens.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.shares import draw_concentration
from syclade.host.data.model.pairs import Forest, draw_counts, kinds_of
from syclade.host.findings.joint_shares import equal_nodes, interval_of
from syclade.host.ground.values import short_repr

__all__ = [
    "Mixture",
    "mixture_of",
    "mixture_with_doublets",
    "pair_draws",
]

BURN_IN, DRAWS, LEAST_DRAWS = 100, 2000, 300
"""Draws that are dropped, and draws that are used: fewer for many cells that fit many clones."""

_WORK = 2**29
"""Most probabilities in all draws, unless there are only `LEAST_DRAWS`."""

_FIRST, _AT_ONCE = 4, 64
"""Likely clones of a cell among which it is drawn at first, and draws that are worked on at once."""

NEGLIGIBLE = 1e-9
"""Share that is taken as 0."""

_PAIR_DRAWS, _PAIR_WORK = 500, 2**22
"""Most draws with doublets, and most probabilities of a clone for a column in them, unless there are only a
fifth of the draws."""

_EXACT_DIGITS = 12
"""Digits of relative likelihoods that draws use: the last ones differ between processors, and would make
other groups of equal cells, and so other draws."""

_SEED = 34

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Posterior of the clones of cells.

    Attributes:
        probability: float64, shape (clones, cells): probability of each clone for each cell; with doublets,
            that it is a single cell of the clone.
        low, high: float64, shape (clones,): ends of the central 90 % of each clone's share of the tissue that
            the cells are from, wider where they would not contain the prevalence. With specimens, the share
            is the mean of theirs by their cells. A doublet counts as two cells.
        parts: float64, shape (clones, cells): expected number of cells of each clone in a doublet, for each
            cell of the matrix; None without doublets.
    """

    probability: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    parts: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def of_cells(self) -> NDArray[np.float64]:
        """float64, shape (clones, cells): expected number of cells of each clone that each one is."""
        return self.probability if self.parts is None else self.probability + self.parts

    @property
    def cells(self) -> NDArray[np.float64]:
        """float64, shape (cells,): expected number of cells that each one is: 2 for a doublet."""
        alone = np.asarray(self.probability.sum(axis=0))
        return alone if self.parts is None else alone + self.parts.sum(axis=0)

    @property
    def expected(self) -> NDArray[np.float64]:
        """float64, shape (clones,): expected number of cells of each clone itself; a doublet is two."""
        alone = np.asarray(self.probability.sum(axis=1))
        return alone if self.parts is None else alone + self.parts.sum(axis=1)

    @property
    def prevalence(self) -> NDArray[np.float64]:
        """float64, shape (clones,): expected part of the cells that are of each clone itself."""
        return self.expected / (self.probability.shape[1] if self.parts is None else self.expected.sum())

    @property
    def doublet(self) -> NDArray[np.float64] | None:
        """float64, shape (cells,): probability of each cell of being a doublet; None without doublets."""
        return None if self.parts is None else np.asarray(self.parts.sum(axis=0) / 2.0)


def mixture_of(likelihood: NDArray[np.float64]) -> Mixture:
    """Return the posterior; equal arguments give equal values with the same version of numpy.

    Args:
        likelihood: float64, shape (clones, cells): likelihood of each clone for each cell, or any multiple of
            those of a cell.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    relative, kind, sizes = np.unique(  # cells with equal likelihoods have equal probabilities
        (likelihood / likelihood.max(axis=0)).round(_EXACT_DIGITS),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    choices = Choices.of(relative, sizes)
    shares = np.full(len(likelihood), 1.0 / len(likelihood))
    draws = np.empty((min(DRAWS, max(LEAST_DRAWS, _WORK // relative.size)), len(likelihood)))
    for number in range(-BURN_IN, len(draws)):
        counts = choices.drawn(shares, generator)
        shares = np.roll(_drawn_shares(np.roll(counts, -1), [], generator), 1)
        if number >= 0:
            draws[number] = shares
    probability = np.zeros_like(relative)
    for some in np.array_split(draws, -(-len(draws) // _AT_ONCE)):
        probability += some.T @ (1.0 / (some @ relative))
    probability *= relative / len(draws)
    return _with_intervals(np.ascontiguousarray(probability[:, kind.ravel()]), None, draws)


class Choices(NamedTuple):
    """Clones that cells fit, the likely ones first.

    Attributes:
        relative: float64, shape (clones, kinds): likelihoods of kinds of cells, those of the best clones 1.
        sizes: int64, shape (kinds,): number of cells of each kind.
        clone: int64, of the same shape: the clones by these, the best one of each kind first.
        likelihood: float64, of the same shape: their likelihoods.
        row_of: int64, shape (cells,): kind of each cell.
    """

    relative: NDArray[np.float64]
    sizes: NDArray[np.int64]
    clone: NDArray[np.int64]
    likelihood: NDArray[np.float64]
    row_of: NDArray[np.int64]

    @classmethod
    def of(cls, relative: NDArray[np.float64], sizes: NDArray[np.int64]) -> Choices:
        """Return the choices of kinds of cells, by the number of cells of each: int64, shape (kinds,)."""
        clone = np.argsort(-relative, axis=0, kind="stable")
        likelihood = np.take_along_axis(relative, clone, axis=0)
        return cls(relative, sizes, clone, likelihood, np.repeat(np.arange(len(sizes)), sizes))

    def drawn(self, shares: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Return the numbers of cells of the clones, int64, (clones,), after a draw of the clone of each.

        Where there are fewer kinds, times clones, than cells, the cells of a kind are drawn together.

        Args:
            shares: float64, shape (clones,): share of each clone.
            generator: source of the draws.
        """
        if self.relative.size >= len(self.row_of):
            return self.counts(shares, generator.random(len(self.row_of)))
        part = self.relative.T * shares
        part /= part.sum(axis=1, keepdims=True)
        return np.asarray(generator.multinomial(self.sizes, part).sum(axis=0))

    def counts(self, shares: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the numbers of cells of the clones, int64, (clones,), after a draw of the clone of each.

        Most cells are of one of their most likely clones, so the others are looked at where these are not.

        Args:
            shares: float64, shape (clones,): share of each clone.
            uniform: float64, shape (cells,): a number from 0 to 1 for each cell.
        """
        clones, found = len(shares), np.zeros(len(shares), dtype=np.int64)
        left, rows, first = uniform * (shares @ self.relative)[self.row_of], self.row_of, 0
        while first < clones and rows.size:
            last = min(clones, max(_FIRST, 4 * first))
            clone = self.clone[first:last].take(rows, axis=1)
            sums = shares[clone]
            sums *= self.likelihood[first:last].take(rows, axis=1)
            np.cumsum(sums, axis=0, out=sums)
            at = (sums <= left).sum(axis=0)
            here = np.flatnonzero(at < (last - first))
            if last == clones:  # or the sum of all was rounded up
                here, at = np.arange(len(rows)), np.minimum(at, last - first - 1)
            found += np.bincount(clone[at[here], here], minlength=clones)
            others = np.delete(np.arange(len(rows)), here)
            left, rows, first = (left - sums[-1])[others], rows[others], last
        return found


def _drawn_shares(
    counts: NDArray[np.int64], alike: list[NDArray[np.int64]], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return shares given the numbers of cells, after a draw of the concentrations; the root is the last.

    Among clones that no cell tells apart, shares follow the prior.
    """
    if len(counts) == 1:  # the root alone
        return np.ones(1)
    prior = draw_concentration(counts, generator.random()).of_nodes(len(counts))
    gammas = np.maximum(generator.standard_gamma(prior + counts), _TINY)
    for clones in alike:
        parts = np.maximum(generator.standard_gamma(prior[clones]), _TINY)
        gammas[clones] = gammas[clones].sum() * parts / parts.sum()
    return np.asarray(gammas / gammas.sum())


def _with_intervals(
    probability: NDArray[np.float64], parts: NDArray[np.float64] | None, shares: NDArray[np.float64]
) -> Mixture:
    """Return the mixture with the intervals of its shares.

    Args:
        probability, parts: as in `Mixture`.
        shares: float64, shape (draws, clones): draws of the share of each clone.
    """
    none = np.zeros(len(probability))
    found = Mixture(probability, none, none, parts)
    low, high = interval_of(shares, found.prevalence)
    return replace(found, low=np.where(low < NEGLIGIBLE, 0.0, low), high=high)


def mixture_with_doublets(parents: NDArray[np.int32], weights: NDArray[np.float64], rate: float) -> Mixture:
    """Return the posterior of cells that may be doublets, as `mixture_of` does without.

    A cell is a single cell of clone v with probability (1 - rate) pi_v, and a doublet of v and w with
    probability rate pi_v pi_w.

    Args:
        parents: int32, shape (clones,): the clone tree as a parent vector, whose last node is the root.
        weights: float64, shape (clones - 1, cells): what each clone's own mutations add to the score of a
            cell, natural log.
        rate: rate of doublets.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    forest, clones = Forest(parents[None]), len(parents)
    columns, kind = np.unique(weights / np.log(2.0), axis=1, return_inverse=True)
    column_of, of_all = kind.ravel(), forest.of_all(columns)
    shares = np.full(clones, 1.0 / clones)
    alike = equal_nodes(parents, np.append(~weights.any(axis=1), False))
    draws = np.empty((pair_draws(of_all.size), clones))
    alone, parts = np.zeros(of_all.shape), np.zeros(of_all.shape)
    for number in range(-BURN_IN, len(draws)):
        kinds = kinds_of(forest, of_all, np.log2(shares)[:, None], rate)
        counts = draw_counts(forest, 0, kinds, column_of, generator.random((2, len(column_of))))
        shares = _drawn_shares(counts, alike, generator)
        if number >= 0:
            draws[number] = shares
            single, pair = kinds.probabilities()
            alone += single
            parts += 2.0 * pair
    count = len(draws)
    return _with_intervals((alone / count)[:, column_of], (parts / count)[:, column_of], draws)


def pair_draws(size: int) -> int:
    """Return the number of draws with doublets.

    Args:
        size: number of probabilities of a clone for a column in a draw.
    """
    return min(_PAIR_DRAWS, max(_PAIR_DRAWS // 5, _PAIR_WORK // size))
