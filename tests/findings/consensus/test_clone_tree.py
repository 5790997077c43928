"""Clone trees: their numbering, their relations by definition, and their Newick form."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.trees.newick import from_newick, to_newick
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of, make_clone_tree
from syclade.host.findings.consensus.tables import (
    clone_labels,
    clone_newick,
    clone_tree_from_newick,
    separator_of,
)
from syclade.host.ground.errors import TreeError
from tests.support.clone_trees import all_clone_trees, clone_trees, sets_below
from tests.support.tree_strategies import trees

NAMES = tuple(f"M{number}" for number in range(1, 9))


def parts_of(tree: CloneTree) -> set[tuple[frozenset[int], frozenset[int]]]:
    """Return the own mutations of each clone, and those of its parent."""
    own = [frozenset(members) for members in tree.members]
    return {(own[clone], own[parent]) for clone, parent in enumerate(tree.parents.tolist()) if clone}


@given(clone_trees())
def test_relations_are_those_of_sets(tree: CloneTree) -> None:
    below, n = sets_below(tree), len(tree.clone_of)
    before = np.zeros((n, n), dtype=bool)
    for x in range(n):
        for y in range(n):
            before[x, y] = tree.clone_of[x] != tree.clone_of[y] and y in below[tree.clone_of[x]]
    np.testing.assert_array_equal(tree.before, before)
    same = tree.clone_of[:, None] == tree.clone_of[None, :]
    np.testing.assert_array_equal(tree.apart, ~(before | before.T | same))
    for clone, end in enumerate(tree.ends.tolist()):
        assert {x for x in range(n) if clone <= tree.clone_of[x] < end} == below[clone]


@given(clone_trees(), st.data())
def test_numbers_of_clones_follow_from_the_tree(tree: CloneTree, data: st.DataObject) -> None:
    """The same tree with other numbers, and empty clones, becomes equal; parents come first."""
    number = [0, *data.draw(st.permutations(range(1, tree.clones)))]
    parents = [0] * tree.clones
    for clone, parent in enumerate(tree.parents.tolist()):
        parents[number[clone]] = number[parent]
    again = make_clone_tree([number[clone] for clone in tree.clone_of.tolist()], [*parents, 0, 1])
    np.testing.assert_array_equal(again.clone_of, tree.clone_of)
    np.testing.assert_array_equal(again.parents, tree.parents)
    assert (tree.parents[1:] < np.arange(1, tree.clones)).all()
    assert all(members for members in tree.members[1:])


@given(trees())
def test_a_mutation_tree_has_the_same_relations(parents: NDArray[np.int32]) -> None:
    n = len(parents) - 1
    above = ancestor_matrix(parents)[:n, :n] & ~np.eye(n, dtype=bool)
    np.testing.assert_array_equal(clone_tree_of(parents).before, above)


def test_all_clone_trees_are_counted() -> None:
    """Sum over k of S(n, k) (k + 1)^(k - 1): partitions into k clones, times trees of k clones."""
    for n, count in ((1, 1), (2, 4), (3, 26), (4, 243)):
        found = {frozenset(parts_of(tree)) for tree in all_clone_trees(n)}
        assert len(found) == len(list(all_clone_trees(n))) == count


@given(clone_trees(), st.data())
def test_newick_is_read_back(tree: CloneTree, data: st.DataObject) -> None:
    names = tuple(data.draw(st.lists(st.text("a|1' [", min_size=1), min_size=8, max_size=8, unique=True)))
    names = names[: len(tree.clone_of)]
    support = np.linspace(0.0, 1.0, tree.clones)
    text = clone_newick(tree, names, support)
    assert text.count("[&support=") >= tree.clones - 1
    again = clone_tree_from_newick(text, names)
    np.testing.assert_array_equal(again.clone_of, tree.clone_of)
    np.testing.assert_array_equal(again.parents, tree.parents)


def test_newick_of_an_example() -> None:
    tree = make_clone_tree([1, 1, 2, 3], [0, 0, 1, 0])
    text = clone_newick(tree, NAMES[:4], np.array([1.0, 0.98, 0.5, 1 / 3]))
    assert text == "((M3[&support=0.5])'M1|M2'[&support=0.98],M4[&support=0.333])root;\n"
    assert clone_labels(tree, NAMES[:4]) == ["root", "M1|M2", "M3", "M4"]
    assert separator_of(["a", "b|c"]) == "|1|"
    with pytest.raises(TreeError, match=r"'M1\|M2'(.|\n)*a node has several mutations"):
        from_newick(text, NAMES[:4])


@given(trees(8))
def test_without_clones_other_readers_read_it(parents: NDArray[np.int32]) -> None:
    names = NAMES[: len(parents) - 1]
    text = clone_newick(clone_tree_of(parents), names, np.ones(len(parents)))
    np.testing.assert_array_equal(from_newick(text, names), parents)
    assert re.sub(r"\[[^\]]*\]", "", text).count("M") == to_newick(parents, names).count("M")


def test_quotes_are_optional() -> None:
    assert clone_tree_from_newick("(A|B,C)root;", ("A", "B", "C")).members == [[], [0, 1], [2]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("('A|X',B,C)root;", "not among the matrix's 3 mutations: 'X'"),
        ("('A|B',B,C)root;", "'B' is in two clones"),
        ("('A|B')root;", "the mutation 'C' is missing"),
        ("('A|B',C;", "not closed"),
    ],
)
def test_wrong_trees_are_refused(text: str, words: str) -> None:
    with pytest.raises(TreeError, match=words):
        clone_tree_from_newick(text, ("A", "B", "C"))
