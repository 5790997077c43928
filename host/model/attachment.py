"""Attachment: the best node of a tree for every cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.model.problem import Problem
from syclade.host.model.rates import Rates
from syclade.host.trees.tree import preorder

__all__ = ["Attachments", "attach"]


@dataclass(frozen=True, eq=False)
class Attachments:
    """The best attachment of every cell, in the order of the matrix's columns.

    Attributes:
        node: int32, shape (cells,): the node; the root is n. Ties go to the first node in preorder, children
            in ascending order: a node comes before its descendants, the root before all others.
        ties: int32, shape (cells,): number of equally good nodes, this one included.
        log_likelihood: float64, shape (cells,): of the cell at its node, natural log.
        posterior: float64, shape (cells,): probability of the node given the tree, with a uniform prior over
            the nodes; None if it was not requested.
    """

    node: NDArray[np.int32]
    ties: NDArray[np.int32]
    log_likelihood: NDArray[np.float64]
    posterior: NDArray[np.float64] | None = None


def attach(problem: Problem, rates: Rates, parents: NDArray[np.int32]) -> Attachments:
    """Attach every cell of a problem to its best node of a tree.

    Nodes are compared by the chain's integer scores, so ties are exact and the same on every device. The walk
    in preorder keeps one count per class and distinct column, and subtracts the nodes that it leaves, so that
    memory does not grow with the tree.

    Args:
        problem: n mutations.
        rates: the rates that the problem was made with.
        parents: a valid parent vector, int32, shape (n + 1,).
    """
    weights = np.array(problem.rates.weights[:-1], np.int32)[:, np.newaxis]
    codes = np.arange(len(weights), dtype=np.uint8)[:, np.newaxis]
    carried = np.zeros((len(weights), problem.columns), np.int32)
    best_carried = carried.copy()
    best = np.zeros(problem.columns, np.int32)
    node_of = np.full(problem.columns, problem.mutations, np.int32)
    ties = np.ones(problem.columns, np.int32)
    path = [problem.mutations]
    for node in preorder(parents).tolist()[1:]:
        while path[-1] != parents[node]:
            carried -= problem.observed[path.pop()] == codes
        carried += problem.observed[node] == codes
        path.append(node)
        score = (weights * carried).sum(axis=0, dtype=np.int32)
        better = score > best
        ties += score == best
        ties[better] = 1
        node_of[better] = node
        best[better] = score[better]
        best_carried[:, better] = carried[:, better]
    of = problem.column_of
    return Attachments(node_of[of], ties[of], _log_likelihood(problem, rates, best_carried)[of])


def _log_likelihood(problem: Problem, rates: Rates, carried: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return each distinct column's log-likelihood (float64, natural log) from its carried counts."""
    table = rates.log_table()[list(problem.values)]
    in_all = np.stack([(problem.observed == code).sum(axis=0) for code in range(len(problem.values))])
    return np.asarray(table[:, 1] @ carried + table[:, 0] @ (in_all - carried))
