"""Initial trees: uniform over all rooted labelled trees, from Prüfer codes of random words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.moves.words import draw_below

__all__ = ["initial_parents", "parents_from_pruefer"]

DOMAIN = 1
"""Fourth counter word of the draws of initial trees; chain steps have 0."""


def initial_parents(mutations: int, seed: int, chain: int) -> NDArray[np.int32]:
    """The initial tree of a chain: int32 parent vector, shape (mutations + 1,).

    Args:
        mutations: n >= 1.
        seed: 0 <= seed < 2^64.
        chain: the chain's number, 0 <= chain < 2^32.
    """
    length = max(mutations - 1, 0)
    blocks = np.arange((length + 3) // 4, dtype=np.uint64)
    words = np.stack(philox_4x32_10(blocks, 0, chain, DOMAIN, seed & 0xFFFFFFFF, seed >> 32), axis=-1)
    return parents_from_pruefer(draw_below(words.ravel()[:length], mutations + 1).tolist(), mutations)


def parents_from_pruefer(code: list[int], mutations: int) -> NDArray[np.int32]:
    """The tree of a Prüfer code of length n - 1 over labels 0 … n, rooted at node n, as a parent vector.

    Linear time. Every code gives another tree, and there are (n + 1)^(n - 1) of both.
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
