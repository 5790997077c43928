"""Cells of several specimens on clones: each specimen has its own shares of the clones of the published tree.

Shares are drawn by the rule of the clones by sample (host/findings/specimen_shares.py), with the clones as
the nodes of the only tree. So tables of all cells and of specimens have one prior. A specimen may not tell
some clones apart: how its cells are divided among them follows from the prior, and only what they have
together is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.pairs import Forest, kinds_of
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of
from syclade.host.findings.consensus.prevalence import Mixture, pair_draws
from syclade.host.findings.joint_shares import (
    JointShare,
    interval_of,
    joined_groups,
    joint_share_of,
    joint_shares,
    unmeasured_cells,
)
from syclade.host.findings.specimen_shares import draw_shares_of_specimens
from syclade.host.ground.values import short_repr

if TYPE_CHECKING:
    from syclade.host.findings.consensus.finding import PublishedTree

__all__ = [
    "SpecimenShares",
    "draw_on_clones",
    "mixture_of_specimens",
    "mixture_of_specimens_with_doublets",
    "of_clones",
    "pooled_joint_shares",
]

_DRAWS = 500
"""Most draws of the shares."""

_BLOCK = 2**12
"""Cells that are worked on at once."""

_LEAST = 1e-200
"""Least share: one that is drawn as 0 leaves a cell of the clone without a probability."""


@dataclass(frozen=True, eq=False, repr=False)
class SpecimenShares:
    """Draws from the posterior of the shares of clones in specimens, given a clone tree.

    Attributes:
        specimen_of: int64, shape (cells,): specimen of each cell. Cells without one are the last.
        shares: float64, shape (draws, specimens, clones).
        joint: for each specimen, the groups of clones that it does not tell from each other.
    """

    specimen_of: NDArray[np.int64]
    shares: NDArray[np.float64]
    joint: tuple[tuple[JointShare, ...], ...]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def group_of(self) -> NDArray[np.int64]:
        """int64, shape (specimens, clones): number of the clone's group in the specimen's; -1 for none."""
        found = np.full(self.shares.shape[1:], -1)
        for at, groups in enumerate(self.joint):
            for number, one in enumerate(groups):
                found[at, list(one.clones)] = number
        return found

    def blocks(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield the number of each specimen, and its cells in blocks."""
        for at in np.unique(self.specimen_of).tolist():
            own = np.flatnonzero(self.specimen_of == at)
            for first in range(0, len(own), _BLOCK):
                yield at, own[first : first + _BLOCK]

    @classmethod
    def of_draws(
        cls,
        shares: NDArray[np.float64],
        specimen_of: NDArray[np.int64],
        joint: Sequence[Sequence[JointShare]],
    ) -> SpecimenShares:
        """Return drawn shares, evenly thinned, as such; cells without a specimen have equal ones.

        Args:
            shares: float64, shape (draws, specimens, clones).
            specimen_of: int64, shape (cells,): -1 for none.
            joint: for each specimen, the groups of clones that it does not tell from each other.
        """
        count = min(len(shares), _DRAWS)
        shares = shares[np.arange(count) * len(shares) // count]
        draws, specimens, clones = shares.shape
        every = np.concatenate([shares, np.full((draws, 1, clones), 1.0 / clones)], axis=1)
        groups = np.where(specimen_of < 0, specimens, specimen_of)
        return cls(groups, every, (*map(tuple, joint), ()))

    def pooled(self, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of all cells together: float64, shape (draws, clones).

        Args:
            cells: float64, shape (cells,): number of cells that each one counts for.
        """
        sizes = np.bincount(self.specimen_of, weights=cells, minlength=self.shares.shape[1])
        return np.asarray(np.tensordot(self.shares, sizes / sizes.sum(), axes=(1, 0)))


def draw_on_clones(
    published: PublishedTree, specimen_of: NDArray[np.int64], specimens: int, seed: int
) -> SpecimenShares:
    """Draw the shares of clones in specimens, given the published tree. Equal arguments give equal draws.

    Args:
        published: the clone tree, with the observations of the placed cells.
        specimen_of: int64, shape (cells,): specimen of each placed cell; -1 for none, which is one more.
        specimens: number of specimens.
        seed: seed of the run.
    """
    tree, gains = published.tree, published.gains
    groups = np.where(specimen_of < 0, specimens, specimen_of)
    count = specimens + bool((specimen_of < 0).any())
    shares = draw_shares_of_specimens(of_clones(published), groups, count, seed, _DRAWS).shares
    silent = unmeasured_cells(gains, groups, count)
    joint = [joint_shares(tree, own >= 0, shares[:, at], published.unions) for at, own in enumerate(silent)]
    return SpecimenShares(groups, shares, tuple(joint))


def of_clones(published: PublishedTree) -> PublishedTree:
    """Return a published tree with its clones in place of mutations: its one sampled tree is that of these.

    Args:
        published: the clone tree, with the observations of the placed cells.
    """
    tree, parents = published.tree, published.tree.parents_root_last
    return published._replace(
        tree=clone_tree_of(parents), gains=_gains_of(tree, published.gains), trees=parents[None], shares=None
    )


def _gains_of(tree: CloneTree, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the mutations of each clone add to the score of a cell: (clones - 1, cells), no root."""
    return np.array([gains[own].sum(axis=0) for own in tree.members[1:]]).reshape(-1, gains.shape[1])


def mixture_of_specimens(likelihood: NDArray[np.float64], specimens: SpecimenShares) -> Mixture:
    """Return the posterior of the clones of single cells: that given the shares, as a mean over their draws.

    Args:
        likelihood: float64, shape (clones, cells): likelihood of each clone for each cell, or any multiple of
            those of a cell.
        specimens: the shares.
    """
    probability = np.empty_like(likelihood)
    for at, own in specimens.blocks():
        columns, shares = likelihood[:, own], np.maximum(specimens.shares[:, at], _LEAST)
        of_draws = 1.0 / (shares @ columns)
        probability[:, own] = columns * (shares.T @ of_draws) / len(shares)
    return _with_pooled(probability, None, specimens)


def mixture_of_specimens_with_doublets(
    tree: CloneTree, gains: NDArray[np.float64], rate: float, specimens: SpecimenShares
) -> Mixture:
    """Return the same for cells that may be doublets.

    Args:
        tree: the clone tree.
        gains: float64, shape (n, cells): what each mutation adds to the score of a cell, natural log.
        rate: rate of doublets.
        specimens: the shares.
    """
    forest, weights = Forest(tree.parents_root_last[None]), _gains_of(tree, gains) / np.log(2.0)
    probability = np.empty((tree.clones, gains.shape[1]))
    parts = np.empty_like(probability)
    for at, own in specimens.blocks():
        columns, kind = np.unique(weights[:, own], axis=1, return_inverse=True)
        of_all, kinds = forest.of_all(columns), kind.ravel()
        drawn = np.roll(np.maximum(specimens.shares[:, at], _LEAST), -1, axis=1)  # the root is the last node
        count = min(len(drawn), pair_draws(of_all.size))
        alone, double = np.zeros(of_all.shape), np.zeros(of_all.shape)
        for shares in drawn[np.arange(count) * len(drawn) // count]:
            single, pair = kinds_of(forest, of_all, np.log2(shares)[:, None], rate).probabilities()
            alone += single
            double += 2.0 * pair
        probability[:, own] = np.roll(alone / count, 1, axis=0)[:, kinds]
        parts[:, own] = np.roll(double / count, 1, axis=0)[:, kinds]
    return _with_pooled(probability, parts, specimens)


def _with_pooled(
    probability: NDArray[np.float64], parts: NDArray[np.float64] | None, specimens: SpecimenShares
) -> Mixture:
    """Return a mixture whose intervals are of the pooled shares."""
    none = np.zeros(len(probability))
    found = Mixture(probability, none, none, parts)
    low, high = interval_of(specimens.pooled(found.cells), found.prevalence)
    return replace(found, low=low, high=high)


def pooled_joint_shares(mixture: Mixture, specimens: SpecimenShares) -> tuple[JointShare, ...]:
    """Return the groups of clones that some specimens do not tell from each other, of all cells together.

    Groups of two specimens that have a clone in common are one: all specimens tell it from other clones.

    Args:
        mixture: the cells.
        specimens: the shares.
    """
    pooled, found = specimens.pooled(mixture.cells), []
    for clones in joined_groups(one.clones for groups in specimens.joint for one in groups):
        share = float(mixture.prevalence[list(clones)].sum())
        found.append(joint_share_of(clones, pooled[:, clones].sum(axis=1), share))
    return tuple(found)
