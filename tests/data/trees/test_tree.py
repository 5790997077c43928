from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.trees import tree
from syclade.host.ground.errors import TreeError
from syclade.quality.oracle import trees as oracle
from tests.support.tree_strategies import path_tree, trees


@pytest.mark.parametrize(
    ("parents", "words"),
    [
        ([1, 0, 2], "cycle"),
        ([1, 2, 0, 3], "cycle"),
        ([3, 2, 1, 3], "2 -> 1 -> 2"),
        ([0, 2, 2], "node 0 is its own parent"),
        ([2, 2, 1], "the root, node 2, has the parent 1"),
        ([-1, 2, 2], "node 0 has the parent -1"),
        ([3, 2, 2], "not in 0 to 2"),
        ([0], "n + 1 >= 2"),
        ([[1, 1]], "shape"),
        ([1.0, 1.0], "float64"),
        ([], "shape"),
    ],
)
def test_vectors_refused(parents: Any, words: str) -> None:
    with pytest.raises(TreeError) as caught:
        tree.validate_parents(parents)
    assert words in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@given(trees())
def test_valid_vectors_are_copied(parents: NDArray[np.int32]) -> None:
    checked = tree.validate_parents(parents.astype(np.int64)[::1])
    assert checked.dtype == np.int32
    assert checked is not parents
    np.testing.assert_array_equal(checked, parents)
    np.testing.assert_array_equal(tree.validate_parents(parents.tolist()), parents)


def accepted(check: Callable[[Any], object], row: Any) -> bool:
    """Return whether a check of one parent vector accepts it."""
    try:
        check(row)
    except TreeError:
        return False
    return True


@given(
    st.lists(st.lists(st.integers(-1, 4), min_size=4, max_size=4), max_size=3), st.lists(trees(4), max_size=3)
)
def test_many_vectors_are_checked_at_once(rows: list[list[int]], valid: list[NDArray[np.int32]]) -> None:
    rows += [one.tolist() for one in valid if len(one) == 4]
    vectors = np.array(rows, np.int32).reshape(-1, 4)
    assert tree.are_trees(vectors) == all(accepted(tree.validate_parents, row) for row in vectors)


@given(st.lists(st.integers(0, 5), min_size=5, max_size=5))
def test_validity_is_that_of_the_oracle(parents: list[int]) -> None:
    vector = [*parents, 5]
    try:
        oracle.parent_vector(vector)
    except ValueError:
        with pytest.raises(TreeError):
            tree.validate_parents(vector)
    else:
        tree.validate_parents(vector)


@given(trees())
def test_cycles_are_cycles(parents: NDArray[np.int32]) -> None:
    assert tree.find_cycle(parents) == []
    for node in range(len(parents) - 1):
        for lower in oracle.descendants(parents, node):
            broken = parents.copy()
            broken[node] = lower
            cycle = tree.find_cycle(broken)
            assert node in cycle
            assert all(broken[b] == a for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


@given(trees())
def test_walks_agree_with_the_oracle(parents: NDArray[np.int32]) -> None:
    n = len(parents) - 1
    order = tree.preorder(parents).tolist()
    assert sorted(order) == list(range(n + 1))
    assert order[0] == n
    for node in range(n + 1):
        below = oracle.descendants(parents, node)
        first = order.index(node)
        assert sorted(order[first : first + len(below)]) == below
        assert tree.children(parents)[node] == [c for c in range(n) if parents[c] == node]
        assert tree.depths(parents)[node] == len(oracle.path_to_root(parents, node)) - 1
    for siblings in tree.children(parents):
        assert [order.index(c) for c in siblings] == sorted(order.index(c) for c in siblings)
    np.testing.assert_array_equal(tree.ancestor_matrix(parents), oracle.ancestor_matrix(parents))


@given(trees())
def test_networkx(parents: NDArray[np.int32]) -> None:
    n = len(parents) - 1
    mutations = [f"g{i}" for i in range(n)]
    labels = [*mutations, "root"]
    graph = tree.to_networkx(parents, labels)
    assert networkx.is_arborescence(graph)
    assert graph.graph["root"] == "root"
    assert [graph.nodes[label]["index"] for label in labels] == list(range(n + 1))
    assert set(graph.edges) == {(labels[parents[i]], labels[i]) for i in range(n)}


def test_a_path_of_5000_nodes() -> None:
    parents = tree.validate_parents(path_tree(5000))
    assert tree.preorder(parents).tolist() == list(range(5000, -1, -1))
    assert tree.depths(parents)[0] == 5000
    assert tree.ancestor_matrix(parents).sum() == 5001 * 5002 // 2
    graph = tree.to_networkx(parents, [*(f"g{i}" for i in range(5000)), "root"])
    assert graph.number_of_edges() == 5000


def test_root_labels() -> None:
    assert tree.root_label(["1", "2"]) == "root"
    assert tree.root_label(["2", "1"]) == "root"
    assert tree.root_label(["root", "root_", "x"]) == "root__"
    assert tree.node_labels(["a"]) == ["a", "root"]
