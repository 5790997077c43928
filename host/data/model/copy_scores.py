"""Scores of cells in trees with a recurrent mutation, in float64 (docs/model.md, "Recurrence").

Matrices, problems and trees have the copy as their last mutation (`recurrence.with_copy`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment, log_likelihood_of_states, placing_weights
from syclade.host.data.model.doublets import Doublets, Mixture
from syclade.host.data.model.levels import Levels
from syclade.host.data.model.problem import Problem, SlotRates, make_problem
from syclade.host.data.model.rates import ObservationModel, entries_of
from syclade.host.data.model.recurrence import genotypes_of
from syclade.host.data.trees.tree import ancestor_matrix, preorder

__all__ = [
    "attach_with_copy",
    "call_doublets_with_copy",
    "log_likelihood_with_copy",
    "mixture_log_likelihood",
    "mixture_with_copy",
    "posteriors_with_copy",
    "summed_log_likelihood_with_copy",
    "with_best_copy",
]

Parents = NDArray[np.int32]


def with_best_copy(
    problem: Problem, parents: Parents, mutation: int, rank: int = 0, rates: SlotRates | None = None
) -> Parents:
    """Return a tree with the copy of a mutation as a leaf, where it raises the maximum score most.

    Args:
        problem: with the copy as its last mutation.
        parents: int32, shape (mutations + 1,): a valid parent vector, with the copy anywhere.
        mutation: number of the recurrent mutation.
        rank: how many better places to leave out; those that are left take turns.
        rates: None for the problem's own rates.
    """
    copy, root = problem.mutations - 1, problem.mutations
    tree = np.where(parents == copy, parents[copy], parents).astype(np.int32)
    tree[copy] = root
    has = ancestor_matrix(tree)[:-1]
    has[copy] = False
    weights = problem.weight_rows(rates).astype(np.float64)  # integers, so that sums in float64 are exact
    scores = has.T.astype(np.float64) @ weights
    flipped = scores + np.where(has[mutation], -1.0, 1.0)[:, None] * weights[mutation]
    gains = np.maximum(flipped - scores.max(axis=0), 0.0) @ problem.multiplicity
    places = [place for place in range(root + 1) if place not in (copy, mutation, int(tree[mutation]))]
    places.sort(key=lambda place: -gains[place])
    tree[copy] = places[rank % len(places)]
    return tree


class _Scores(NamedTuple):
    """Scores of columns at nodes, relative to the root: exact integers, or natural logs.

    Attributes:
        others: float64, shape (nodes, columns): score without the recurrent mutation.
        own: float64, shape (columns,): what the recurrent mutation adds where a node has it.
        has: bool, shape (nodes,): which nodes have it.
    """

    others: NDArray[np.float64]
    own: NDArray[np.float64]
    has: NDArray[np.bool_]

    def of_nodes(self) -> NDArray[np.float64]:
        """Return the scores at all nodes, (nodes, columns)."""
        return self.others + self.has[:, None] * self.own


def _scores(weights: NDArray[np.float64], parents: Parents, mutation: int) -> _Scores:
    """Return the scores by the weights of the entries, (mutations, columns)."""
    has = genotypes_of(parents, mutation)
    state = has[mutation].copy()
    has[mutation] = False
    return _Scores(has.T.astype(np.float64) @ weights, weights[mutation], state)


def attach_with_copy(
    matrix: Matrix, rates: ObservationModel, problem: Problem, parents: Parents, mutation: int
) -> Assignment:
    """Attach every cell to its best node, as `attach` does without a recurrence.

    Args:
        matrix, rates: the input that the problem was made of.
        problem: with the copy as its last mutation.
        parents: a valid parent vector, int32, shape (mutations + 1,).
        mutation: number of the recurrent mutation.
    """
    order = preorder(parents)
    # Integers below 2^53, so that sums in float64 are exact.
    rows, of = placing_weights(matrix, rates, problem)
    scores = _scores(rows.astype(np.float64), parents, mutation).of_nodes()[order]
    best = scores.argmax(axis=0)
    node, ties = order[best], (scores == scores.max(axis=0)).sum(axis=0).astype(np.int32)
    carried = genotypes_of(parents, mutation)[:, node]
    if isinstance(rates, Levels):
        found = log_likelihood_of_states(matrix, carried[:, of]).sum(axis=0)
        return Assignment(node[of], ties[of], found)
    table = rates.log_table()[list(problem.values)]
    log_likelihood = np.zeros(problem.columns)
    for code, (absent, present) in enumerate(table):
        seen = problem.observed == code
        log_likelihood += absent * (seen & ~carried).sum(axis=0) + present * (seen & carried).sum(axis=0)
    return Assignment(node[of], ties[of], log_likelihood[of])


def log_likelihood_with_copy(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int
) -> float:
    """Return the log-likelihood with every cell at its best node: natural log, float64.

    Args:
        matrix: from `with_copy`.
        rates, parents, mutation: as for `attach_with_copy`.
    """
    attached = attach_with_copy(matrix, rates, make_problem(matrix, rates), parents, mutation)
    return math.fsum(attached.log_likelihood.tolist())


def summed_log_likelihood_with_copy(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int
) -> float:
    """Return the sum over the cells of log Σ_v exp S[c, v], v over all nodes: natural log, float64.

    As without a recurrence, each node counts once, without a prior.

    Args:
        matrix, rates, parents, mutation: as for `log_likelihood_with_copy`.
    """
    entries = entries_of(matrix, rates)
    sums = np.logaddexp.reduce(_scores(entries.weights, parents, mutation).of_nodes(), axis=0)
    return math.fsum((entries.base + sums)[entries.column_of].tolist())


def posteriors_with_copy(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int, nodes: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the probability of each cell's node, given the tree and a uniform prior over its nodes.

    Args:
        matrix, rates, parents, mutation: as for `log_likelihood_with_copy`.
        nodes: int32, shape (cells,): the node of each cell.

    Returns:
        float64, shape (cells,).
    """
    entries = entries_of(matrix, rates)
    scores, of = _scores(entries.weights, parents, mutation).of_nodes(), entries.column_of
    own = scores[nodes, of] - np.logaddexp.reduce(scores, axis=0)[of]
    return np.asarray(np.exp(own))


def mixture_with_copy(matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int) -> Mixture:
    """Return the cells' likelihoods as single cells and as doublets, in O(n²) per distinct column.

    A doublet has the recurrent mutation if either of its two cells has it.

    Args:
        matrix, rates, parents, mutation: as for `log_likelihood_with_copy`.
    """
    return _all_pairs(matrix, rates, parents, mutation)[0]


def call_doublets_with_copy(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int, rate: float
) -> Doublets:
    """Return the calls of doublets, as `call_doublets` does without a recurrence."""
    mixture, first, second = _all_pairs(matrix, rates, parents, mutation)
    return Doublets(rate, mixture.probabilities(rate), first, second, mixture.relevant_rate(rate))


def _all_pairs(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int
) -> tuple[Mixture, NDArray[np.int32], NDArray[np.int32]]:
    """Return the mixture, and the pair of nodes with the best score of every cell, lower number first."""
    entries = entries_of(matrix, rates)
    scores, base = _scores(entries.weights, parents, mutation), entries.base
    nodes, columns = scores.others.shape
    above = ancestor_matrix(parents)
    pair = np.full(columns, -np.inf)
    relevant, best = pair.copy(), pair.copy()
    first, second = np.zeros((2, columns), dtype=np.int32)
    for node in range(nodes):
        of_pairs = _with_node(scores, parents, above, node)
        pair = np.logaddexp(pair, np.logaddexp.reduce(of_pairs, axis=0))
        separate = ~(above[node] | above[:, node])
        if separate.any():
            relevant = np.logaddexp(relevant, np.logaddexp.reduce(of_pairs[separate], axis=0))
        other = node + of_pairs[node:].argmax(axis=0)
        reached = of_pairs[other, np.arange(columns)]
        better = reached > best
        best[better], first[better], second[better] = reached[better], node, other[better]
    count, of = math.log(nodes), entries.column_of
    single = np.logaddexp.reduce(scores.of_nodes(), axis=0)
    mixture = Mixture(
        (base + single - count)[of], (base + pair - 2 * count)[of], (base + relevant - 2 * count)[of]
    )
    return mixture, first[of], second[of]


def _with_node(scores: _Scores, parents: Parents, above: NDArray[np.bool_], node: int) -> NDArray[np.float64]:
    """Return the scores of all pairs of a node and any other: float64, shape (nodes, columns)."""
    path = np.flatnonzero(above[:, node])
    meeting = np.full(len(parents), len(parents) - 1)
    for step in path[np.argsort(above[:, path].sum(axis=0))]:  # from the root down
        meeting[above[step]] = step
    others = scores.others[node] + scores.others - scores.others[meeting]
    either: NDArray[np.bool_] = scores.has | scores.has[node]
    return np.asarray(others + either[:, None] * scores.own)


def mixture_log_likelihood(
    matrix: Matrix, rates: ObservationModel, parents: Parents, mutation: int, rate: float
) -> float:
    """Return the log-likelihood of a tree with doublets: natural log, float64.

    Args:
        matrix, rates, parents, mutation: as for `log_likelihood_with_copy`.
        rate: rate of doublets.
    """
    return math.fsum(mixture_with_copy(matrix, rates, parents, mutation).log_likelihoods(rate).tolist())
