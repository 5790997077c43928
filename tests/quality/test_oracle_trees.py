"""Enumeration of all trees of a few mutations, and queries on trees."""

import numpy as np
import pytest

from syclade.quality.oracle import trees


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_trees_are_trees_and_as_many_as_cayley_says(n: int) -> None:
    found = list(trees.all_trees(n))
    assert len(found) == len(set(found)) == (n + 1) ** (n - 1)
    assert all(trees.parent_vector(tree) == tree for tree in found)


def test_pruefer_code_of_a_known_tree() -> None:
    # 0 and 1 below 3, 2 below 4, 3 and 4 below the root 5: leaves 0, 1, 2, 3 are removed first.
    assert trees.from_pruefer([3, 3, 4, 5], 5) == (3, 3, 4, 5, 5, 5)


@pytest.mark.parametrize(
    "parents", [[0], [1, 0], [0, 1, 2], [1, 0, 2], [3, 2, 2], [-1, 2, 2], [1, 2, 0, 3], [1, 1, 1]]
)
def test_what_is_no_tree_is_refused(parents: list[int]) -> None:
    with pytest.raises(ValueError, match=r"parent|node"):
        trees.parent_vector(parents)


def test_no_tree_without_mutations() -> None:
    with pytest.raises(ValueError, match="at least one"):
        list(trees.all_trees(0))
    with pytest.raises(ValueError, match="entries"):
        trees.from_pruefer([], 0)


def test_ancestors_and_descendants_of_a_known_tree() -> None:
    parents = np.array([3, 3, 4, 5, 5, 5], dtype=np.int32)
    assert trees.path_to_root(parents, 0) == [0, 3, 5]
    assert trees.descendants(parents, 3) == [0, 1, 3]
    assert trees.non_descendants(parents, 3) == [2, 4, 5]
    assert trees.is_ancestor(parents, 2, 2)
    assert not trees.is_ancestor(parents, 4, 0)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_ancestor_matrix_is_the_closure_of_the_parents(n: int) -> None:
    for tree in trees.all_trees(n):
        below = np.eye(n + 1, dtype=int)
        below[list(tree), np.arange(n + 1)] = 1
        closure = np.linalg.matrix_power(below, n + 1) > 0
        np.testing.assert_array_equal(trees.ancestor_matrix(tree), closure)
