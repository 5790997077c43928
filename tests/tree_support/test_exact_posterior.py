"""Support of a small matrix beside its posterior, summed over all trees; another posterior is rejected."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.model.doublets import doublet_log_likelihood
from syclade.host.model.likelihood import log_likelihood
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate
from syclade.host.model.summed import attachment_posteriors, summed_log_likelihood
from syclade.host.trees.clones import clones_of
from syclade.host.trees.tree import ancestor_matrix
from syclade.quality.oracle.trees import all_trees

pytestmark = pytest.mark.statistical

N = 4
RATES = Rates(0.05, 0.3)
MADE = simulate(cells=7, mutations=N, fp_rate=0.05, fn_rate=0.3, missing=0.2, seed=3).matrix
TREES = np.array([tree for tree in all_trees(N)], dtype=np.int32)
DEVIATIONS = 5.0


def posterior(name: str, doublets: float = 0.0) -> NDArray[np.float64]:
    """Return the probability of each tree: float64, shape (trees,)."""
    scores = {
        "sum": lambda tree: summed_log_likelihood(MADE, RATES, tree),
        "max": lambda tree: log_likelihood(MADE, RATES, tree),
        "doublets": lambda tree: doublet_log_likelihood(MADE, RATES, tree, doublets),
    }
    logs = np.array([scores[name](tree) for tree in TREES])
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def expected(result: syclade.Result, shares: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return what the support would be with all trees, each by its probability."""
    below = np.array([ancestor_matrix(tree)[:N, :N] for tree in TREES])
    own = ancestor_matrix(result.parents)[:N, :N]
    clades = [(below == own[node]).all(axis=2).any(axis=1) for node in range(N)]
    clone: dict[int, int] = {}
    for number, one in enumerate(clones_of(result.parents, result.attachment)):
        clone |= dict.fromkeys(one.mutations or (N,), number)
    cells = np.zeros(MADE.n_cells)
    for tree, share in zip(TREES, shares, strict=True):
        for at in range(N + 1):
            wanted = np.array([clone[at] == clone[int(node)] for node in result.attachment])
            every = np.full(MADE.n_cells, at, np.int32)
            cells += share * wanted * attachment_posteriors(MADE, RATES, tree, every)
    return {
        "edges": shares @ (TREES[:, :N] == result.parents[:N]),
        "clades": np.array([shares @ clade for clade in clades]),
        "cells": cells,
        "before": np.einsum("t,tij->ij", shares, below & ~np.eye(N, dtype=bool)),
    }


def agree(result: syclade.Result, shares: NDArray[np.float64]) -> bool:
    """Return whether all probabilities agree with those of all trees, within the error of the samples."""
    found = result.support
    assert found is not None
    size = found.sampled.tree_ess
    for name, exact in expected(result, shares).items():
        trees = min(size, 400.0) if name == "cells" else size  # of cells, at most 400 trees are used
        error = np.sqrt(exact * (1 - exact) / trees) + 1e-3
        if (np.abs(getattr(found, name) - exact) > DEVIATIONS * error).any():
            return False
    return True


def infer(**options: object) -> syclade.Result:
    return syclade.infer(MADE, fp_rate=0.05, fn_rate=0.3, device="native", **options)  # type: ignore[arg-type]


def test_support_is_that_of_all_trees() -> None:
    result = infer()
    assert result.support is not None
    assert result.support.enough
    assert agree(result, posterior("sum"))
    assert not agree(result, posterior("max")), "the control has another posterior"


def test_support_with_doublets_is_that_of_their_score() -> None:
    result = infer(doublets=0.3)
    assert result.support is not None
    assert result.support.sampled.tree_ess > 400
    shares = posterior("doublets", 0.3)
    edges = expected(result, shares)["edges"]
    error = DEVIATIONS * np.sqrt(edges * (1 - edges) / result.support.sampled.tree_ess) + 1e-3
    assert (np.abs(result.support.edges - edges) < error).all()
    other = expected(result, posterior("sum"))["edges"]
    assert not (np.abs(result.support.edges - other) < error).all(), "the control has no doublets"
