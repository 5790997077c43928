"""Assignments: the best node of a tree for each cell, or the best edge of a cell tree for each mutation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels, absent_logs, exact_weights, log_odds_of
from syclade.host.data.model.likelihood import log_likelihood_of_counts
from syclade.host.data.model.paths import blocks_of, column_counts, counts_on_paths, first_best, walk_of
from syclade.host.data.model.problem import LeafProblem, Problem
from syclade.host.data.model.rates import ObservationModel, Rates, scored_values
from syclade.host.data.trees.cells import clades, sums_below
from syclade.host.data.trees.tree import ancestor_matrix, preorder
from syclade.host.ground.values import freeze_arrays, short_repr

if TYPE_CHECKING:
    from syclade.host.data.model.doublets import Doublets
    from syclade.host.data.model.recurrence import Recurrence

__all__ = [
    "Assignment",
    "attach",
    "attach_cells",
    "best_nodes",
    "log_likelihood_of_states",
    "nearest_nodes",
    "place",
    "placing_weights",
]


@dataclass(frozen=True, eq=False)
class Assignment:
    """Best places: for cells, nodes of a mutation tree; for mutations, edges of a cell tree.

    The arrays are read-only; items are in the order of the matrix.

    Attributes:
        node: int32, shape (items,): the node, or the node below the edge. Of equally good ones it is the
            first in preorder, children in ascending order, so a node comes before its descendants.
        ties: int32, shape (items,): number of equally good nodes or edges, this one included.
        log_likelihood: float64, shape (items,): log-likelihood of the item at its place, natural log.
        posterior: float64, shape (items,): probability of the place given the tree, with a uniform prior over
            the nodes; None if it was not requested.
        doublets: which cells may be doublets; None if the model has none.
        recurrence: the recurrence of a mutation; None if the model has none.
    """

    node: NDArray[np.int32]
    ties: NDArray[np.int32]
    log_likelihood: NDArray[np.float64]
    posterior: NDArray[np.float64] | None = None
    doublets: Doublets | None = None
    recurrence: Recurrence | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, ("node", "ties", "log_likelihood", "posterior"))


def attach_cells(
    matrix: Matrix, rates: ObservationModel, problem: Problem, parents: NDArray[np.int32]
) -> Assignment:
    """Attach every cell to its best node of a tree, by calls (`attach`) or by the log odds of evidence.

    Args:
        matrix, rates: the input that the problem was made of.
        problem: n mutations.
        parents: a valid parent vector, int32, shape (n + 1,).
    """
    if isinstance(rates, Rates):
        return attach(problem, rates, parents)
    rows, column_of = placing_weights(matrix, rates, problem)
    node, ties = (found[column_of] for found in nearest_nodes(rows, parents))
    has = ancestor_matrix(parents)[:-1, node].astype(np.bool_)
    return Assignment(node, ties, log_likelihood_of_states(matrix, has).sum(axis=0))


def log_likelihood_of_states(matrix: Matrix, has: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the log-likelihood of each entry of evidence, in nats: float64, shape (n_mutations, n_cells).

    Args:
        matrix: a matrix with evidence.
        has: bool, of that shape: which cells have the mutation.
    """
    log_odds = log_odds_of(matrix)
    return np.asarray(absent_logs(log_odds) + np.where(has, log_odds, 0.0))


def best_nodes(problem: Problem, parents: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first best node in preorder of every cell, and the number of equally good ones.

    Nodes are compared by integers, so ties are exact and the same on every device: by the chain's scores, or
    by the log odds of evidence, as searches do.
    """
    rows = problem.weight_rows() if problem.log_odds is None else problem.log_odds
    node, ties = nearest_nodes(rows, parents)
    return node[problem.column_of], ties[problem.column_of]


def placing_weights(
    matrix: Matrix, rates: ObservationModel, problem: Problem
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]:
    """Return the integers by which cells and mutations are placed in a tree that was found.

    They are the chain's, but where its levels of evidence are not exact: then the log odds themselves.

    Args:
        matrix, rates: the input that the problem was made of.
        problem: the problem.

    Returns:
        int, shape (n, columns): what each mutation adds to a column's score; and the column of each cell.
    """
    if isinstance(rates, Rates) or rates.exact:
        return problem.weight_rows(), problem.column_of
    return exact_weights(matrix), np.arange(matrix.n_cells)


def nearest_nodes(
    rows: NDArray[np.signedinteger[Any]], parents: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first best node in preorder of each column, and the number of equally good ones.

    Args:
        rows: int, shape (n, columns): what each mutation adds to a column's score.
        parents: a valid parent vector, int32, shape (n + 1,).
    """
    mutations, columns = rows.shape
    score: NDArray[np.signedinteger[Any]] = np.zeros(columns, rows.dtype)
    best, ties = score.copy(), np.ones(columns, np.int32)
    node_of = np.full(columns, mutations, np.int32)
    path = [mutations]
    for node in preorder(parents).tolist()[1:]:
        while path[-1] != parents[node]:
            score -= rows[path.pop()]
        score += rows[node]
        path.append(node)
        better = score > best
        ties += score == best
        ties[better] = 1
        node_of[better] = node
        best[better] = score[better]
    return node_of, ties


def attach(problem: Problem, rates: Rates, parents: NDArray[np.int32]) -> Assignment:
    """Attach every cell of a problem to its best node of a tree.

    Nodes are compared by the chain's integer scores, so ties are exact and the same on every device. Of equal
    ones, the first in preorder is taken.

    Args:
        problem: n mutations.
        rates: the rates that the problem was made with.
        parents: a valid parent vector, int32, shape (n + 1,).
    """
    weights = np.array(problem.rates.weights[:-1], np.int32)
    walk = walk_of(parents)
    best_carried = np.empty((len(weights), problem.columns), np.int32)
    node_of, ties = (np.empty(problem.columns, np.int32) for _ in range(2))
    for columns in blocks_of(problem.columns, problem.nodes):
        carried = counts_on_paths(problem.observed[:, columns], walk, len(weights))
        scores = np.zeros(carried.shape[1:], np.int32)
        for weight, counts in zip(weights, carried, strict=True):
            scores += np.multiply(counts, weight, dtype=np.int32)
        best, place = first_best(scores)
        node_of[columns], ties[columns] = walk.order[place], column_counts(scores == best)
        best_carried[:, columns] = np.take_along_axis(carried, place[np.newaxis, np.newaxis], axis=1)[:, 0]
    of = problem.column_of
    return Assignment(node_of[of], ties[of], _log_likelihood(problem, rates, best_carried)[of])


def _log_likelihood(problem: Problem, rates: Rates, carried: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return each distinct column's log-likelihood (float64, natural log) from its carried counts."""
    table = rates.log_table()[list(problem.values)]
    in_all = np.stack([column_counts(problem.observed == code) for code in range(len(problem.values))])
    return np.asarray(table[:, 1] @ carried + table[:, 0] @ (in_all - carried))


def place(
    matrix: Matrix, rates: ObservationModel, problem: LeafProblem, parents: NDArray[np.int32]
) -> tuple[Assignment, float]:
    """Place every mutation on its best edge.

    Edges are compared by the chain's integer scores, so ties are exact and the same on every device; of
    evidence, by its log odds.

    Args:
        matrix, rates: the input that the problem was made of.
        problem: the problem with n mutations and m cells.
        parents: a valid cell tree, int32, shape (2m - 1,).

    Returns:
        The edge of every mutation, and the log-likelihood of the tree over all mutations: natural log; of
        calls, from counts of events.
    """
    order = preorder(parents)
    rows, column_of = placing_weights(matrix, rates, problem)
    sums = sums_below(parents, rows.astype(np.int64)[:, column_of].T)[order]
    node = order[sums.argmax(axis=0)]
    ties = (sums == sums.max(axis=0)).sum(axis=0)
    present = clades(parents)[node]
    if isinstance(rates, Levels):
        of_mutations = log_likelihood_of_states(matrix, present).sum(axis=1)
        found = Assignment(node.astype(np.int32), ties.astype(np.int32), of_mutations)
        return found, math.fsum(of_mutations.tolist())
    values = scored_values(matrix, rates)
    counts = np.array(
        [[((values == value) & (present == has)).sum(axis=1) for has in (False, True)] for value in range(4)]
    )
    log_likelihoods = (counts * rates.log_table()[:, :, np.newaxis]).sum(axis=(0, 1))
    total = log_likelihood_of_counts(counts.sum(axis=2), rates)
    return Assignment(node.astype(np.int32), ties.astype(np.int32), log_likelihoods), total
