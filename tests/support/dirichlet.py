"""Probability of numbers of cells at the nodes of a tree, with shares integrated out, as it is defined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from syclade.host.chains.share_draws import CONCENTRATIONS, ROOT_CONCENTRATIONS

__all__ = ["log_by_concentrations", "log_probabilities"]


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


def log_probabilities(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log of the mean over all concentrations, for each row of counts: float64, shape (rows,)."""
    distinct, which = np.unique(counts, axis=0, return_inverse=True)
    logs = np.logaddexp.reduce(log_by_concentrations(distinct).reshape(len(distinct), -1), axis=1)
    return np.asarray(logs[which.ravel()] - np.log(len(CONCENTRATIONS) * len(ROOT_CONCENTRATIONS)))
