"""Search for the consensus of sampled trees, with the checks of claims and of mutations that come before it.

Where most cells contradict a probable claim, it is kept back: both mutations are in one clone, of which the
tree claims nothing. This may put them, or mutations below them, against relations that are sure, or join
lineages. Then a mutation of a claim that is kept back is set aside: the cells contradict each of its places.

Wanderers, mutations without a probable place in the samples, are set aside, too: they would lower the support
of clades.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rate_fit import rates_of_calls
from syclade.host.data.model.rates import ObservationModel, Rates
from syclade.host.data.model.reads import observed_states
from syclade.host.findings.consensus.cells import cells_on
from syclade.host.findings.consensus.clone_tree import (
    CloneTree,
    agreement_with,
    clone_support,
    clone_tree_at,
    clone_tree_of,
    descendants,
    spaced_trees,
)
from syclade.host.findings.consensus.consensus import SEEDING_TREES, CloneConsensus, SetAside
from syclade.host.findings.consensus.evidence import (
    CLAIMED,
    Contradiction,
    PairCounts,
    count_pairs,
    evident_in,
    unsupported_in,
)
from syclade.host.findings.consensus.relations import (
    Relations,
    SharedTrees,
    TreeBlocks,
    count_relations,
    unobserved_in,
)
from syclade.host.findings.consensus.search import (
    THRESHOLDS,
    Gains,
    Thresholds,
    best_clone_tree,
    gain_of,
    gains_of,
    improved,
    with_open,
    without_claims,
)
from syclade.host.findings.unplaced import CONTRADICTED, PLACE, Unplaced

__all__ = ["Wanderers", "best_places", "consensus_tree", "find_consensus", "with_wanderers"]

CANDIDATES = 64
"""Number of sampled trees, evenly spaced, among which the search looks for its starts."""


def find_consensus(
    blocks: TreeBlocks,
    best: NDArray[np.int32],
    matrix: Matrix,
    rates: ObservationModel,
    true: NDArray[np.int32] | None = None,
    thresholds: Thresholds = THRESHOLDS,
    relations: Relations | None = None,
    unplaced: Unplaced | None = None,
    fn_rates: NDArray[np.float64] | None = None,
    known: CloneTree | None = None,
    shared: SharedTrees | None = None,
    doublets: float | None = None,
) -> CloneConsensus | None:
    """Return the consensus of sampled mutation trees; None if there are no samples, or no placed mutations.

    It depends only on the arguments: equal samples give the same tree everywhere.

    Args:
        blocks: the sampled trees, of the matrix's n mutations.
        best: parent vector of the most likely tree, int32, shape (n + 1,).
        matrix: the observed values.
        rates: the error rates, or levels of evidence, for the cells.
        true: parent vector of the true tree to compare with, int32, shape (n + 1,); None for none.
        thresholds: the least probabilities of claims that pay.
        relations: relations in these trees, if they are known; counted otherwise.
        unplaced: mutations and cells that the consensus leaves out; None for none.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
        known: the consensus tree of the same samples without open pairs, if it was searched before.
        shared: sampled trees of the n mutations with shares of their nodes; None for samples without shares.
        doublets: rate of doublets, which explain cells with mutations that are apart; None if all are single.
    """
    unplaced = unplaced or Unplaced()
    placed = unplaced.of_matrix(matrix)
    if not placed.n_mutations or not any(len(trees) for trees in blocks()):
        return None
    every = count_relations(blocks) if relations is None else relations
    call_rates = rates_of_calls(replace(matrix, values=observed_states(matrix)), rates, best)
    set_aside: list[SetAside] = []
    while True:
        searched = _search(
            blocks, best, matrix, every, rates, call_rates, thresholds, unplaced, fn_rates, known, doublets
        )
        if (mutation := _to_set_aside(searched)) is None:
            break
        claims = [one for one in searched.kept_back if mutation in (one.first, one.second)]
        names = searched.placed.mutations
        words = tuple(one.words(names, searched.counts) for one in claims)
        set_aside.append(SetAside(names[mutation], words))
        row = int(unplaced.placed_mutations(matrix.n_mutations)[mutation])
        unplaced, known = unplaced.joined({row: CONTRADICTED}), None
    if shared is not None:
        shared = shared.spaced(SEEDING_TREES)
        shared = SharedTrees(unplaced.of_trees(shared.trees), unplaced.of_shares(*shared))
    tree, sampled = searched.tree, unplaced.of_blocks(blocks)
    return CloneConsensus(
        tree=tree,
        relations=searched.relations,
        pair_counts=searched.counts,
        kept_back=tuple(searched.kept_back),
        set_aside=tuple(set_aside),
        unobserved=searched.unobserved,
        thresholds=thresholds,
        gain=searched.gain,
        support=clone_support(tree, sampled),
        cells=cells_on(tree, searched.placed, rates, searched.fn_rates),
        sampled=sampled,
        likely=unplaced.of_tree(best),
        matrix=matrix,
        rates=rates,
        call_rates=call_rates,
        fn_rates=searched.fn_rates,
        doublets=doublets,
        unplaced=unplaced,
        truth=None if true is None else agreement_with(tree, unplaced.of_tree(true)),
        shared=shared,
    )


class _Searched(NamedTuple):
    """The best tree of the placed mutations, with what it was searched by; fields as of `CloneConsensus`."""

    placed: Matrix
    relations: Relations
    counts: PairCounts
    fn_rates: NDArray[np.float64] | None
    kept_back: list[Contradiction]
    unobserved: NDArray[np.bool_] | None
    tree: CloneTree
    gain: float


def _search(
    blocks: TreeBlocks,
    best: NDArray[np.int32],
    matrix: Matrix,
    relations: Relations,
    rates: ObservationModel,
    call_rates: Rates,
    thresholds: Thresholds,
    unplaced: Unplaced,
    fn_rates: NDArray[np.float64] | None,
    known: CloneTree | None,
    doublets: float | None,
) -> _Searched:
    """Return the best tree of the placed mutations; arguments are those of `find_consensus`."""
    placed = unplaced.of_matrix(matrix)
    if fn_rates is not None:
        fn_rates = fn_rates[unplaced.placed_mutations(matrix.n_mutations)]
    relations, counts = unplaced.of_relations(relations), count_pairs(placed)
    evident = evident_in(placed, rates)
    kept_back = unsupported_in(relations, counts, call_rates, fn_rates, evident, doublets)
    pairs = [(one.first, one.second) for one in kept_back]
    unobserved = unobserved_in(relations, counts, placed.n_cells, thresholds)
    if known is not None and not pairs and unobserved is None:
        tree, gain = known, _gain(known, gains_of(relations, thresholds), relations)
    else:
        inner, likely = unplaced.of_blocks(blocks), unplaced.of_tree(best)
        tree, gain = consensus_tree(inner, likely, relations, thresholds, pairs, unobserved)
    return _Searched(placed, relations, counts, fn_rates, kept_back, unobserved, tree, gain)


def _to_set_aside(found: _Searched) -> int | None:
    """Return the placed mutation to set aside: one that claims which are kept back leave no place.

    For a pair that is left open, the tree claims the opposite of sure relations, or makes one clone of
    mutations that are surely apart. Of the mutations of such pairs, it is the one with the most pairs, then
    with the fewest cells, then with the most such relations.

    Returns:
        The number of the mutation among the placed ones; None if there is none.
    """
    tree = found.tree
    before, apart = found.relations.before > CLAIMED, found.relations.apart > CLAIMED
    wrong = tree.before & (before.T | apart)
    wrong |= wrong.T
    wrong |= tree.apart & (before | before.T)
    wrong |= apart & (tree.clone_of[:, np.newaxis] == tree.clone_of)
    pairs = np.zeros(len(wrong), dtype=np.int64)
    for one in found.kept_back:
        wrong[[one.first, one.second], [one.second, one.first]] = False
        pairs[[one.first, one.second]] += 1
    against = wrong.sum(axis=1)
    of_clone = np.bincount(tree.clone_of, weights=against, minlength=tree.clones)
    cells = found.counts.both.diagonal()
    some = np.flatnonzero((pairs > 0) & (of_clone[tree.clone_of] > 0)).tolist()
    return min(some, key=lambda at: (-pairs[at], cells[at], -against[at], at), default=None)


def consensus_tree(
    blocks: TreeBlocks,
    best: NDArray[np.int32],
    relations: Relations,
    thresholds: Thresholds,
    open_pairs: Collection[tuple[int, int]] = (),
    unobserved: NDArray[np.bool_] | None = None,
) -> tuple[CloneTree, float]:
    """Return the clone tree with the highest gain that the search finds, and its gain.

    Args:
        blocks, best, thresholds: as for `find_consensus`.
        relations: relations in the same samples.
        open_pairs: pairs of mutations of which the tree claims nothing: they are in one clone.
        unobserved: pairs of which it claims nothing if that costs no other claim; None for none.
    """
    gains = with_open(without_claims(gains_of(relations, thresholds), unobserved), open_pairs)
    trees = np.unique([best, *spaced_trees(blocks, relations.samples, CANDIDATES)], axis=0)
    tree = best_clone_tree(list(map(clone_tree_of, trees)), gains)
    return tree, _gain(tree, gains, relations)


def _gain(tree: CloneTree, gains: Gains, relations: Relations) -> float:
    """Return the gain of a tree per sample: the sum over its claims of probability minus threshold."""
    return gain_of(tree, gains) / (1000 * relations.samples)


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
    # Clones from the deepest to the root, so that the place of a mutation is the first one that may be it.
    deepest = np.argsort(1 - tree.within.sum(axis=0), kind="stable")
    allowed = (tree.clone_of != deepest[:, np.newaxis]) & (sizes[deepest] > 0)[:, np.newaxis]
    allowed |= (deepest == 0)[:, np.newaxis]
    half = sizes[deepest][:, np.newaxis] / 2
    many = np.flatnonzero(sizes[clones] > 1)
    rows = compared[np.repeat(sizes[clones] > 1, sizes[clones])]
    starts = np.append(0, np.cumsum(sizes[clones[many]])[:-1])
    places = np.empty((len(below), len(reference)), dtype=np.int64)
    members = np.zeros((tree.clones, len(reference)), dtype=np.float32)
    rank = np.argsort(deepest)
    for number, one in enumerate(below):
        members[rank[clones]] = one[compared[first]]
        if many.size:
            members[rank[clones[many]]] = np.add.reduceat(one[rows], starts, axis=0)
        above = (members >= half) & allowed
        places[number] = deepest[above.T.argmax(axis=1)]
    return np.array([np.bincount(of_mutation).max() for of_mutation in places.T]) / len(below)
