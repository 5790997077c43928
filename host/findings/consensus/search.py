"""Search for the clone tree with the highest gain: local moves from several trees, until none gains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of, make_clone_tree
from syclade.host.findings.consensus.gains import Gains, gain_of
from syclade.host.findings.consensus.places import Part, best_place, moved

__all__ = ["find_clone_tree", "improved", "parts_at"]

STARTS = 4
"""Number of trees with the highest gains that the search starts from."""

SPLITS = 16
"""Most sizes of a clone's first part that are tried, evenly spaced."""


def find_clone_tree(trees: Sequence[NDArray[np.int32]], gains: Gains) -> CloneTree:
    """Return the best clone tree found: the same for equal arguments, everywhere.

    Args:
        trees: mutation trees, int32, shape (n + 1,) each; the search starts from those of the highest gain,
            and from a single clone.
        gains: gains of claims.
    """
    starts = [clone_tree_of(tree) for tree in np.unique(np.array(trees), axis=0)]
    starts.sort(key=lambda tree: -gain_of(tree, gains))
    coarsest = make_clone_tree([1] * len(gains.before), [0, 0])
    found = [improved(tree, gains) for tree in (*starts[:STARTS], coarsest)]
    return max(found, key=lambda tree: gain_of(tree, gains))


def improved(tree: CloneTree, gains: Gains) -> CloneTree:
    """Return a clone tree that no move of `parts_at` improves, from a given one.

    Each move raises the gain, a whole number with an upper bound, so the search ends.
    """
    mutations = len(tree.clone_of)
    settled, mutation = 0, 0
    while settled < mutations:
        settled += 1
        waiting = parts_at(tree, gains, mutation)
        while (part := next(waiting, None)) is not None:
            place = best_place(tree, gains, part)
            if place.gain > 0:
                tree = moved(tree, part, place)
                settled, waiting = 0, parts_at(tree, gains, mutation)
        mutation = (mutation + 1) % mutations
    return tree


def parts_at(tree: CloneTree, gains: Gains, mutation: int) -> Iterator[Part]:
    """Yield the parts that may move, for one mutation.

    They are the mutation itself; and if it is the smallest of its clone, the subtree below the clone, the
    clone without those below it, and its first and last mutations in their most likely order.
    """
    clone = int(tree.clone_of[mutation])
    members = tree.members[clone]
    yield Part(clone, (mutation,))
    if members[0] != mutation:
        return
    rest = np.flatnonzero((tree.clone_of > clone) & (tree.clone_of < tree.ends[clone]))
    if rest.size:
        yield Part(clone, tuple(members), tuple(rest.tolist()))
    if len(members) > 1:
        yield Part(clone, tuple(members))
    if len(members) > 3:
        inside = gains.before[np.ix_(members, members)]
        lead = inside.sum(axis=1) - inside.sum(axis=0)
        order = [members[at] for at in np.argsort(-lead, kind="stable").tolist()]
        for size in range(2, len(order) - 1, 1 + len(order) // SPLITS):
            yield Part(clone, tuple(order[:size]))
            yield Part(clone, tuple(order[size:]))
