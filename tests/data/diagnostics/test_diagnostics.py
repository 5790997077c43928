"""Convergence diagnostics: checked against theory and slow definitions, and on stuck chains."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.diagnostics.numbers import bulk_ess, split_rhat
from syclade.host.data.diagnostics.trees import (
    _distance_at,
    _mean_distance,
    ancestor_spread,
    changes,
    frechet_ess,
)

GENERATOR = np.random.default_rng(5)


def autoregressive(chains: int, length: int, rho: float) -> NDArray[np.float64]:
    noise = GENERATOR.standard_normal((chains, length)) * np.sqrt(1 - rho**2)
    samples: NDArray[np.float64] = np.empty_like(noise)
    samples[:, 0] = GENERATOR.standard_normal(chains)
    for at in range(1, length):
        samples[:, at] = rho * samples[:, at - 1] + noise[:, at]
    return samples


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_is_that_of_theory(rho: float) -> None:
    samples = autoregressive(4, 20_000, rho)
    expected = samples.size * (1 - rho) / (1 + rho)
    assert bulk_ess(samples) == pytest.approx(expected, rel=0.15)
    assert split_rhat(samples) == pytest.approx(1.0, abs=0.01)


def test_chains_that_differ_are_told() -> None:
    samples = autoregressive(4, 1000, 0.0)
    samples[0] += 3
    assert split_rhat(samples) > 1.3
    assert bulk_ess(samples) < 20
    wider = autoregressive(4, 1000, 0.0) * np.array([[1.0], [1.0], [1.0], [6.0]])
    assert split_rhat(wider) > 1.1, "spread differs, not place"


def test_stuck_chains_are_worth_one_sample() -> None:
    assert bulk_ess(np.zeros((1, 1000))) == 1.0
    assert bulk_ess(np.repeat([[1.0], [2.0], [3.0]], 500, axis=1)) <= 3.0
    assert split_rhat(np.repeat([[1.0], [2.0]], 500, axis=1)) == np.inf
    assert np.isnan(split_rhat(np.zeros((2, 500))))
    assert np.isnan(bulk_ess(np.zeros((2, 3))))
    tree = np.array([3, 0, 1, 3], dtype=np.int32)
    assert frechet_ess(np.repeat(tree[None], 1000, axis=0)) == 1.0
    assert np.isnan(frechet_ess(tree[None]))


def random_trees(count: int, n: int) -> NDArray[np.int32]:
    trees = np.full((count, n + 1), n, dtype=np.int32)
    for tree in trees:
        order = GENERATOR.permutation(n)
        for at, node in enumerate(order):
            tree[node] = GENERATOR.choice([n, *order[:at]])
    return trees


def test_distances_are_those_of_pairs() -> None:
    trees = random_trees(40, 5)
    pairs = [[int((a != b).sum()) for b in trees] for a in trees]
    assert _mean_distance(trees) == pytest.approx(np.mean(pairs))
    assert _distance_at(trees, 3) == pytest.approx(np.mean([pairs[at][at + 3] for at in range(37)]))


@pytest.mark.statistical
def test_tree_sizes() -> None:
    independent = random_trees(2000, 6)
    assert frechet_ess(independent) == pytest.approx(2000, rel=0.15)
    assert frechet_ess(np.repeat(independent[:200], 10, axis=0)) == pytest.approx(200, rel=0.25)


def test_spread_of_frequencies() -> None:
    shares = np.zeros((2, 3, 3))
    assert np.isnan(ancestor_spread(shares))
    assert np.isnan(ancestor_spread(np.ones((1, 3, 3))))
    shares[0, 0, 1], shares[1, 0, 1] = 0.2, 0.6
    shares[:, 0, 2] = 0.5
    shares[0, 1, 2] = 0.05  # too rare
    assert ancestor_spread(shares) == pytest.approx((np.std([0.2, 0.6], ddof=1) + 0) / 2)


def test_changes_of_trees() -> None:
    trees = random_trees(50, 4)
    assert changes(trees) == sum(bool((a != b).any()) for a, b in pairwise(trees))
    assert changes(np.repeat(trees[:1], 50, axis=0)) == 0
    assert changes(trees[:1]) == 0
