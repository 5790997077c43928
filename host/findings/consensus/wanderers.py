"""Wanderers: mutations without a probable place in the samples. They would lower the support of clades."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_at, descendants, spaced_trees
from syclade.host.findings.consensus.find_consensus import consensus_tree
from syclade.host.findings.consensus.relations import Relations, TreeBlocks
from syclade.host.findings.consensus.search import THRESHOLDS, gains_of, improved
from syclade.host.findings.unplaced import Unplaced

__all__ = ["PLACE", "Wanderers", "best_places", "with_wanderers"]

PLACE = 0.2
"""A mutation whose best place has a lower probability is set aside (docs/trust.md)."""

_MOST_TREES, _LEAST_TREES, _ENTRIES = 400, 32, 2**24
"""Most and fewest trees that are compared, and most entries of their matrices."""


class Wanderers(NamedTuple):
    """Mutations that wander, beside those that are unplaced for other reasons.

    Attributes:
        unplaced: all unplaced mutations and cells.
        tree: consensus of the samples without pairs that are left open; None if nothing was searched.
    """

    unplaced: Unplaced
    tree: CloneTree | None


def with_wanderers(
    blocks: TreeBlocks, best: NDArray[np.int32], relations: Relations, unplaced: Unplaced
) -> Wanderers:
    """Return the unplaced mutations and cells, with the mutations that wander in sampled trees.

    The mutation with the lowest probability is set aside first, because it makes the places of others
    uncertain, and then the places are compared anew. Those that have a place without the others come back.

    Args:
        blocks: the sampled trees, of all n mutations.
        best: parent vector of the most likely tree, int32, shape (n + 1,).
        relations: relations in the samples.
        unplaced: mutations that are unplaced for other reasons.
    """
    count = len(best) - 1
    placed, inner = unplaced.placed_mutations(count), unplaced.of_blocks(blocks)
    if len(placed) < 2 or not relations.samples:
        return Wanderers(unplaced, None)
    of_inner = unplaced.of_relations(relations)
    tree, _ = consensus_tree(inner, unplaced.of_tree(best), of_inner, THRESHOLDS)
    most = max(_LEAST_TREES, min(_MOST_TREES, _ENTRIES // len(placed) ** 2))
    trees = spaced_trees(inner, relations.samples, most)
    below = descendants(trees)
    wander = np.zeros(len(placed), dtype=np.bool_)
    while True:
        probability = best_places(tree, below, ~wander)
        low = np.flatnonzero(~wander & (probability < PLACE))
        if not low.size:
            break
        wander[low[np.argsort(probability[low], kind="stable")[: -(-len(low) // 4)]]] = True
    wander &= probability < PLACE
    if not wander.any():
        return Wanderers(unplaced, tree)
    uncertain = {int(placed[at]): float(probability[at]) for at in np.flatnonzero(wander).tolist()}
    unplaced = unplaced.with_uncertain(uncertain)
    gains = gains_of(unplaced.of_relations(relations), THRESHOLDS)
    return Wanderers(unplaced, improved(_without(tree, wander), gains))


def _without(tree: CloneTree, wander: NDArray[np.bool_]) -> CloneTree:
    """Return the consensus without wandering mutations; an emptied clone gives its children to its parent."""
    above = np.append(tree.parents[1:], 0) - 1
    above[above < 0] = tree.clones - 1
    return clone_tree_at(above.astype(np.int32), tree.clone_of[~wander] - 1)


def best_places(
    tree: CloneTree, below: NDArray[np.float32], reference: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the probability of the best place of each mutation, by sampled trees.

    The place is the deepest clone of the consensus but the mutation's own of which at least half of the
    mutations are above it, or the root. So the order within a clone, which is open, does not matter, nor does
    one mutation of a clone that is elsewhere.

    Args:
        tree: the consensus.
        below: float32, shape (trees, n, n): `descendants` of the sampled trees.
        reference: bool, shape (n,): mutations that have a place; the others are not compared with.

    Returns:
        float64, shape (n,).
    """
    compared = np.flatnonzero(reference)
    compared = compared[np.argsort(tree.clone_of[compared], kind="stable")]
    clones, first = np.unique(tree.clone_of[compared], return_index=True)
    sizes = np.bincount(tree.clone_of[compared], minlength=tree.clones)
    open_order = (tree.clone_of[:, None] == np.arange(tree.clones)) | (sizes == 0)
    open_order[:, 0] = False
    depths = tree.within.sum(axis=0) - 1  # the root is above all
    places = np.empty((len(below), len(reference)), dtype=np.int64)
    members = np.zeros((tree.clones, len(reference)), dtype=np.float32)
    for number, one in enumerate(below):
        if len(compared):
            members[clones] = np.add.reduceat(one[compared], first, axis=0)
        above = (sizes <= 2 * members.T) & ~open_order
        places[number] = np.where(above, depths, -1).argmax(axis=1)
    return np.array([np.bincount(of_mutation).max() for of_mutation in places.T]) / len(below)
