"""Bayes factors of a second place of a mutation: both sums are those over all trees and nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln

from syclade.host.answer.recurrence.sampled_factors import SampledCells, log_ratios
from syclade.host.data.model.recurrence import genotypes_of, is_allowed
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.oracle.trees import all_trees

MUTATION, N, CELLS = 1, 3, 3
ROOT = 4.0

VALUES = np.array([[1, 0, 3], [1, 0, 2], [0, 1, 1]], dtype=np.uint8)

TABLES = np.log(
    [
        [[0.93, 0.10], [0.05, 0.60], [0.02, 0.30], [1.0, 1.0]],
        [[0.93, 0.30], [0.05, 0.40], [0.02, 0.30], [1.0, 1.0]],
    ]
)
"""Logs of the probabilities of 0, 1, 2 and 3 without and with a mutation, at two rates of the tested one. The
others have the first."""


def trees_of(labels: int) -> Iterator[NDArray[np.int32]]:
    for tree in all_trees(labels):
        yield np.array(tree, dtype=np.int32)


def likelihoods(has: NDArray[np.bool_], rows: list[int], tables: list[int]) -> NDArray[np.float64]:
    """Return the probability of some rows of each cell at each node, (nodes, cells).

    Args:
        has: bool, shape (rows, nodes): which of these mutations each node has.
        rows, tables: the rows, and the table of each.
    """
    found = np.ones((has.shape[1], CELLS))
    for own, row, table in zip(has.astype(int), rows, tables, strict=True):
        found *= np.exp(TABLES[table][VALUES[row]].T[own])
    return found


def prior(nodes: tuple[int, ...], count: int, concentration: float) -> float:
    """Return the probability of the cells' nodes, with shares integrated out.

    The root, which comes last, has `ROOT` times the concentration of the others.
    """
    cells = np.bincount(nodes, minlength=count)
    alpha = np.array([concentration] * (count - 1) + [ROOT * concentration])
    own = (gammaln(cells + alpha) - gammaln(alpha)).sum()
    return math.exp(own + gammaln(alpha.sum()) - gammaln(alpha.sum() + CELLS))


def evidence(has: NDArray[np.bool_], concentration: float) -> float:
    """Return the probability of the matrix given a tree, summed over nodes of the cells and both rates."""
    count, total = has.shape[1], 0.0
    for rate in (0, 1):
        likely = likelihoods(has, [0, 1, 2], [0, rate, 0])
        for nodes in itertools.product(range(count), repeat=CELLS):
            total += prior(nodes, count, concentration) * np.prod(likely[list(nodes), range(CELLS)]) / 2
    return float(total)


def factor(concentration: float, *, constrained: bool = True) -> float:
    """Return the log Bayes factor by the definition."""
    plain = [evidence(ancestor_matrix(tree)[:-1], concentration) for tree in trees_of(N)]
    recurrent = [
        evidence(genotypes_of(tree, MUTATION)[:-1], concentration)
        for tree in trees_of(N + 1)
        if not constrained or is_allowed(tree, MUTATION)
    ]
    return math.log(np.mean(recurrent) / np.mean(plain))


def posterior(concentration: float) -> tuple[SampledCells, NDArray[np.float64]]:
    """Return all trees without a recurrence with all nodes of the cells, and the probability of each."""
    trees, nodes, weights = [], [], []
    for tree in trees_of(N):
        has = ancestor_matrix(tree)[:-1]
        likely = [likelihoods(has, [0, 1, 2], [0, rate, 0]) for rate in (0, 1)]
        for own in itertools.product(range(N + 1), repeat=CELLS):
            given = np.mean([np.prod(one[list(own), range(CELLS)]) for one in likely])
            trees.append(tree)
            nodes.append(own)
            weights.append(prior(own, N + 1, concentration) * given)
    count = len(trees)
    concentrations = np.tile([concentration, ROOT * concentration], (count, 1))
    cells = SampledCells(np.array(trees), np.array(nodes), concentrations)
    return cells, np.array(weights) / np.sum(weights)


@pytest.mark.parametrize("concentration", [0.25, 2.0])
def test_the_mean_ratio_is_the_bayes_factor(concentration: float) -> None:
    """The mean over the whole posterior without a recurrence is exact, and for no other model."""
    cells, weights = posterior(concentration)
    ratios = log_ratios(cells, MUTATION, VALUES[MUTATION], TABLES)
    found = math.log(np.exp(ratios) @ weights)
    assert found == pytest.approx(factor(concentration), abs=1e-9)
    assert abs(found - factor(concentration, constrained=False)) > 0.01
    assert abs(found - factor(2 * concentration)) > 0.001


def test_likelihoods_that_differ_by_hundreds_of_nats_are_added() -> None:
    """Of many cells, one sum is far above another, and neither is lost."""
    tree, cells = np.array([[2, 2, 2]], dtype=np.int32), 800
    nodes = np.repeat([0, 1], cells // 2)[None]
    values = np.ones(cells, dtype=np.uint8)
    at_one, at_two = (
        log_ratios(SampledCells(tree, nodes, np.ones((1, 2))), 0, values, TABLES[:rates]) for rates in (1, 2)
    )
    assert np.isfinite(at_one).all()
    assert at_two == pytest.approx(at_one, abs=1e-6), "the second rate explains nothing here"
