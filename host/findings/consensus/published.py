"""Tree to publish, with its posterior: what shares of specimens and genotypes are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.cells import mutation_gains
from syclade.host.findings.consensus.clades import spaced_trees
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus
    from syclade.host.findings.finding import BestTree
    from syclade.host.findings.unplaced import Unplaced

__all__ = ["PublishedTree", "published_consensus", "published_tree"]

_MOST_TREES = 1000
"""Most sampled trees, evenly spaced."""


class PublishedTree(NamedTuple):
    """Clone tree of the placed mutations, and sampled trees of the same mutations.

    Attributes:
        tree: the clone tree.
        mutations: names of the n placed mutations.
        gains: float64, shape (n, cells): what each mutation adds to the log-likelihood of a placed cell.
        trees: int32, shape (trees, n + 1): sampled trees; without samples, the most likely tree alone.
        shares: float64, of the same shape: part of the cells at each node; None for samples without shares.
        doublets: rate of doublets; None if all cells are single.
    """

    tree: CloneTree
    mutations: tuple[str, ...]
    gains: NDArray[np.float64]
    trees: NDArray[np.int32]
    shares: NDArray[np.float64] | None
    doublets: float | None


def published_tree(best: BestTree, consensus: CloneConsensus | None, unplaced: Unplaced) -> PublishedTree:
    """Return the tree to publish: the consensus, or the most likely tree if there are no samples.

    Args:
        best: the most likely tree, a mutation tree without copies.
        consensus: the consensus; None for none.
        unplaced: mutations and cells that are not in it.
    """
    doublets = None if best.assignment.doublets is None else best.assignment.doublets.rate
    if consensus is None:
        placed, parents = unplaced.of_matrix(best.observed), unplaced.of_tree(best.parents)
        gains = mutation_gains(placed, best.rates, None)
        return PublishedTree(clone_tree_of(parents), placed.mutations, gains, parents[None], None, doublets)
    return published_consensus(consensus, doublets)


def published_consensus(consensus: CloneConsensus, doublets: float | None = None) -> PublishedTree:
    """Return a consensus as the tree to publish, with its samples.

    Args:
        consensus: the consensus.
        doublets: rate of doublets; None if all cells are single.
    """
    if consensus.shared is None:
        trees, shares = spaced_trees(consensus.sampled, consensus.relations.samples, _MOST_TREES), None
    else:
        trees, shares = consensus.shared
    gains = mutation_gains(consensus.placed, consensus.rates, consensus.fn_rates)
    return PublishedTree(consensus.tree, consensus.mutations, gains, trees, shares, doublets)
