"""Exact proposal kernel and posterior over all trees of a few mutations.

The kernel follows the definition of the moves (Jahn, Kuipers, Beerenwinkel 2016, Methods), not the random
words; the random words must give the same probabilities. Up to 4 mutations (125 trees) take a moment, 5 (1296
trees) take seconds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.quality.oracle.moves import (
    neighbourhood_sizes,
    prune_and_reattach,
    swap_labels,
    swap_subtrees_related,
    swap_subtrees_unrelated,
)
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector, all_trees, descendants, is_ancestor, non_descendants


class Proposal(NamedTuple):
    """One way to propose a tree: probability, and factor f of its acceptance min(1, f · π(T')/π(T))."""

    target: ParentVector
    probability: Fraction
    factor: Fraction


Factor = Callable[[ParentVector, int, int], Fraction]
"""Function that returns f of a swap of related subtrees, given the old tree, the lower and the upper node."""

Kernel = dict[ParentVector, list[Proposal]]
"""All proposals of every tree; several may lead to the same tree, with different factors."""


def neighbourhood_factor(tree: ParentVector, lower: int, upper: int) -> Fraction:
    """Return f = |C| / |B|, the correct factor."""
    return Fraction(*neighbourhood_sizes(tree, lower, upper))


def thesis_factor(tree: ParentVector, lower: int, upper: int) -> Fraction:
    """Return f = |C| / |desc(w)| as printed in the ffSCITE thesis.

    It breaks detailed balance and serves as a negative control.
    """
    return Fraction(len(descendants(tree, lower)), len(descendants(tree, upper)))


def move_probabilities(cuts: Cuts) -> tuple[Fraction, Fraction, Fraction]:
    """Return the probabilities of prune and reattach, swap labels, swap subtrees from the thresholds."""
    return (
        Fraction(cuts.labels, 65536),
        Fraction(cuts.subtrees - cuts.labels, 65536),
        Fraction(65536 - cuts.subtrees, 65536),
    )


@lru_cache(maxsize=8)
def kernel(n: int, cuts: Cuts, factor: Factor = neighbourhood_factor) -> Kernel:
    """Return all proposals of all trees of n mutations; the probabilities of a tree's proposals sum to 1.

    Do not change it: later calls return the same.
    """
    probabilities = move_probabilities(cuts)
    return {tree: list(proposals(tree, probabilities, factor)) for tree in all_trees(n)}


def proposals(
    tree: ParentVector,
    probabilities: tuple[Fraction, Fraction, Fraction],
    factor: Factor = neighbourhood_factor,
) -> Iterator[Proposal]:
    """Yield all proposals of one tree."""
    n = len(tree) - 1
    prune, labels, subtrees = probabilities
    for v in range(n):
        places = non_descendants(tree, v)
        for t in places:
            yield Proposal(prune_and_reattach(tree, v, t), prune / n / len(places), Fraction(1))
    if n == 1:
        yield Proposal(tree, labels + subtrees, Fraction(1))
        return
    pair = Fraction(1, n * (n - 1))  # ordered pairs of distinct mutations
    for v in range(n):
        for w in range(n):
            if v != w:
                yield Proposal(swap_labels(tree, v, w), labels * pair, Fraction(1))
                yield from _subtree_swaps(tree, v, w, subtrees * pair, factor)


def _subtree_swaps(tree: ParentVector, v: int, w: int, share: Fraction, factor: Factor) -> Iterator[Proposal]:
    if is_ancestor(tree, v, w):
        v, w = w, v
    if not is_ancestor(tree, w, v):
        yield Proposal(swap_subtrees_unrelated(tree, v, w), share, Fraction(1))
        return
    places = descendants(tree, v)
    for t in places:
        yield Proposal(swap_subtrees_related(tree, v, w, t), share / len(places), factor(tree, v, w))


def proposal_probabilities(tree_proposals: Sequence[Proposal]) -> dict[ParentVector, Fraction]:
    """Return Q(T, T') of one tree T: the probability to propose T', summed over all ways."""
    row: dict[ParentVector, Fraction] = {}
    for proposal in tree_proposals:
        row[proposal.target] = row.get(proposal.target, Fraction(0)) + proposal.probability
    return row


def imbalance(chain_kernel: Kernel, weight: Mapping[ParentVector, Fraction]) -> Fraction:
    """Return max over T, T' of |π(T) P(T, T') - π(T') P(T', T)|, π = weight.

    The result is exactly 0 iff detailed balance holds. A way of probability q and factor f carries the flow
    π(T) q min(1, f π(T')/π(T)) = q min(π(T), f π(T')) to T'.
    """
    net: dict[tuple[ParentVector, ParentVector], Fraction] = {}
    for tree, ways in chain_kernel.items():
        for target, probability, factor in ways:
            flow = probability * min(weight[tree], factor * weight[target])
            pair, sign = ((tree, target), 1) if tree < target else ((target, tree), -1)
            net[pair] = net.get(pair, Fraction(0)) + (sign * flow if tree != target else 0)
    return max(abs(flow) for flow in net.values())


def is_ergodic(chain_kernel: Kernel) -> bool:
    """Return whether every tree leads to every other (irreducible) and some tree to itself (aperiodic).

    Acceptance probabilities are positive whenever all likelihoods are, so only the proposals matter.
    """
    forwards = {
        tree: {way.target for way in ways if way.probability > 0} for tree, ways in chain_kernel.items()
    }
    backwards: dict[ParentVector, set[ParentVector]] = {tree: set() for tree in chain_kernel}
    for tree, targets in forwards.items():
        for target in targets:
            backwards[target].add(tree)
    irreducible = all(_reachable(edges) == set(chain_kernel) for edges in (forwards, backwards))
    return irreducible and any(tree in targets for tree, targets in forwards.items())


def _reachable(edges: Mapping[ParentVector, set[ParentVector]]) -> set[ParentVector]:
    """Return the trees that can be reached from the first one."""
    frontier = {next(iter(edges))}
    reached: set[ParentVector] = set()
    while frontier:
        reached |= frontier
        frontier = {target for tree in frontier for target in edges[tree]} - reached
    return reached


def transition_matrix(chain_kernel: Kernel, scores: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Return P(T, T') of the Metropolis-Hastings chain, trees in the order of the kernel.

    `scores`: float64, shape (N,), in nats. A rejected proposal leaves the tree unchanged. The result is
    float64 of shape (N, N); its rows sum to 1.
    """
    index = {tree: position for position, tree in enumerate(chain_kernel)}
    ways = [(index[tree], index[way.target], way) for tree, own in chain_kernel.items() for way in own]
    rows, columns = (np.array([one[end] for one in ways]) for end in (0, 1))
    probabilities = np.array([float(way.probability) for _, _, way in ways])
    factors = np.array([float(way.factor) for _, _, way in ways])
    logarithms = gamma * (scores[columns] - scores[rows]) + np.log(factors)
    accepted = probabilities * np.exp(np.minimum(0.0, logarithms))
    matrix = np.zeros((len(index), len(index)))
    np.add.at(matrix, (rows, columns), accepted)
    np.add.at(matrix, (rows, rows), probabilities - accepted)
    return matrix


def exact_posterior(scores: Sequence[float] | NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Return π(T) proportional to exp(γ · score(T)) over all given trees; scores in nats.

    The result is float64 of shape (N,) and sums to 1.
    """
    exponents = gamma * np.asarray(scores, dtype=np.float64)
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
