"""Effective sample sizes of uncertain pairs, beside those of their definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.diagnostics.numbers import ROUGH, _are_above, bulk_ess, indicator_ess, pair_sizes

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
