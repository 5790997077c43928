"""Relations of mutations and support of clones in samples, by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus import clone_tree, relations
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_support, clone_tree_of
from syclade.host.findings.consensus.relations import Relations, count_relations, count_unseparated
from tests.support.clone_trees import clone_trees, samples_of, sets_below


def in_blocks(trees: NDArray[np.int32], size: int) -> Callable[[], Iterable[NDArray[np.int32]]]:
    return lambda: (trees[first : first + size] for first in range(0, len(trees), size))


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_relations_are_counted(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "_TOGETHER", 8)
    trees = samples_of(n, 50, n)
    found = count_relations(in_blocks(trees, 13))
    above = np.sum([ancestor_matrix(tree)[:n, :n] & ~np.eye(n, dtype=bool) for tree in trees], axis=0)
    assert found.samples == 50
    np.testing.assert_array_equal(found.above, above)
    total = found.before + found.before.T + found.apart
    np.testing.assert_allclose(total, 1.0 - np.eye(n))
    with pytest.raises(ValueError, match="at least one"):
        count_relations(tuple)


@given(clone_trees(5), st.integers(0, 1000))
def test_support_is_the_share_of_trees_with_the_same_set(tree: CloneTree, seed: int) -> None:
    trees = samples_of(len(tree.clone_of), 40, seed)
    sets = [frozenset(sets_below(clone_tree_of(one))[1:]) for one in trees]
    found = clone_support(tree, in_blocks(trees, 11))
    assert found[0] == 1.0
    for clone, wanted in enumerate(sets_below(tree)[1:], start=1):
        assert found[clone] == sum(wanted in one for one in sets) / 40


def test_support_of_the_only_tree_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clone_tree, "_TOGETHER", 4)
    tree = samples_of(20, 1, 3)
    assert (clone_support(clone_tree_of(tree[0]), lambda: [np.repeat(tree, 9, axis=0)]) == 1.0).all()
    other = clone_support(clone_tree_of(samples_of(20, 1, 4)[0]), lambda: [tree])
    assert (other[1:] < 1.0).any()  # control


def test_orders_without_cells_between_are_counted() -> None:
    chain, fork = [3, 0, 1, 3], [3, 0, 0, 3]  # mutations 0 - 1 - 2, and 2 beside 1
    trees = np.array([chain, chain, chain, fork], dtype=np.int32)
    shares = np.array(
        [[0.2, 0.0, 0.3, 0.5], [0.2, 0.01, 0.3, 0.49], [0.2, 0.004, 0.3, 0.496], [0.2, 0.3, 0.3, 0.2]]
    )
    above = 10 * count_relations(lambda: [trees]).above
    few = count_unseparated(trees, shares, 100, above)
    expected = np.zeros((3, 3), dtype=np.int64)
    expected[1, 2] = 20  # in two of three trees fewer than half of 100 cells are at mutation 1
    np.testing.assert_array_equal(few, expected)
    assert (Relations(40, above, few).separated == above - expected).all()
