"""Weights of mutations whose depth changes slowly, beside walks up the trees."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.support.slow_mutations import proposal_weights
from syclade.host.trees.levels import depths


def random_trees(generator: np.random.Generator, trees: int, mutations: int) -> NDArray[np.int32]:
    """Return trees in which a mutation is below one with a smaller number, or below the root."""
    above = generator.integers(-1, np.arange(mutations + 1), size=(trees, mutations + 1))
    above[:, mutations] = -1
    return np.where(above < 0, mutations, above).astype(np.int32)


@pytest.mark.parametrize("mutations", [1, 2, 30])
def test_depths_are_those_of_walks(mutations: int) -> None:
    trees = random_trees(np.random.default_rng(1), 20, mutations)
    for tree, found in zip(trees, depths(trees), strict=True):
        for v in range(mutations):
            steps, above = 1, tree[v]
            while above != mutations:
                steps, above = steps + 1, tree[above]
            assert found[v] == steps


def test_slow_mutations_are_proposed_more_often() -> None:
    """In chains of 512 trees, depths that stay for 9 trees have three times the weight; those of chains
    that differ, or never change, have the highest and the lowest."""
    generator = np.random.default_rng(2)
    chains = [generator.choice([4, 3], size=(512, 5)) for _ in range(4)]  # below the root or below 3
    for number, trees in enumerate(chains):
        trees[:, 1] = np.repeat(trees[: 512 // 8, 1], 9)[:512]
        trees[:, 2] = 3 if number % 2 else 4
        trees[:, 3:] = 4
    weights = proposal_weights(chains)
    assert weights[0] == pytest.approx(4, abs=1)
    assert weights[1] == pytest.approx(12, abs=3)
    assert weights[2] == pytest.approx(4 * 32**0.5, abs=1)
    assert weights[3] == 4


def test_a_few_trees_show_nothing() -> None:
    trees = random_trees(np.random.default_rng(3), 15, 5)
    assert proposal_weights([trees, trees]).tolist() == [4] * 5
