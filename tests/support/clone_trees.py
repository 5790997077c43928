"""Clone trees for tests: all of a size, random ones, and their definition by sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.data.model.simulate import random_parents
from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.quality.oracle.trees import all_trees

__all__ = ["all_clone_trees", "clone_trees", "samples_of", "sets_below"]


@st.composite
def clone_trees(draw: st.DrawFn, max_mutations: int = 8) -> CloneTree:
    """Draw any clone tree."""
    n = draw(st.integers(1, max_mutations))
    clones = draw(st.integers(1, n))
    clone_of = [*range(1, clones + 1), *(draw(st.integers(1, clones)) for _ in range(n - clones))]
    parents = [0, *(draw(st.integers(0, clone - 1)) for clone in range(1, clones + 1))]
    return make_clone_tree(draw(st.permutations(clone_of)), parents)


def all_clone_trees(n: int) -> Iterator[CloneTree]:
    """Yield every clone tree of n mutations once: trees on the blocks of each partition."""
    for blocks in _partitions(n):
        clones = max(blocks)
        for tree in all_trees(clones):
            above = [0 if parent == clones else int(parent) + 1 for parent in tree[:clones]]
            yield make_clone_tree(blocks, [0, *above])


def _partitions(n: int) -> Iterator[list[int]]:
    """Yield the partitions of n things: the block of each, from 1, in the order of their first things."""
    if n == 0:
        yield []
        return
    for blocks in _partitions(n - 1):
        yield from ([*blocks, block] for block in range(1, max(blocks, default=0) + 2))


def samples_of(n: int, count: int, seed: int) -> NDArray[np.int32]:
    """Draw uniform mutation trees: int32, shape (count, n + 1)."""
    generator = np.random.default_rng(seed)
    if n == 1:
        return np.ones((count, 2), dtype=np.int32)
    return np.array([random_parents(n, generator) for _ in range(count)], dtype=np.int32)


def sets_below(tree: CloneTree) -> list[frozenset[int]]:
    """Return the mutations of each clone and of all below it, by climbing from each mutation."""
    below: list[set[int]] = [set() for _ in range(tree.clones)]
    for mutation, clone in enumerate(tree.clone_of.tolist()):
        at = clone
        while True:
            below[at].add(mutation)
            if at == 0:
                break
            at = int(tree.parents[at])
    return [frozenset(one) for one in below]
