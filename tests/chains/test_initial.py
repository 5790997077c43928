"""Initial trees: uniform, valid, and fixed by seed and chain."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from syclade.host.data.trees.tree import initial_parents, parents_from_pruefer, validate_parents
from syclade.quality.oracle.draws import philox
from syclade.quality.oracle.trees import all_trees, from_pruefer


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_code_is_another_tree(n: int) -> None:
    codes = list(product(range(n + 1), repeat=n - 1))
    trees = [tuple(parents_from_pruefer(list(code), n).tolist()) for code in codes]
    assert trees == [from_pruefer(code, n) for code in codes]
    assert set(trees) == set(all_trees(n))
    assert len(set(trees)) == (n + 1) ** (n - 1)


def test_long_codes_are_the_oracles() -> None:
    rng = np.random.default_rng(4)
    for n in (30, 65, 130):
        for _ in range(5):
            code = rng.integers(0, n + 1, n - 1).tolist()
            made = parents_from_pruefer(code, n)
            assert made.dtype == np.int32
            assert tuple(made.tolist()) == from_pruefer(code, n)


@pytest.mark.statistical
def test_uniform_over_the_trees_of_three_mutations() -> None:
    size = 8000
    seen = Counter(tuple(initial_parents(3, 11, chain).tolist()) for chain in range(size))
    assert set(seen) == set(all_trees(3))
    assert stats.chisquare(list(seen.values())).pvalue > 0.001


@pytest.mark.statistical
def test_uniform_over_seeds() -> None:
    """Check uniformity when the seed varies and the chain is fixed."""
    size = 8000
    seen = Counter(tuple(initial_parents(3, seed, 0).tolist()) for seed in range(size))
    assert stats.chisquare([seen[tree] for tree in all_trees(3)]).pvalue > 0.001


@pytest.mark.parametrize("n", [1, 2, 5, 64, 200])
def test_trees_are_trees(n: int) -> None:
    for chain in (0, 1, 2**32 - 1):
        tree = initial_parents(n, 2**64 - 1, chain)
        assert tree.shape == (n + 1,)
        np.testing.assert_array_equal(validate_parents(tree), tree)


def test_seed_and_chain_fix_the_tree() -> None:
    def tree(seed: int, chain: int) -> tuple[int, ...]:
        return tuple(initial_parents(40, seed, chain).tolist())

    assert tree(1, 0) == tree(1, 0)
    # Both halves of the seed are used.
    assert len({tree(seed, chain) for seed in (0, 1, 2**32, 2**63) for chain in (0, 1, 2)}) == 12


def test_the_words_are_of_their_own_domain() -> None:
    """Check the counter (block, 0, chain, 1); a step never uses it, since its last word is 0."""
    n, seed, chain = 11, 2**40 + 5, 6
    key = (seed & 0xFFFFFFFF, seed >> 32)
    words = [word for block in range(3) for word in philox((block, 0, chain, 1), key)]
    code = [word * (n + 1) >> 32 for word in words[: n - 1]]
    assert tuple(initial_parents(n, seed, chain).tolist()) == from_pruefer(code, n)
