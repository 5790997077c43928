"""Places for a part of a clone tree that is taken out, and the gain that it would have at each of them.

A part has a top, some mutations of one clone, and a rest, all mutations below that clone or none. Its top may
join another clone, or become a new clone below one. A new clone takes over those children of the clone above
it that gain by it; each child's choice is independent of the others', so the best choice is exact. All places
are evaluated in O(n): in preorder, the clones below one are an interval, and sums over the clones above one
follow from a running sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.gains import Gains

__all__ = ["Part", "Place", "best_place", "moved"]


@dataclass(frozen=True)
class Part:
    """Part of a clone tree.

    Attributes:
        clone: the clone of its top.
        top: mutations of the clone that move.
        rest: mutations below the clone that move with them: all or none. If all, `top` is the whole clone.
    """

    clone: int
    top: tuple[int, ...]
    rest: tuple[int, ...] = ()


@dataclass(frozen=True)
class Place:
    """A place for a part.

    Attributes:
        gain: gain of the tree with the part there minus that of the tree as it is, in the unit of `Gains`.
        clone: the clone to join, or the one above the new clone.
        joins: whether the top joins the clone.
        adopted: children of the clone that the new clone takes over.
    """

    gain: int
    clone: int
    joins: bool
    adopted: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class _Sums:
    """Gains between a set of mutations and each clone, and their sums along the tree.

    Attributes:
        apart: float64, shape (clones,): with the clone on another lineage.
        down: float64, shape (clones,): with the clone and those below it, by the set above them, not apart.
        own: the part of `down` due to the clone itself.
        up: float64, shape (clones,): with the clone and those above it, by the set below them, not apart.
        last: the part of `up` due to the clone itself.
        total: with all clones on other lineages.
    """

    apart: NDArray[np.float64]
    down: NDArray[np.float64]
    own: NDArray[np.float64]
    up: NDArray[np.float64]
    last: NDArray[np.float64]
    total: float


def _sums(tree: CloneTree, gains: Gains, some: tuple[int, ...], outside: NDArray[np.int64]) -> _Sums:
    """Return the sums for some mutations.

    Args:
        tree: the clone tree.
        gains: gains of claims.
        some: the mutations.
        outside: int64, shape (n,): clone of each mutation that stays; number of clones for the others.
    """
    count = tree.clones
    rows = [some[0]] if len(some) == 1 else list(some)

    def by_clone(table: NDArray[np.float64]) -> NDArray[np.float64]:
        values = table[rows[0]] if len(rows) == 1 else table[rows].sum(axis=0)
        sums = np.bincount(outside, weights=values, minlength=count + 1)[:count]
        return sums.astype(np.float64, copy=False)

    apart = by_clone(gains.apart)
    own, last = by_clone(gains.before) - apart, by_clone(gains.after) - apart
    running = np.concatenate(([0.0], np.cumsum(own)))
    ended = np.bincount(tree.ends, weights=last, minlength=count + 1)[:count]
    down = running[tree.ends] - running[:-1]
    return _Sums(apart, down, own, np.cumsum(last - ended), last, float(apart.sum()))


def best_place(tree: CloneTree, gains: Gains, part: Part) -> Place:
    """Return the place of a part with the highest gain; of equal ones, the first in preorder, joins first.

    Args:
        tree: the clone tree.
        gains: gains of claims.
        part: the part.
    """
    outside = tree.clone_of.astype(np.int64)
    outside[list((*part.top, *part.rest))] = tree.clones
    clone, above = part.clone, int(tree.parents[part.clone])
    whole = len(part.top) == len(tree.members[clone])
    top = _sums(tree, gains, part.top, outside)
    joined = top.up - top.last - top.apart + top.down - top.own + top.total
    below = top.up + top.total
    if part.rest:
        rest = _sums(tree, gains, part.rest, outside)
        joined += rest.up + rest.total
        below += rest.up + rest.total
    adopting = np.maximum(top.down, 0.0)
    adopting[0] = 0.0
    adopted = np.bincount(tree.parents, weights=adopting, minlength=tree.clones)
    if whole and not part.rest:
        now = float(below[above] + top.down[clone])  # an emptied clone: the sum over its children
        adopted[above] += adopted[clone] - adopting[clone]
    else:
        now = float(below[above] if whole else joined[clone])
    below += adopted
    joined[0] = -np.inf
    if whole:
        gone = slice(clone, int(tree.ends[clone]) if part.rest else clone + 1)
        joined[gone] = below[gone] = -np.inf
    join, new = int(np.argmax(joined)), int(np.argmax(below))
    if joined[join] >= below[new]:
        return Place(int(joined[join] - now), join, True)
    children = [c for c in _children(tree, new, clone, whole and not part.rest) if top.down[c] > 0.0]
    return Place(int(below[new] - now), new, False, tuple(children))


def _children(tree: CloneTree, above: int, clone: int, dissolved: bool) -> list[int]:
    """Return the children of a clone, where those of a dissolved clone count as its parent's."""
    found: list[int] = np.flatnonzero(tree.parents == above).tolist()
    if dissolved and clone in found:
        found.remove(clone)
        found += np.flatnonzero(tree.parents == clone).tolist()
    return [one for one in found if one]


def moved(tree: CloneTree, part: Part, place: Place) -> CloneTree:
    """Return the clone tree with a part at another place.

    Args:
        tree: the clone tree.
        part: the part.
        place: a place that `best_place` returned for it.
    """
    clone_of, parents = tree.clone_of.tolist(), tree.parents.tolist()
    clone, new = part.clone, tree.clones
    whole = len(part.top) == len(tree.members[clone])
    if whole:
        heir = parents[clone]
        if part.rest:
            heir = place.clone if place.joins else new
        parents = [heir if parent == clone else parent for parent in parents]
    target = place.clone if place.joins else new
    for mutation in part.top:
        clone_of[mutation] = target
    for child in place.adopted:
        parents[child] = new
    return make_clone_tree(clone_of, [*parents, place.clone])
