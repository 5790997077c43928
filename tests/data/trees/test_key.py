"""Tree keys: published numbers, and different keys for different trees."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from syclade.host.data.trees.tree import tree_key
from syclade.quality.oracle.trees import ParentVector, all_trees
from tests.support import tree_strategies
from tests.support.keys import slow_key, split_mix


def test_the_hash_is_split_mix_64() -> None:
    """Seed 0 gives the first number of every SplitMix64 implementation."""
    assert split_mix(0) == 0xE220A8397B1DCDAF


@given(tree_strategies.trees(12))
def test_the_key_is_that_of_the_definition(tree: ParentVector) -> None:
    assert tree_key(np.array(tree, np.int32)) == slow_key([int(parent) for parent in tree])


def test_all_small_trees_have_keys_of_their_own() -> None:
    trees = [tree for n in range(1, 6) for tree in all_trees(n)]
    assert len({slow_key(tree) for tree in trees}) == len(trees) == 1 + 3 + 16 + 125 + 1296
