"""Initial trees from random words: uniform over all rooted labelled trees, or over all cell trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.moves.words import draw_below

__all__ = ["initial_leaf_parents", "initial_parents", "parents_from_pruefer"]

DOMAIN = 1
"""Fourth counter word for drawing initial trees; chain steps use 0."""


def initial_parents(mutations: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw the initial tree of a chain: int32 parent vector, shape (mutations + 1,).

    Args:
        mutations: n >= 1.
        seed: 0 <= seed < 2^64.
        chain: number of the chain, 0 <= chain < 2^32.
    """
    words = _words(max(mutations - 1, 0), seed, chain)
    return parents_from_pruefer(draw_below(words, mutations + 1).tolist(), mutations)


def _words(count: int, seed: int, chain: int) -> NDArray[np.uint64]:
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    words = np.stack(philox_4x32_10(blocks, 0, chain, DOMAIN, seed & 0xFFFFFFFF, seed >> 32), axis=-1)
    return words.ravel()[:count]


def initial_leaf_parents(labels: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw the initial cell tree of a chain, uniformly from all (2m - 3)!! cell trees.

    Cells are added one by one. Each is attached to a random edge of the tree of the cells before it. A tree
    of k cells has 2k - 1 edges, including the one above the root; all are equally probable.

    Args:
        labels: 2m - 2, for m >= 2 cells.
        seed, chain: as for `initial_parents`.

    Returns:
        int32 parent vector, shape (2m - 1,): leaves are nodes 0 ... m-1, the root is the last node.
    """
    cells = labels // 2 + 1
    edges = 2 * np.arange(1, cells) - 1
    parents = np.full(labels + 1, -1, dtype=np.int32)
    for cell, drawn in enumerate(draw_below(_words(cells - 1, seed, chain), edges).tolist(), 1):
        below = drawn if drawn < cell else cells + drawn - cell
        inner = cells + cell - 1
        parents[inner] = parents[below]
        parents[[below, cell]] = inner
    # The root gets the last number.
    top, root = int(np.flatnonzero(parents < 0)[0]), labels
    number = np.arange(labels + 1, dtype=np.int32)
    number[[top, root]] = root, top
    named = np.empty_like(parents)
    named[number] = np.where(parents < 0, root, number[parents])
    return named


def parents_from_pruefer(code: list[int], mutations: int) -> NDArray[np.int32]:
    """Decode a Prüfer code into a parent vector: int32, shape (n + 1,), rooted at node n.

    The code has length n - 1 and labels 0 … n. Takes linear time. Codes and trees correspond one to one;
    there are (n + 1)^(n - 1) of each.
    """
    root = mutations
    parents = np.empty(mutations + 1, dtype=np.int32)
    parents[root] = root
    degree = [1] * (mutations + 1)
    for label in code:
        degree[label] += 1
    # The root is the largest label, so it is never removed: the neighbour of a removed leaf is its parent.
    pointer = degree.index(1)
    leaf = pointer
    for label in code:
        parents[leaf] = label
        degree[label] -= 1
        if degree[label] == 1 and label < pointer:
            leaf = label
        else:
            pointer = degree.index(1, pointer + 1)
            leaf = pointer
    parents[leaf] = root
    return parents
