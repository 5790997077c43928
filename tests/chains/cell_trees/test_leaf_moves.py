"""Moves of cell trees, exhaustively: proposals are symmetric, and every tree is reached from any other."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Draws, Move, Proposals
from syclade.fallback.leaf import prune_and_reattach, swap_leaves
from syclade.fallback.leaf.edits import edited
from syclade.fallback.leaf.trees import LeafLanes, below_of
from syclade.quality.oracle.leaf import (
    Clades,
    all_leaf_trees,
    clades_below,
    parents_of,
    reattached,
    swapped,
)

Often = dict[Clades, Counter[Clades]]


def words_for(numbers: NDArray[np.int64], bound: int) -> NDArray[np.uint64]:
    """Return random words, uint64, that draw these numbers below a bound."""
    return (((numbers << 32) + bound - 1) // bound).astype(np.uint64)


def all_proposals(tree: Clades, move: Move, bounds: tuple[int, int, int]) -> Counter[Clades]:
    """Count how often each tree is proposed, over all values of v, the third word and the extra word."""
    parents = parents_of(tree)
    v, word, extra = (axis.ravel() for axis in np.indices(bounds))
    parent = np.tile(np.array(parents, dtype=np.int32), (len(v), 1))
    slots, root = np.arange(len(v)), len(parents) - 1
    second = move.second(words_for(word, bounds[1]), v, root)
    draws = Draws(v, second, words_for(extra, bounds[2]), slots, np.zeros((len(v), 1), dtype=np.int64))
    proposed = move.propose(LeafLanes(parent, below_of(parent), slots), draws, root)
    assert not proposed.correction.any()
    after = edited(parent, Proposals(*(np.broadcast_to(field, v.shape) for field in proposed)))
    different, counts = np.unique(after, axis=0, return_counts=True)
    found: Counter[Clades] = Counter()
    for one, count in zip(different.tolist(), counts.tolist(), strict=True):
        found[frozenset(clades_below(one))] += count
    return found


def assert_symmetric(often: Often) -> None:
    for one, to in often.items():
        assert set(to) <= set(often)
        for other, count in to.items():
            assert often[other][one] == count


def reached(often: Often) -> int:
    """Return the number of trees that can be reached from the first one."""
    first = next(iter(often))
    seen, pending = {first}, [first]
    while pending:
        new = set(often[pending.pop()]) - seen
        seen |= new
        pending += new
    return len(seen)


@pytest.mark.parametrize("cells", [2, 3, 4, 5])
def test_prune_and_reattach(cells: int) -> None:
    nodes = 2 * cells - 1
    bounds = (nodes - 1, nodes, nodes)
    often = {tree: all_proposals(tree, prune_and_reattach.MOVE, bounds) for tree in all_leaf_trees(cells)}
    assert_symmetric(often)
    assert reached(often) == len(often)
    for tree, to in often.items():
        expected: Counter[Clades] = Counter()
        for moved in tree:
            if len(moved) == cells:
                continue
            above = min((clade for clade in tree if clade > moved), key=len)
            places = [clade for clade in tree if not clade <= moved and clade != above]
            wrong = nodes - len(places)
            for place in places:  # the first candidate, or the second if the first is not allowed
                expected[reattached(tree, moved, place)] += nodes + wrong
            expected[tree] += wrong * wrong
        assert to == expected


@pytest.mark.parametrize("cells", [2, 3, 4, 5])
def test_swap_leaves(cells: int) -> None:
    often = {
        tree: all_proposals(tree, swap_leaves.MOVE, (1, cells, cells - 1)) for tree in all_leaf_trees(cells)
    }
    assert_symmetric(often)
    for tree, to in often.items():
        expected: Counter[Clades] = Counter()
        for one in range(cells):
            for other in set(range(cells)) - {one}:
                expected[swapped(tree, one, other)] += 1
        assert to == expected


def test_a_move_that_is_likelier_there_than_back_would_be_seen() -> None:
    """Simulate a move that always replaces a forbidden candidate by the root."""
    often: Often = {}
    for tree in all_leaf_trees(4):
        often[tree] = Counter()
        for moved in tree - {frozenset(range(4))}:
            above = min((clade for clade in tree if clade > moved), key=len)
            for place in tree:
                wrong = place <= moved or place == above
                if wrong and len(above) == 4:
                    often[tree][tree] += 1
                else:
                    often[tree][reattached(tree, moved, frozenset(range(4)) if wrong else place)] += 1
    with pytest.raises(AssertionError):
        assert_symmetric(often)
