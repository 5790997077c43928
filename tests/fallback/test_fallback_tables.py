"""Tables of the plain encoding: proposals are scored and followed by definition, on all kinds of trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.chain import tables as tables_module
from syclade.fallback.chain.maxima import Lookup, levels_of, renew
from syclade.fallback.chain.parts import Proposals
from syclade.fallback.chain.tables import Tables
from syclade.fallback.chain.trees import preorder
from syclade.host.data.trees.tree import initial_parents
from syclade.quality.oracle.proposal import Kind, Move, apply
from syclade.quality.oracle.trees import ParentVector, all_trees, path_to_root
from tests.suites.test_moves_exhaustive import all_moves

COLUMNS = 5


def weights_of(n: int) -> NDArray[np.int32]:
    """Return random weights, (nodes, columns) int32; the root's are 0."""
    weights = np.random.default_rng(n).integers(-1000, 1000, (n + 1, COLUMNS), dtype=np.int32)
    weights[n] = 0
    return weights


def scores_of(tree: ParentVector, weights: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the sums of the weights on the paths to the root, (nodes, columns) int64."""
    return np.array([weights[path_to_root(tree, node)].sum(axis=0) for node in range(len(tree))])


def inputs(n: int) -> Iterator[tuple[ParentVector, Move]]:
    """Yield all moves of all small trees, and some moves of each kind for larger trees."""
    if n <= 4:
        yield from ((tree, move) for tree in all_trees(n) for move in all_moves(tree))
        return
    rng = np.random.default_rng(n)
    path, star = (*range(1, n + 1), n), (n,) * (n + 1)
    for tree in [path, star, *(tuple(initial_parents(n, 1, chain).tolist()) for chain in range(6))]:
        moves = list(all_moves(tree))
        for kind in Kind:
            own = [move for move in moves if move.kind is kind]
            yield from ((tree, own[at]) for at in rng.integers(0, max(1, len(own)), 20) if own)


@pytest.fixture(scope="module", params=[1, 2, 3, 4, 9, 31, 32])
def given(request: pytest.FixtureRequest) -> list[tuple[ParentVector, Move]]:
    return list(inputs(request.param))


def proposals_of(moves: list[Move]) -> Proposals:
    kind, v, w, t = np.array(moves).T
    return Proposals(kind, kind, v, w, t, np.zeros_like(v))


def tables_of(trees: list[ParentVector]) -> Tables:
    weights = weights_of(len(trees[0]) - 1)
    return Tables(np.array(trees, np.int32), np.broadcast_to(weights, (len(trees), *weights.shape)))


def test_proposals_are_scored_by_definition(given: list[tuple[ParentVector, Move]]) -> None:
    """Check the best score of each column, and the scores of all nodes."""
    trees, moves = (list(part) for part in zip(*given, strict=True))
    tables, weights = tables_of(trees), weights_of(len(trees[0]) - 1)
    lanes = tables.lanes(np.arange(len(trees)))
    prepared = tables.prepare(lanes, proposals_of(moves))
    expected = [scores_of(apply(move, tree), weights) for tree, move in given]
    best = tables.best_after(lanes, prepared)
    np.testing.assert_array_equal(best, [scores.max(axis=0) for scores in expected])
    every = tables.all_after(
        lanes, prepared, lambda _, scores: np.sort(scores, axis=1).reshape(len(scores), -1)
    )
    np.testing.assert_array_equal(every, [np.sort(scores, axis=0).ravel() for scores in expected])


@pytest.mark.parametrize("many", [1, 2**30], ids=["at once", "one by one"])
def test_tables_follow_proposals(
    given: list[tuple[ParentVector, Move]], many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that trees, intervals, scores and all maxima are those of the trees after the moves."""
    monkeypatch.setattr(tables_module, "MANY", many)
    trees, moves = (list(part) for part in zip(*given, strict=True))
    tables, weights = tables_of(trees), weights_of(len(trees[0]) - 1)
    every = np.arange(len(trees))
    tables.follow(every, tables.prepare(tables.lanes(every), proposals_of(moves)))
    after = [apply(move, tree) for tree, move in given]
    assert [tuple(parent) for parent in tables.parents(every).tolist()] == after
    for slot, tree in enumerate(after):
        start, size = tables.trees.start[slot], tables.trees.size[slot]
        paths = [path_to_root(tree, node) for node in range(len(tree))]
        assert sorted(start.tolist()) == list(range(len(tree)))
        for node, parent in enumerate(tree):
            here = int(start[node])
            inside = {int(start[other]) for other, path in enumerate(paths) if node in path}
            assert inside == set(range(here, here + int(size[here])))
            assert tables.trees.above[slot, here] == (0 if node == len(tree) - 1 else start[parent])
        levels = tables._table[slot, :-1]
        assert np.array_equal(levels[0][start], scores_of(tree, weights))
        assert_are_maxima(levels)


def assert_are_maxima(levels: NDArray[np.int32]) -> None:
    for level, rows in enumerate(levels):
        count, width = len(rows) + 1 - 2**level, 2**level
        expected = np.max([levels[0][shift : shift + count] for shift in range(width)], axis=0)
        assert np.array_equal(rows[:count], expected)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 8, 9, 16, 17, 31])
def test_two_rows_have_the_maximum_of_an_interval(nodes: int) -> None:
    levels = np.zeros((levels_of(nodes), nodes, 2), np.int32)
    levels[0] = np.random.default_rng(nodes).integers(-99, 99, (nodes, 2))
    renew([*levels], 0, nodes)
    assert_are_maxima(levels)
    flat, lookup = levels.reshape(-1, 2), Lookup(nodes)
    for start in range(nodes):
        for stop in range(start + 1, nodes + 1):
            if stop - start < nodes:  # the whole range is never requested
                one, other = lookup.rows(np.array([start]), np.array([stop]))[:, 0].tolist()
                expected = levels[0][start:stop].max(axis=0)
                np.testing.assert_array_equal(np.maximum(flat[one], flat[other]), expected)
        assert lookup.rows(np.array([start]), np.array([start])).tolist() == [[0], [0]]


@pytest.mark.parametrize("nodes", [2, 7, 16])
def test_maxima_are_renewed_where_they_change(nodes: int) -> None:
    rng = np.random.default_rng(nodes)
    for start in range(nodes):
        for stop in range(start + 1, nodes + 1):
            levels = np.zeros((levels_of(nodes), nodes, 1), np.int32)
            levels[0] = rng.integers(-99, 99, (nodes, 1))
            renew([*levels], 0, nodes)
            levels[0, start:stop] = rng.integers(-99, 99, (stop - start, 1))
            renew([*levels], start, stop)
            assert_are_maxima(levels)


def test_preorder_by_hand() -> None:
    """Use a root 4 with the children 0 and 3, and a node 0 with the children 1 and 2."""
    start, size, above = preorder([4, 0, 0, 4, 4])
    order = sorted(range(5), key=start.__getitem__)
    assert order in ([4, 0, 1, 2, 3], [4, 0, 2, 1, 3], [4, 3, 0, 1, 2], [4, 3, 0, 2, 1])
    assert [size[start[node]] for node in range(5)] == [3, 1, 1, 1, 5]
    assert [order[above[start[node]]] for node in range(5)] == [4, 0, 0, 4, 4]
