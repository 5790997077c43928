"""Probabilities from sampled trees, beside their definitions by plain counting."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.data.model.assignment import attach
from syclade.host.data.model.likelihood import attachment_posteriors
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import clones_of
from syclade.host.data.trees.tree import ancestor_matrix, depths, initial_parents, levels_of
from syclade.host.findings.consensus.clone_tree import clade_support
from syclade.host.findings.support.of_samples import cell_shares
from syclade.host.findings.support.starts import spread_out

N = 7


def trees_of(count: int, seed: int = 1, n: int = N) -> NDArray[np.int32]:
    return np.array([initial_parents(n, seed, chain) for chain in range(count)], dtype=np.int32)


def test_levels_are_depths() -> None:
    trees = trees_of(20)
    found = np.zeros(trees.shape, dtype=int)
    for depth, level in enumerate(levels_of(trees), start=1):
        found[level.trees, level.nodes] = depth
        np.testing.assert_array_equal(trees[level.trees, level.nodes], level.parents)
    np.testing.assert_array_equal(found, [depths(tree) for tree in trees])


def clades_of(tree: NDArray[np.int32]) -> list[frozenset[int]]:
    below = ancestor_matrix(tree)
    return [frozenset(np.flatnonzero(below[node]).tolist()) for node in range(len(tree) - 1)]


@pytest.mark.parametrize("n", [1, 2, N])
def test_clades_are_counted_as_sets(n: int) -> None:
    trees = trees_of(600, n=n)
    sets = [set(clades_of(tree)) for tree in trees]
    for parents in trees[:5]:
        counted = [np.mean([clade in one for one in sets]) for clade in clades_of(parents)]
        np.testing.assert_allclose(clade_support(parents, lambda: [trees]), counted)


def test_a_clade_does_not_depend_on_the_order_within() -> None:
    one, other = np.array([3, 0, 3, 3], np.int32), np.array([1, 3, 3, 3], np.int32)
    np.testing.assert_array_equal(clade_support(one, lambda: [other[None]]), [1, 0, 1])


@pytest.mark.parametrize("zygosity", [False, True])
def test_cells_are_weighted_by_their_likelihood(zygosity: bool) -> None:
    rates = Rates(0.05, 0.1, 0.2, 0.1) if zygosity else Rates(0.05, 0.3)
    more = (0.2, 0.1) if zygosity else ()
    matrix = simulate(12, N, 0.05, 0.3, 0.2, 5, *more).matrix
    problem = make_problem(matrix, rates, octaves=True)
    trees, parents = trees_of(30), trees_of(1, seed=9)[0]
    node = attach(problem, rates, parents).node
    clone: dict[int, int] = {}
    for number, one in enumerate(clones_of(parents, node)):
        clone |= dict.fromkeys(one.mutations or (N,), number)
    expected = np.zeros(matrix.n_cells)
    for tree in trees:
        for at in range(N + 1):
            own = np.array([clone[at] == clone[int(one)] for one in node])
            every = np.full(matrix.n_cells, at, np.int32)
            expected += own * attachment_posteriors(matrix, rates, tree, every)
    found = cell_shares(problem, rates, parents, node, trees)
    np.testing.assert_allclose(found, expected / len(trees), rtol=1e-9)
    assert 0 < found.min() < found.max() <= 1


def test_starts_are_far_apart() -> None:
    best, trees = trees_of(1)[0], list(trees_of(12, seed=4))
    chosen = spread_out(best, [best, *trees, *trees], 4)
    assert chosen[0] is best

    def apart(one: NDArray[np.int32], others: list[NDArray[np.int32]]) -> int:
        return min(int((one != other).sum()) for other in others)

    for count in range(1, 4):
        assert apart(chosen[count], chosen[:count]) == max(apart(tree, chosen[:count]) for tree in trees)


def test_few_starts_are_taken_in_turns() -> None:
    best, other = trees_of(2)
    assert [one is best for one in spread_out(best, [best, other, other], 4)] == [True, False] * 2
    assert all(one is best for one in spread_out(best, [], 4))
