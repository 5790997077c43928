"""Convergence diagnostics: checked against theory and slow definitions, and on stuck chains."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.diagnostics import ROUGH, _are_above, bulk_ess, indicator_ess, pair_sizes, split_rhat
from syclade.host.findings.samples.diagnostics import (
    _distance_at,
    _mean_distance,
    changes,
    frechet_ess,
    spread_of,
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
    assert np.isnan(spread_of(shares))
    assert np.isnan(spread_of(np.ones((1, 3, 3))))
    shares[0, 0, 1], shares[1, 0, 1] = 0.2, 0.6
    shares[:, 0, 2] = 0.5
    shares[0, 1, 2] = 0.05  # too rare
    assert spread_of(shares) == pytest.approx((np.std([0.2, 0.6], ddof=1) + 0) / 2)


def test_changes_of_trees() -> None:
    trees = random_trees(50, 4)
    assert changes(trees) == sum(bool((a != b).any()) for a, b in pairwise(trees))
    assert changes(np.repeat(trees[:1], 50, axis=0)) == 0
    assert changes(trees[:1]) == 0


SAMPLES = 1000


def walk(generator: np.random.Generator, stays: float) -> NDArray[np.int32]:
    """Return trees of a chain in which 0 is above 1 (root 2) or beside it, changing with 1 - `stays`."""
    is_above = np.cumsum(generator.random(SAMPLES) > stays) % 2
    trees = np.full((SAMPLES, 3), 2, dtype=np.int32)
    trees[is_above == 1, 1] = 0
    return trees


def shares_of(chains: list[NDArray[np.int32]]) -> NDArray[np.float64]:
    above = np.mean([chain[:, 1] == 0 for chain in chains])
    return np.array([[0.0, above], [0.0, 0.0]])


def test_ancestors_are_found_on_the_way_to_the_root() -> None:
    trees = np.array([[[3, 0, 1, 3], [3, 3, 3, 3]], [[1, 2, 3, 3], [2, 3, 1, 3]]], dtype=np.int32)
    found = _are_above(trees, np.array([0, 1]), np.array([2, 2]))
    np.testing.assert_array_equal(found, [[[1, 0], [0, 0]], [[1, 0], [0, 1]]])


@pytest.mark.parametrize("stays", [0.5, 0.9, 0.99])
def test_sizes_of_indicators_are_those_of_their_ranks(stays: float) -> None:
    generator = np.random.default_rng(1)
    samples = np.array([walk(generator, stays)[:, 1] == 0 for _ in range(4)], dtype=np.float64)
    assert indicator_ess(samples) == pytest.approx(bulk_ess(samples), rel=1e-9)


def test_slow_pairs_are_rough() -> None:
    generator = np.random.default_rng(2)
    fast, slow = ([walk(generator, stays) for _ in range(4)] for stays in (0.5, 0.995))
    of_fast, of_slow = (pair_sizes(chains, shares_of(chains), 10) for chains in (fast, slow))
    assert (of_fast.uncertain, len(of_fast.sizes), of_fast.rough) == (1, 1, 0)
    assert of_slow.rough == 1
    assert of_slow.lowest is not None
    assert of_slow.lowest < ROUGH


def test_every_other_sample_tells_as_much_of_slow_pairs() -> None:
    generator = np.random.default_rng(3)
    chains = [walk(generator, 0.99) for _ in range(4)]
    longer = [np.repeat(chain, 3, axis=0) for chain in chains]
    one, other = (pair_sizes(given, shares_of(given), 10).sizes[0] for given in (chains, longer))
    assert other == pytest.approx(one, rel=0.1)


def test_sure_pairs_are_not_measured() -> None:
    chains = [np.array([[2, 0, 2]] * 8, dtype=np.int32)] * 4
    found = pair_sizes(chains, shares_of(chains), 10)
    assert found.to_dict() == {"uncertain": 0, "measured": 0, "lowest_ess": None, "below_100": 0}


def test_most_pairs_are_spread_over_all() -> None:
    chains = [np.zeros((8, 6), dtype=np.int32)] * 4
    for chain in chains:
        chain[:] = 5
    found = pair_sizes(chains, np.full((5, 5), 0.5), 7)
    assert (found.uncertain, len(found.sizes)) == (25, 7)
