"""Walks over many trees at once, beside walks up one tree after the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.trees.tree import depths_of_trees, levels_of


def random_trees(generator: np.random.Generator, trees: int, mutations: int) -> NDArray[np.int32]:
    """Return trees in which a mutation is below one with a smaller number, or below the root."""
    above = generator.integers(-1, np.arange(mutations + 1), size=(trees, mutations + 1))
    above[:, mutations] = -1
    return np.where(above < 0, mutations, above).astype(np.int32)


@pytest.mark.parametrize("mutations", [1, 2, 30])
def test_depths_are_those_of_walks(mutations: int) -> None:
    trees = random_trees(np.random.default_rng(1), 20, mutations)
    for tree, found in zip(trees, depths_of_trees(trees), strict=True):
        for v in range(mutations):
            steps, above = 1, tree[v]
            while above != mutations:
                steps, above = steps + 1, tree[above]
            assert found[v] == steps


@pytest.mark.parametrize("mutations", [1, 2, 30])
def test_levels_have_every_node_once_at_its_depth(mutations: int) -> None:
    trees = random_trees(np.random.default_rng(2), 20, mutations)
    found = np.zeros((20, mutations), dtype=np.int64)
    for depth, level in enumerate(levels_of(trees), start=1):
        assert (found[level.trees, level.nodes] == 0).all()
        found[level.trees, level.nodes] = depth
        np.testing.assert_array_equal(level.parents, trees[level.trees, level.nodes])
    np.testing.assert_array_equal(found, depths_of_trees(trees))
