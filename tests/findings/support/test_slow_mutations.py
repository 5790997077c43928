"""Weights of mutations whose depth changes slowly, beside walks up the trees."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.findings.support.plan import proposal_weights
from tests.data.trees.test_levels import random_trees


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
