"""Search for the clone tree with the highest gain: local moves from several trees, until none gains.

The gain of a clone tree: the claims it makes that are likely enough, minus those that are not.

A tree claims of two mutations that one is before the other, or that they are apart, on different lineages.
Of mutations in one clone it claims nothing. A claim with probability p gains p - θ, with one θ for each kind.
So a claim pays if its probability is above θ, and the tree with the highest gain has the lowest expected
loss, where a wrong claim costs θ and a missing one 1 - θ. Samples in which no cells show an order do not
count for it (`count_unseparated`).

Gains are integers in units of 1 / (1000 samples), kept in float64, which is exact below 2^53. So sums do not
depend on their order, and equal samples give the same tree on any processor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.relations import Relations
from syclade.host.ground.signals import stop_wanted

__all__ = [
    "THRESHOLDS",
    "Gains",
    "Part",
    "Place",
    "Thresholds",
    "best_clone_tree",
    "best_place",
    "gain_of",
    "gains_of",
    "improved",
    "moved",
    "parts_at",
    "with_open",
    "without_claims",
]


_UNITS = 1000
"""Units of a threshold, and of a share."""


@dataclass(frozen=True)
class Thresholds:
    """The least probabilities of claims that pay, each a multiple of 0.001 from 0 to 1.

    Attributes:
        before: of one mutation before another.
        apart: of two mutations on different lineages.
    """

    before: float
    apart: float


THRESHOLDS = Thresholds(0.6, 0.6)
"""Default thresholds: the highest of those measured whose F1 is as good as the best (docs/samples.md)."""


@dataclass(frozen=True, eq=False)
class Gains:
    """Gain of each possible claim, in units of 1 / (1000 samples): whole numbers.

    Attributes:
        before: float64, shape (n, n): of the row's mutation before the column's; 0 on the diagonal.
        after: its transpose, contiguous.
        apart: float64, shape (n, n), symmetric: of the two on different lineages; 0 on the diagonal.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    apart: NDArray[np.float64]


def gains_of(relations: Relations, thresholds: Thresholds = THRESHOLDS) -> Gains:
    """Return the gain of each possible claim.

    Args:
        relations: counts of the relations in the samples.
        thresholds: the least probabilities of claims that pay.
    """
    tables = []
    for counts, threshold in (
        (relations.separated, thresholds.before),
        (relations.apart_counts, thresholds.apart),
    ):
        gains = _UNITS * counts - round(_UNITS * threshold) * relations.samples
        np.fill_diagonal(gains, 0)
        tables.append(gains.astype(np.float64))
    before, apart = tables
    return Gains(before, np.ascontiguousarray(before.T), apart)


def with_open(gains: Gains, pairs: Collection[tuple[int, int]]) -> Gains:
    """Return the gains with a loss for each claim on some pairs, greater than all other claims can gain.

    So the best tree claims nothing of these pairs: their mutations are in one clone.

    Args:
        gains: gains of claims.
        pairs: rows of two mutations each.
    """
    if not pairs:
        return gains
    highest = np.maximum(np.maximum(gains.before, gains.after), gains.apart)
    loss = -1.0 - float(np.triu(np.maximum(highest, 0.0)).sum())
    before, apart = gains.before.copy(), gains.apart.copy()
    for one, two in pairs:
        for table in (before, apart):
            table[one, two] = table[two, one] = loss
    return Gains(before, np.ascontiguousarray(before.T), apart)


def without_claims(gains: Gains, pairs: NDArray[np.bool_] | None) -> Gains:
    """Return the gains with the least loss for each claim on some pairs: without it, any tree would do.

    Args:
        gains: gains of claims.
        pairs: bool, shape (n, n), symmetric; None for none.
    """
    if pairs is None:
        return gains
    return Gains(*(np.where(pairs, -1.0, table) for table in (gains.before, gains.after, gains.apart)))


def gain_of(tree: CloneTree, gains: Gains) -> int:
    """Return the gain of a clone tree by the definition: the sum over all of its claims."""
    apart = np.triu(tree.apart, 1)
    return int(gains.before[tree.before].sum() + gains.apart[apart].sum())


STARTS = 2
"""Number of trees with the highest gains that the search starts from."""

SPLITS = 16
"""Most sizes of a clone's first part that are tried, evenly spaced."""


def best_clone_tree(trees: Sequence[CloneTree], gains: Gains) -> CloneTree:
    """Return the best clone tree found: the same for equal arguments, everywhere.

    After a stop request, it is that from the first start.

    Args:
        trees: clone trees; the search starts from those of the highest gain, of equal ones from the first,
            and from a single clone.
        gains: gains of claims.
    """
    starts = sorted(trees, key=lambda tree: -gain_of(tree, gains))
    coarsest = make_clone_tree([1] * len(gains.before), [0, 0])
    found: list[CloneTree] = []
    for tree in (*starts[:STARTS], coarsest):
        found.append(improved(tree, gains, found))
        if stop_wanted():
            break
    return max(found, key=lambda tree: gain_of(tree, gains))


def improved(tree: CloneTree, gains: Gains, known: Sequence[CloneTree] = ()) -> CloneTree:
    """Return a clone tree that no move of `parts_at` improves, from a given one.

    Each move raises the gain, a whole number with an upper bound, so the search ends.

    Args:
        tree: the tree to begin with.
        gains: gains of claims.
        known: trees that no move improves. The search ends at one of these without trying all moves again.
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
                if any(tree.is_equal(other) for other in known):
                    return tree
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


def _sums(tree: CloneTree, gains: Gains, some: tuple[int, ...], places: NDArray[np.int64]) -> _Sums:
    """Return the sums for some mutations.

    Args:
        tree: the clone tree.
        gains: gains of claims.
        some: the mutations.
        places: int64, shape (3 n,): clone of each mutation that stays, the number of clones for the others;
            the same plus the number of clones and one, and plus twice that.
    """
    count = tree.clones
    tables = (gains.apart, gains.before, gains.after)
    if len(some) == 1:
        values = np.concatenate([table[some[0]] for table in tables])
    else:
        rows = list(some)
        values = np.concatenate([table[rows].sum(axis=0) for table in tables])
    by_clone = np.bincount(places, weights=values, minlength=3 * (count + 1)).reshape(3, -1)[:, :count]
    apart, own, last = by_clone[0], by_clone[1] - by_clone[0], by_clone[2] - by_clone[0]
    running = np.empty(count + 1)
    running[0] = 0.0
    own.cumsum(out=running[1:])
    ended = np.bincount(tree.ends, weights=last, minlength=count + 1)[:count]
    down = running[tree.ends] - running[:-1]
    return _Sums(apart, down, own, (last - ended).cumsum(), last, float(apart.sum()))


def best_place(tree: CloneTree, gains: Gains, part: Part) -> Place:
    """Return the place of a part with the highest gain; of equal ones, the first in preorder, joins first.

    Args:
        tree: the clone tree.
        gains: gains of claims.
        part: the part.
    """
    outside = tree.clone_of.astype(np.int64)
    outside[list((*part.top, *part.rest))] = tree.clones
    places = (outside + (np.arange(3) * (tree.clones + 1))[:, np.newaxis]).ravel()
    clone, above = part.clone, int(tree.parents[part.clone])
    whole = len(part.top) == len(tree.members[clone])
    top = _sums(tree, gains, part.top, places)
    joined = top.up - top.last - top.apart + top.down - top.own + top.total
    below = top.up + top.total
    if part.rest:
        rest = _sums(tree, gains, part.rest, places)
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
    clone_of, parents = tree.clone_of.copy(), tree.parents.tolist()
    clone, new = part.clone, tree.clones
    whole = len(part.top) == len(tree.members[clone])
    if whole:
        heir = parents[clone]
        if part.rest:
            heir = place.clone if place.joins else new
        parents = [heir if parent == clone else parent for parent in parents]
    target = place.clone if place.joins else new
    clone_of[list(part.top)] = target
    for child in place.adopted:
        parents[child] = new
    return make_clone_tree(clone_of, [*parents, place.clone])
