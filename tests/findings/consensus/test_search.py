"""Search for the clone tree with the highest gain: every move against the definition, and enumeration."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.findings.consensus.claims import improbable_claims
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of
from syclade.host.findings.consensus.find_consensus import consensus_tree
from syclade.host.findings.consensus.relations import count_relations
from syclade.host.findings.consensus.search import (
    Gains,
    Thresholds,
    best_clone_tree,
    best_place,
    gain_of,
    gains_of,
    improved,
    moved,
    parts_at,
)
from tests.support.clone_trees import all_clone_trees, clone_trees, samples_of, sets_below

THRESHOLDS = st.sampled_from([0.0, 0.2, 0.35, 0.5, 0.6, 0.8, 1.0])


def gains_at(n: int, seed: int, before: float, apart: float, count: int = 15) -> Gains:
    trees = samples_of(n, count, seed)
    return gains_of(count_relations(lambda: [trees]), Thresholds(before, apart))


@given(clone_trees(6), st.integers(0, 999), THRESHOLDS, THRESHOLDS)
def test_the_gain_is_the_expected_one(tree: CloneTree, seed: int, before: float, apart: float) -> None:
    """It is the sum of probability minus threshold over all claims, counted in the samples one by one."""
    n = len(tree.clone_of)
    samples = [clone_tree_of(one) for one in samples_of(n, 15, seed)]
    gain = 0.0
    for x in range(n):
        for y in range(n):
            if tree.before[x, y]:
                gain += np.mean([one.before[x, y] for one in samples]) - before
            if x < y and tree.apart[x, y]:
                gain += np.mean([one.apart[x, y] for one in samples]) - apart
    assert gain_of(tree, gains_at(n, seed, before, apart)) / 15_000 == pytest.approx(gain, abs=1e-9)


@given(clone_trees(6), st.integers(0, 999), st.booleans())
def test_improbable_claims_are_those_of_fewer_than_half_of_the_samples(
    tree: CloneTree, seed: int, none_tells: bool
) -> None:
    n = len(tree.clone_of)
    trees = samples_of(n, 15, seed)
    samples = [clone_tree_of(one) for one in trees]
    unobserved = np.zeros((n, n), dtype=bool)
    unobserved[0] = unobserved[:, 0] = none_tells
    expected = {}
    for x in range(n):
        for y in range(n):
            for name in ("before", "apart") if x < y else ("before",):
                share = np.mean([getattr(one, name)[x, y] for one in samples])
                if getattr(tree, name)[x, y] and share < 0.5 and not (none_tells and 0 in (x, y)):
                    expected[name, x, y] = share
    found = improbable_claims(tree, count_relations(lambda: [trees]), unobserved if none_tells else None)
    assert {(one.relation, one.first, one.second): one.probability for one in found} == expected
    assert [one.probability for one in found] == sorted(expected.values())


@given(clone_trees(), st.integers(0, 999), THRESHOLDS, THRESHOLDS)
def test_a_move_gains_what_it_says(tree: CloneTree, seed: int, before: float, apart: float) -> None:
    """The result is a tree of the same mutations, and the gain is that of its recomputation."""
    n = len(tree.clone_of)
    gains = gains_at(n, seed, before, apart)
    own = gain_of(tree, gains)
    for mutation in range(n):
        for part in parts_at(tree, gains, mutation):
            place = best_place(tree, gains, part)
            other = moved(tree, part, place)
            assert place.gain >= 0
            assert gain_of(other, gains) - own == place.gain
            assert (other.parents[1:] < np.arange(1, other.clones)).all()
            assert all(other.members[1:])
            assert len(sets_below(other)[0]) == n


@given(clone_trees(5), st.integers(0, 999), THRESHOLDS, THRESHOLDS)
def test_no_place_of_one_mutation_is_better(tree: CloneTree, seed: int, before: float, apart: float) -> None:
    """Among all trees that differ in the place of one mutation only, the move finds the best."""
    n = len(tree.clone_of)
    gains = gains_at(n, seed, before, apart)
    if n == 5:  # all trees of five mutations are many
        return
    everything = list(all_clone_trees(n))
    for mutation in range(n):
        others = [one for one in range(n) if one != mutation]
        inner = np.ix_(others, others)

        def same(one: CloneTree, inner: Any = inner) -> bool:
            return bool(
                (one.before[inner] == tree.before[inner]).all()
                and (one.apart[inner] == tree.apart[inner]).all()
            )

        best = max(gain_of(one, gains) for one in everything if same(one))
        part = next(parts_at(tree, gains, mutation))
        assert best_place(tree, gains, part).gain == best - gain_of(tree, gains)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_small_optima_are_those_of_all_clone_trees(n: int) -> None:
    everything = list(all_clone_trees(n))
    starts = 0
    for seed in range(40):
        generator = np.random.default_rng([n, seed])
        before, apart = generator.choice([0.2, 0.35, 0.5, 0.6, 0.8], 2).tolist()
        count = int(generator.integers(1, 9))
        gains, trees = gains_at(n, seed, before, apart, count), samples_of(n, count, seed)
        best = max(gain_of(tree, gains) for tree in everything)
        assert gain_of(best_clone_tree(list(map(clone_tree_of, trees)), gains), gains) == best
        starts += max(gain_of(clone_tree_of(tree), gains) for tree in trees) < best
    assert starts > 5 or n == 1  # control: sampled trees are seldom the optimum


def test_the_search_ends_where_no_move_gains() -> None:
    gains = gains_at(25, 3, 0.35, 0.4, 60)
    start = clone_tree_of(samples_of(25, 1, 8)[0])
    tree = improved(start, gains)
    assert gain_of(tree, gains) > gain_of(start, gains)
    for mutation in range(25):
        assert all(best_place(tree, gains, part).gain == 0 for part in parts_at(tree, gains, mutation))


def test_a_search_may_end_at_a_tree_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the moves that it took before, but does not try all of them at the end again."""
    gains, start = gains_at(25, 3, 0.35, 0.4, 60), clone_tree_of(samples_of(25, 1, 8)[0])
    tried = Mock(wraps=best_place)
    monkeypatch.setattr("syclade.host.findings.consensus.search.best_place", tried)
    tree, whole = improved(start, gains), tried.call_count
    other = clone_tree_of(samples_of(25, 1, 9)[0])
    assert improved(start, gains, [other, tree]).is_equal(tree)
    assert not tree.is_equal(other)
    assert tried.call_count - whole < whole - 25


def test_equal_samples_have_the_consensus_of_their_tree() -> None:
    tree = samples_of(40, 1, 5)
    relations = count_relations(lambda: [np.repeat(tree, 7, axis=0)])
    other = samples_of(40, 1, 6)[0]
    found, gain = consensus_tree(lambda: [tree] * 7, other, relations, Thresholds(0.6, 0.6))
    np.testing.assert_array_equal(found.clone_of, clone_tree_of(tree[0]).clone_of)
    np.testing.assert_array_equal(found.parents, clone_tree_of(tree[0]).parents)
    assert gain == pytest.approx(0.4 * 40 * 39 / 2)


def test_an_order_that_nothing_orders_is_left_open() -> None:
    """Half of the samples have 0 above 1, half 1 above 0; 2 is below both, 3 apart."""
    one, two = [4, 0, 1, 4, 4], [1, 4, 0, 4, 4]
    trees = np.array([one, two] * 10, dtype=np.int32)
    relations = count_relations(lambda: [trees])
    tree, _ = consensus_tree(lambda: [trees], trees[0], relations, Thresholds(0.6, 0.6))
    assert tree.members == [[], [0, 1], [2], [3]]
    assert tree.parents.tolist() == [0, 0, 1, 0]
    ordered, _ = consensus_tree(lambda: [trees], trees[0], relations, Thresholds(0.4, 0.4))
    assert ordered.clones == 5  # control: a low threshold orders them


@pytest.mark.slow
def test_many_mutations_take_seconds() -> None:
    """Two hundred mutations, with samples near one tree."""
    import time

    base, generator = samples_of(200, 1, 2)[0], np.random.default_rng(2)
    trees = np.repeat(base[np.newaxis], 400, axis=0)
    for tree in trees:
        leaves = np.setdiff1d(np.arange(200), tree)
        for leaf in generator.choice(leaves, 20, replace=False).tolist():
            tree[leaf] = generator.choice(np.setdiff1d(np.arange(201), leaves))
    relations = count_relations(lambda: [trees])
    began = time.process_time()
    tree, gain = consensus_tree(lambda: [trees], base, relations, Thresholds(0.6, 0.6))
    assert time.process_time() - began < 20
    gains = gains_of(relations, Thresholds(0.6, 0.6))
    bound = np.maximum(gains.before, 0).sum() + np.triu(np.maximum(gains.apart, 0)).sum()
    assert gain * 400_000 > 0.97 * bound
    assert tree.clones > 100
