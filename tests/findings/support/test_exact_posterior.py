"""Support of a small matrix beside its posterior, summed over all trees; another posterior is rejected.

The posterior has shares of the cells at the nodes: a sum over all nodes of all cells, and all concentrations.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.model.likelihood import attachment_posteriors, log_likelihood, summed_log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import clones_of
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.support import rounds
from syclade.quality.oracle.trees import all_trees
from tests.support.dirichlet import log_probabilities

pytestmark = pytest.mark.statistical

N = 4
RATES = Rates(0.05, 0.3)
CELLS = 6
MADE = simulate(cells=CELLS, mutations=N, fp_rate=0.05, fn_rate=0.3, missing=0.2, seed=3).matrix
TREES = np.array([tree for tree in all_trees(N)], dtype=np.int32)
DEVIATIONS = 5.0


PLACES: NDArray[np.int64] = np.indices((N + 1,) * CELLS).reshape(CELLS, -1)
"""All ways to put the cells at nodes: shape (cells, ways)."""


def log_priors() -> NDArray[np.float64]:
    """Return the log-probability of each way to put the cells at nodes, with the shares integrated out."""
    counts = (np.arange(N + 1)[:, None, None] == PLACES).sum(axis=1)
    return log_probabilities(counts.T, dominant=True)


def log_likelihoods(tree: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the log-likelihood of each cell at each node: float64, shape (nodes, cells)."""
    table, has = RATES.log_table(), ancestor_matrix(tree)[:N]  # (mutation, node)
    values = MADE.values
    return np.array(
        [
            [sum(table[values[row, cell], int(has[row, node])] for row in range(N)) for cell in range(CELLS)]
            for node in range(N + 1)
        ]
    )


@cache
def with_shares() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability of each tree, and that of each node for each cell given the tree.

    Their shapes are (trees,) and (trees, nodes, cells).
    """
    priors, cells = log_priors(), np.arange(CELLS)[:, None]
    logs, at_node = np.empty(len(TREES)), np.empty((len(TREES), N + 1, CELLS))
    for number, tree in enumerate(TREES):
        ways = priors + log_likelihoods(tree)[PLACES, cells].sum(axis=0)
        logs[number] = np.logaddexp.reduce(ways)
        weights = np.exp(ways - logs[number])
        for cell in range(CELLS):
            at_node[number, :, cell] = np.bincount(PLACES[cell], weights, N + 1)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum(), at_node


def posterior(name: str) -> NDArray[np.float64]:
    """Return the probability of each tree: float64, shape (trees,)."""
    scores = {
        "sum": lambda tree: summed_log_likelihood(MADE, RATES, tree),
        "max": lambda tree: log_likelihood(MADE, RATES, tree),
    }
    logs = np.array([scores[name](tree) for tree in TREES])
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def expected(
    result: syclade.Result, shares: NDArray[np.float64], at_node: NDArray[np.float64] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Return what the support would be with all trees, each by its probability.

    Args:
        result: the result.
        shares: probability of each tree.
        at_node: probability of each node for each cell, (trees, nodes, cells); if nodes are equally probable
            a priori, None.
    """
    below = np.array([ancestor_matrix(tree)[:N, :N] for tree in TREES])
    own = ancestor_matrix(result.parents)[:N, :N]
    clades = [(below == own[node]).all(axis=2).any(axis=1) for node in range(N)]
    clone: dict[int, int] = {}
    for number, one in enumerate(clones_of(result.parents, result.attachment)):
        clone |= dict.fromkeys(one.mutations or (N,), number)
    cells = np.zeros(MADE.n_cells)
    for number, (tree, share) in enumerate(zip(TREES, shares, strict=True)):
        for at in range(N + 1):
            wanted = np.array([clone[at] == clone[int(node)] for node in result.attachment])
            every = np.full(MADE.n_cells, at, np.int32)
            uniform = attachment_posteriors(MADE, RATES, tree, every)
            cells += share * wanted * (uniform if at_node is None else at_node[number, at])
    return {
        "edges": shares @ (TREES[:, :N] == result.parents[:N]),
        "clades": np.array([shares @ clade for clade in clades]),
        "cells": cells,
        "before": np.einsum("t,tij->ij", shares, below & ~np.eye(N, dtype=bool)),
    }


def agree(
    result: syclade.Result, shares: NDArray[np.float64], at_node: NDArray[np.float64] | None = None
) -> bool:
    """Return whether all probabilities agree with those of all trees, within the error of the samples."""
    found = result.support
    assert found is not None
    size = found.sampled.tree_ess
    for name, exact in expected(result, shares, at_node).items():
        trees = min(size, 400.0) if name == "cells" else size  # of cells, at most 400 trees are used
        error = np.sqrt(exact * (1 - exact) / trees) + 1e-3
        if (np.abs(getattr(found, name) - exact) > DEVIATIONS * error).any():
            return False
    return True


def infer(**options: object) -> syclade.Result:
    return syclade.infer(MADE, fp_rate=0.05, fn_rate=0.3, device="native", **options)  # type: ignore[arg-type]


def test_support_is_that_of_all_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "ESS", 4000.0)  # the control's posterior is not far away
    result = infer()
    assert result.support is not None
    assert result.support.sampled.tree_ess > 1000
    assert agree(result, *with_shares())
    assert not agree(result, posterior("sum")), "the control has cells at uniformly random nodes"
    assert not agree(result, posterior("max")), "the control has another posterior"
