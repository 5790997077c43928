"""Algorithms 3.2 to 3.6 of the ffSCITE thesis, compared with the tree update on all small trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.ancestor.find_parent import parent_row
from syclade.fallback.ancestor.tree_update import exchange_labels, exchange_subtrees, reattach, turn_over

Bits = NDArray[np.bool_]  # (nodes, nodes): A[x][y], x is y or an ancestor of y


def trees() -> Iterator[Bits]:
    """Yield the ancestor matrices of all trees; the root is the last node."""
    for n in (2, 3, 4):
        for parents in product(range(n + 1), repeat=n):
            matrix = np.eye(n + 1, dtype=bool)
            for _ in range(n):
                for node, parent in enumerate(parents):
                    matrix[:, node] |= matrix[:, parent]
            if matrix[n].all() and np.array_equal(matrix & matrix.T, np.eye(n + 1, dtype=bool)):
                yield matrix


def is_parent(a: Bits, v: int, w: int) -> bool:
    """Algorithm 3.2: whether v is the parent of w."""
    others = [x for x in range(len(a)) if x != w]
    return bool(a[v, w]) and v != w and np.array_equal(a[others, w], a[others, v])


def parent(a: Bits, w: int) -> int:
    """Return the only parent of w that algorithm 3.2 finds."""
    (found,) = (v for v in range(len(a)) if is_parent(a, v, w))
    return found


def swap_nodes(a: Bits, v: int, w: int) -> Bits:
    """Algorithm 3.3."""
    after = a.copy()
    after[[v, w]] = a[[w, v]]
    after[:, [v, w]] = after[:, [w, v]]
    return after


def prune_and_reattach(a: Bits, v: int, t: int) -> Bits:
    """Algorithm 3.4."""
    return np.where(a[v], a[:, [t]] | (a[v][:, None] & a), a)


def swap_unrelated(a: Bits, v: int, w: int, row: int) -> Bits:
    """Algorithm 3.5, with A[row][x] in line 8: v as printed, w as corrected."""
    above_v, above_w = a[:, [parent(a, v)]], a[:, [parent(a, w)]]
    line_6, line_8 = above_w | (a[v][:, None] & a), above_v | (a[row][:, None] & a)
    return np.where(a[v] & ~a[w], line_6, np.where(a[w] & ~a[v], line_8, a))


def swap_related(a: Bits, v: int, w: int, t: int) -> Bits:
    """Algorithm 3.6, with the classes A = 0, B = 1, C = 2."""
    kind = np.where(a[v], 2, np.where(a[w], 1, 0))
    x, y = kind[:, None], kind[None, :]
    return np.where((x == y) | (x == 0), a, np.where((x == 2) & (y == 1), a[:, [t]], np.False_))


def words(a: Bits) -> NDArray[np.uint64]:
    """Return the rows of ancestors as the stages hold them: (1 slot, 1 word, nodes)."""
    numbers: NDArray[np.uint64] = np.packbits(a, axis=0, bitorder="little")[:1].astype(np.uint64)
    return numbers[None]


def same(printed: Bits, after: NDArray[np.uint64]) -> bool:
    """Return whether a printed algorithm and the tree update agree."""
    return np.array_equal(words(printed), after)


def at(node: int) -> NDArray[np.int64]:
    """Return a node as an array over one slot."""
    return np.array([node])


def above(a: Bits, node: int) -> NDArray[np.uint64]:
    """Return the row of the node's parent, (1 slot, 1 word)."""
    return parent_row(words(a)[:, :, node], at(node))


PAIRS = [(a, v, w) for a in trees() for v, w in permutations(range(len(a) - 1), 2)]
UNRELATED = [(a, v, w) for a, v, w in PAIRS if not a[v, w] and not a[w, v]]


def test_all_trees_are_there() -> None:
    assert len(list(trees())) == 3 + 16 + 125
    assert len(UNRELATED) == 2 + 36 + 612


def test_parent_search_finds_the_row_of_find_parent() -> None:
    for a in trees():
        for w in range(len(a) - 1):
            assert words(a)[0, :, parent(a, w)] == above(a, w)[0]


def test_swap_nodes() -> None:
    assert all(same(swap_nodes(a, v, w), exchange_labels(words(a), at(v), at(w))) for a, v, w in PAIRS)


def test_prune_and_reattach() -> None:
    for a in trees():
        for v, t in product(range(len(a) - 1), range(len(a))):
            if not a[v, t]:
                assert same(prune_and_reattach(a, v, t), reattach(words(a), at(v), at(t), above(a, v)))


@pytest.mark.parametrize(("printed", "agreeing"), [(True, 0), (False, 650)])
def test_swap_unrelated_subtrees_needs_a_correction(printed: bool, agreeing: int) -> None:
    agree = [
        same(
            swap_unrelated(a, v, w, v if printed else w),
            exchange_subtrees(words(a), at(v), at(w), above(a, v), above(a, w)),
        )
        for a, v, w in UNRELATED
    ]
    assert (len(agree), sum(agree)) == (650, agreeing)


def test_swap_related_subtrees() -> None:
    for a, v, w in PAIRS:
        for t in np.flatnonzero(a[v] & a[w, v]):
            after = turn_over(words(a), at(v), at(w), at(t), above(a, v), above(a, w))
            assert same(swap_related(a, v, w, t), after)
