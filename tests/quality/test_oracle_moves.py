"""Moves on every tree of up to five nodes, against their inverses and the ancestor-matrix rules."""

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.quality.oracle import moves, trees

SMALL_TREES = [tree for n in (1, 2, 3, 4) for tree in trees.all_trees(n)]
Ancestors = NDArray[np.bool_]


def pairs(tree: trees.ParentVector) -> list[tuple[int, int]]:
    return list(permutations(range(len(tree) - 1), 2))


def unrelated(tree: trees.ParentVector) -> list[tuple[int, int]]:
    return [
        (v, w)
        for v, w in pairs(tree)
        if not trees.is_ancestor(tree, v, w) and not trees.is_ancestor(tree, w, v)
    ]


def related(tree: trees.ParentVector) -> list[tuple[int, int, int]]:
    """Return all (lower, upper, descendant of lower)."""
    return [
        (v, w, t) for v, w in pairs(tree) if trees.is_ancestor(tree, w, v) for t in trees.descendants(tree, v)
    ]


def prunings(tree: trees.ParentVector) -> list[tuple[int, int]]:
    return [(v, t) for v in range(len(tree) - 1) for t in trees.non_descendants(tree, v)]


def prune_rule(old: Ancestors, v: int, t: int) -> Ancestors:
    """Apply ffSCITE's rule: nodes below v get the ancestors of t and keep those within the subtree."""
    moved = old[v]
    updated: Ancestors = np.where(moved[None, :], old[:, [t]] | (moved[:, None] & old), old)
    return updated


def label_rule(old: Ancestors, v: int, w: int) -> Ancestors:
    order = np.arange(len(old))
    order[[v, w]] = w, v
    updated: Ancestors = old[order][:, order]
    return updated


def unrelated_rule(old: Ancestors, v: int, w: int, parent_v: int, parent_w: int) -> Ancestors:
    below_v = prune_rule(old, v, parent_w)
    below_w = prune_rule(old, w, parent_v)
    return np.where(old[v][None, :], below_v, np.where(old[w][None, :], below_w, old))


def related_rule(old: Ancestors, v: int, w: int, t: int) -> Ancestors:
    """Apply the rule with the classes C = desc(v), B = desc(w) without C, A the rest."""
    in_c, in_b = old[v], old[w] & ~old[v]
    in_a = ~old[w]
    same = (np.outer(in_c, in_c) | np.outer(in_b, in_b)) | in_a[:, None]
    updated: Ancestors = (same & old) | (np.outer(in_c, in_b) & old[:, [t]])
    return updated


def find_parent(ancestors: Ancestors, w: int) -> int:
    """Return the only v above w whose ancestors are w's without w."""
    others = np.arange(len(ancestors)) != w
    found = [
        v
        for v in range(len(ancestors))
        if v != w and ancestors[v, w] and np.array_equal(ancestors[others, v], ancestors[others, w])
    ]
    assert len(found) == 1
    return found[0]


def test_parent_is_found_in_the_ancestor_matrix() -> None:
    for tree in SMALL_TREES:
        matrix = trees.ancestor_matrix(tree)
        assert [find_parent(matrix, w) for w in range(len(tree) - 1)] == list(tree[:-1])


def test_prune_and_reattach() -> None:
    for tree in SMALL_TREES:
        for v, t in prunings(tree):
            moved = trees.parent_vector(moves.prune_and_reattach(tree, v, t))
            assert moved[v] == t
            assert moves.prune_and_reattach(moved, v, tree[v]) == tree
            np.testing.assert_array_equal(
                trees.ancestor_matrix(moved), prune_rule(trees.ancestor_matrix(tree), v, t)
            )


def test_swap_labels() -> None:
    for tree in SMALL_TREES:
        for v, w in pairs(tree):
            moved = trees.parent_vector(moves.swap_labels(tree, v, w))
            assert moves.swap_labels(moved, w, v) == tree
            np.testing.assert_array_equal(
                trees.ancestor_matrix(moved), label_rule(trees.ancestor_matrix(tree), v, w)
            )


def test_swap_of_unrelated_subtrees() -> None:
    for tree in SMALL_TREES:
        for v, w in unrelated(tree):
            moved = trees.parent_vector(moves.swap_subtrees_unrelated(tree, v, w))
            assert (moved[v], moved[w]) == (tree[w], tree[v])
            assert moves.swap_subtrees_unrelated(moved, v, w) == tree
            rule = unrelated_rule(trees.ancestor_matrix(tree), v, w, tree[v], tree[w])
            np.testing.assert_array_equal(trees.ancestor_matrix(moved), rule)


def test_swap_of_related_subtrees_and_its_reverse() -> None:
    for tree in SMALL_TREES:
        for v, w, t in related(tree):
            moved = trees.parent_vector(moves.swap_subtrees_related(tree, v, w, t))
            np.testing.assert_array_equal(
                trees.ancestor_matrix(moved), related_rule(trees.ancestor_matrix(tree), v, w, t)
            )
            # For the inverse, w is the lower node, and v goes to its old parent, a node of B.
            assert moves.swap_subtrees_related(moved, w, v, tree[v]) == tree
            size_c, size_b = moves.neighbourhood_sizes(tree, v, w)
            assert moves.neighbourhood_sizes(moved, w, v) == (size_b, size_c)


def test_related_swap_of_a_known_tree() -> None:
    # root 5 - 0 - 1 - 2, with 3 below 0 and 4 below 2: C = {2, 4}, B = {0, 1, 3}
    tree = (5, 0, 1, 0, 2, 5)
    assert moves.swap_subtrees_related(tree, 2, 0, 4) == (4, 0, 5, 0, 2, 5)
    assert moves.neighbourhood_sizes(tree, 2, 0) == (2, 3)


def test_illegal_moves_are_refused() -> None:
    tree = (1, 2, 3, 3)  # a path, 0 the lowest
    for v, t in [(2, 0), (1, 1), (3, 0)]:
        with pytest.raises(ValueError, match=r"subtree|distinct"):
            moves.prune_and_reattach(tree, v, t)
    for v, w in [(1, 1), (0, 3)]:
        with pytest.raises(ValueError, match="distinct"):
            moves.swap_labels(tree, v, w)
    with pytest.raises(ValueError, match="lineage"):
        moves.swap_subtrees_unrelated(tree, 0, 2)
    with pytest.raises(ValueError, match="not an ancestor"):
        moves.swap_subtrees_related(tree, 2, 0, 2)
    with pytest.raises(ValueError, match="not a descendant"):
        moves.swap_subtrees_related(tree, 1, 2, 3)
