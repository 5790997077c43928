"""Probabilities that a mutation seeds a group of cells, against all trees and all attachments."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.cells import seeding_probabilities
from syclade.host.ground.errors import MatrixError
from syclade.quality.oracle.trees import all_trees

MADE = simulate(4, 3, 0.05, 0.3, 0.1, 2)
RATES = Rates(0.05, 0.3)
TREES = [np.array(tree, dtype=np.int32) for tree in all_trees(3)]
GROUPS = [np.array(group) for group in itertools.product((False, True), repeat=4)]


SHARES = np.random.default_rng(1).dirichlet(np.full(4, 0.5), len(TREES))


@pytest.mark.parametrize("shares", [None, SHARES], ids=["equal", "sampled"])
def test_they_are_those_of_all_attachments(shares: NDArray[np.float64] | None) -> None:
    table, values = RATES.log_table(), MADE.matrix.values
    expected = {tuple(group): np.zeros(3) for group in GROUPS}
    for at, tree in enumerate(TREES):
        has = ancestor_matrix(tree)[:3].astype(int)  # (mutation, node)
        prior = np.ones(4) if shares is None else shares[at]
        weights, ways = [], []
        for nodes in itertools.product(range(4), repeat=4):
            own = has[:, list(nodes)]
            weights.append(np.exp(table[values, own].sum()) * prior[list(nodes)].prod())
            ways.append(own.astype(bool))
        for weight, own in zip(weights, ways, strict=True):
            for mutation in range(3):
                expected[tuple(own[mutation])][mutation] += weight / sum(weights) / len(TREES)
    for group in GROUPS:
        found = seeding_probabilities(TREES, MADE.matrix, RATES, group, shares=shares)
        np.testing.assert_allclose(found, expected[tuple(group)], rtol=1e-9)


def test_they_have_the_shares_of_the_samples() -> None:
    """The shares of the chains for support go into the consensus."""
    result = syclade.infer(
        simulate(30, 4, 1e-3, 0.1, 0.0, 1).matrix, fp_rate=1e-3, fn_rate=0.1, device="native"
    )
    assert result.consensus is not None
    assert result.consensus.shared is not None
    assert len(result.consensus.shared.trees) <= 1000
    np.testing.assert_allclose(result.consensus.shared.shares.sum(axis=1), 1.0, atol=1e-3)
    names = result.cells[:5]
    found = result.consensus.seeding(names)
    even = dataclasses.replace(result.consensus, shared=None).seeding(names)
    assert found != even


def test_groups_are_exclusive() -> None:
    total = sum(seeding_probabilities(TREES, MADE.matrix, RATES, group) for group in GROUPS)
    np.testing.assert_allclose(total, 1.0)


@pytest.mark.statistical
def test_a_clear_group_is_seeded_by_its_mutation() -> None:
    made = simulate(30, 8, 1e-3, 0.05, 0.0, 1)
    result = syclade.infer(
        made.matrix,
        fp_rate=1e-3,
        fn_rate=0.05,
        score="sum",
        chains=2,
        steps=4000,
        samples=20,
        device="native",
        seed=1,
    )
    assert result.consensus is not None
    group = made.truth[3].astype(bool)
    names = [result.cells[cell] for cell in np.flatnonzero(group).tolist()]
    found = result.consensus.seeding(names)
    same = {f"M{row + 1}" for row in range(8) if (made.truth[row].astype(bool) == group).all()}
    assert next(iter(found)) in same
    assert max(found[name] for name in same) > 0.4
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert max(result.consensus.seeding(names[1:]).values()) < max(found.values())  # control: another group
    with pytest.raises(MatrixError, match="no cell 'nobody'"):
        result.consensus.seeding(["nobody"])
