"""Probability of numbers of cells at the nodes of a tree, with shares integrated out, as it is defined."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from syclade.host.chains.shares import (
    CONCENTRATIONS,
    DOMINANT_CONCENTRATIONS,
    ROOT_CONCENTRATIONS,
)

__all__ = ["log_by_concentrations", "log_probabilities", "log_with_dominant"]


def log_by_concentrations(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-probability of cells in their order, under each pair of concentrations.

    Args:
        counts: int64, shape (rows, nodes), of the root at last.

    Returns:
        float64, shape (rows, concentrations of nodes, concentrations of the root).
    """
    node, root = np.array(CONCENTRATIONS)[:, None], np.array(ROOT_CONCENTRATIONS)
    others, own = counts[:, :-1, None], counts[:, -1, None]
    of_nodes = (gammaln(others + node[:, 0]) - gammaln(node[:, 0])).sum(axis=1)
    of_root = gammaln(own + root) - gammaln(root)
    total, together = counts.sum(axis=1)[:, None, None], node * (counts.shape[1] - 1) + root
    of_all = gammaln(together) - gammaln(together + total)
    return np.asarray(of_nodes[:, :, None] + of_root[:, None, :] + of_all)


def log_with_dominant(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-probability of cells in their order, where one node has a concentration of its own.

    Args:
        counts: int64, shape (rows, nodes), of the root at last.

    Returns:
        float64, shape (rows, concentrations of nodes, of the root, and of the dominant node, which it is).
    """
    nodes, total = counts.shape[1], counts.sum(axis=1)
    grids = (CONCENTRATIONS, ROOT_CONCENTRATIONS, DOMINANT_CONCENTRATIONS, range(nodes - 1))
    found = []
    for node, root, dominant, at in itertools.product(*grids):
        own = np.append(np.full(nodes - 1, node), root)
        own[at] = dominant
        of_nodes = (gammaln(counts + own) - gammaln(own)).sum(axis=1)
        found.append(of_nodes + gammaln(own.sum()) - gammaln(own.sum() + total))
    return np.array(found).T.reshape(len(counts), *map(len, grids))


def log_probabilities(counts: NDArray[np.int64], *, dominant: bool = False) -> NDArray[np.float64]:
    """Return the log of the mean over all concentrations, for each row of counts: float64, shape (rows,).

    Args:
        counts: int64, shape (rows, nodes), of the root at last.
        dominant: whether, with a probability of 1/2, one node has a concentration of its own.
    """
    distinct, which = np.unique(counts, axis=0, return_inverse=True)
    found = _log_mean(log_by_concentrations(distinct))
    if dominant:
        found = np.logaddexp(found, _log_mean(log_with_dominant(distinct))) - np.log(2.0)
    return np.asarray(found[which.ravel()])


def _log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    rows = logs.reshape(len(logs), -1)
    return np.asarray(np.logaddexp.reduce(rows, axis=1) - np.log(rows.shape[1]))
