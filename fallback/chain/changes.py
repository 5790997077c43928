"""Changes: how accepted proposals rearrange positions, and what else they change in trees.

A proposal moves a few runs of positions, each as a whole. Only few proposals of a round are accepted, and for
few numbers Python is faster than numpy. So the runs are computed one proposal after another, and numpy does
all work on nodes and columns.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.intervals import Intervals
from syclade.fallback.chain.parts import EXCHANGE_LABELS, EXCHANGE_SUBTREES, REATTACH
from syclade.fallback.chain.trees import Lanes, Trees

KEPT, OUTER, MINUS_OUTER, INNER = range(4)
"""Shifts of runs (intervals.py)."""


Run: TypeAlias = tuple[int, int, int, int]
"""(start, stop, target, shift): positions start ... stop - 1 move to `target` and the positions after it."""


class Change(NamedTuple):
    """The change of one tree.

    Attributes:
        runs: in the order of positions, without those that stay as they are.
        sizes: (amount, place, since): subtrees of `place` and of its ancestors, from position `since` on,
            grow by `amount`.
        adopted: (position, parent's position).
    """

    runs: tuple[Run, ...]
    sizes: tuple[tuple[int, int, int], ...] = ()
    adopted: tuple[tuple[int, int], ...] = ()


def reattach(start: int, stop: int, target: int, gap: tuple[int, int], parent: int) -> Change:
    """Return the change that puts the subtree below the target.

    It goes to the end of the gap that moves fewer positions.

    Args:
        start, stop: positions of the subtree.
        target, parent: positions of the new and the old parent.
        gap: positions where a child of the target may begin, on both sides of the child nearest to the
            subtree.
    """
    if target == parent:
        return Change(())
    length, (front, end) = stop - start, gap
    goal = front if max(stop - front, front - start) <= max(stop - end, end - start) else end
    if goal > start:
        runs = ((start, stop, goal - length, INNER), (stop, goal, start, KEPT))
    else:
        runs = ((goal, start, goal + length, KEPT), (start, stop, goal, INNER))
    return Change(runs, ((length, target, 0), (-length, parent, 0)), ((start, target),))


def gap_of(trees: Trees, slot: int, start: int, target: int) -> tuple[int, int]:
    """Return both ends of the target's child that contains the subtree at `start`.

    If no child contains it, return both ends of all the target's children.
    """
    above, size = trees.above[slot], trees.size[slot]
    end = target + int(size[target])
    if not target < start < end:
        return target + 1, end
    child = start
    while (parent := int(above[child])) != target:
        child = parent
    return child, child + int(size[child])


def exchange_labels(a: int, b: int, c: int, d: int, related: bool) -> Change:
    """Return the change of scores; all positions stay."""
    return Change(((a, b, a, OUTER), (c, d, c, OUTER if related else MINUS_OUTER)))


def exchange_subtrees(a: int, b: int, c: int, d: int, above_first: int, above_second: int) -> Change:
    """Return the change that swaps first and second; the positions between them may move."""
    more = (d - c) - (b - a)
    runs = ((a, b, d - (b - a), OUTER), (b, c, b + more, KEPT), (c, d, a, MINUS_OUTER))
    sizes = ((more, above_first, 0), (-more, above_second, 0))
    return Change(runs, sizes, ((a, above_second), (c, above_first)))


def turn_over(a: int, b: int, c: int, d: int, target: int, above_first: int, above_second: int) -> Change:
    """Return the change that turns two related subtrees over.

    The lower subtree, b to c, goes up. The rest of the upper one becomes the target's first child.
    """
    head = target + 1
    runs = (
        (a, b, a + head - b, OUTER),
        (b, head, a, INNER),
        (head, c, head + d - c, INNER),
        (c, d, head, OUTER),
    )
    sizes = ((b - a + d - c, target, b), (b - c, above_second, a))
    return Change(runs, sizes, ((a, target), (b, above_first)))


def changes_of(lanes: Lanes, parts: Intervals) -> list[Change]:
    """Return the changes that accepted proposals make, one per lane."""
    _, a, b, c, d, _ = parts.cuts.tolist()
    related = parts.related.tolist()
    candidates = np.stack((parts.target, parts.above_first, parts.above_second)).T.tolist()
    slots = lanes.slots.tolist()
    changes = []
    for lane, edit in enumerate(parts.edit.tolist()):
        target, above_first, above_second = candidates[lane]
        cuts = a[lane], b[lane], c[lane], d[lane]
        if edit == REATTACH:
            gap = gap_of(lanes.trees, slots[lane], b[lane], target)
            change = reattach(b[lane], c[lane], target, gap, above_second)
        elif edit == EXCHANGE_LABELS:
            change = exchange_labels(*cuts, related[lane])
        elif edit == EXCHANGE_SUBTREES:
            change = exchange_subtrees(*cuts, above_first, above_second)
        else:
            change = turn_over(*cuts, target, above_first, above_second)
        changes.append(change)
    return changes


def follow(
    trees: Trees,  # IN OUT
    slots: NDArray[Any],  # IN (slots,), all different
    parts: Intervals,  # IN (slots,)
    changes: list[Change],  # IN (slots,)
) -> None:
    """Apply accepted proposals to the trees, in place."""
    (exchanged,) = (parts.edit == EXCHANGE_LABELS).nonzero()
    if exchanged.size:
        at, v, w = slots[exchanged], parts.v[exchanged], parts.w[exchanged]
        trees.start[at, v], trees.start[at, w] = trees.start[at, w], trees.start[at, v]
    moved = [index for index, change in enumerate(changes) if change.adopted]
    if moved:
        _rearrange(trees, slots[moved], [changes[index] for index in moved])


def _rearrange(trees: Trees, slots: NDArray[Any], changes: list[Change]) -> None:
    """Rearrange the positions, sizes and parents' positions of some slots' trees."""
    here, base = np.arange(trees.nodes), (trees.nodes * np.arange(len(slots)))[:, None]
    start, size, above = trees.start[slots], trees.size[slots], trees.above[slots]
    end = here + size
    amount, place, since = np.array([change.sizes for change in changes]).transpose(2, 1, 0)[..., None]
    for part in range(2):  # both entries of `sizes`
        size += amount[part] * ((here >= since[part]) & (here <= place[part]) & (end > place[part]))
    adopted = [(*change.adopted, (0, 0))[:2] for change in changes]  # the root is its own parent
    child, parent = np.array(adopted).transpose(2, 0, 1)
    above.ravel()[base + child] = parent
    goal = here + _offsets(changes, trees.nodes)
    trees.start[slots] = goal.take(base + start)
    at = base + goal
    above[...] = goal.take(base + above)
    moved = np.empty_like(size)
    moved.ravel()[at.ravel()] = size.ravel()
    trees.size[slots] = moved
    moved.ravel()[at.ravel()] = above.ravel()
    trees.above[slots] = moved


def _offsets(changes: list[Change], nodes: int) -> NDArray[np.int64]:
    """Return how far every position moves, (slots, nodes)."""
    runs = [(row, *run) for row, change in enumerate(changes) for run in change.runs]
    row, start, stop, target, _ = np.array(runs).T
    at, by = row * (nodes + 1), target - start
    places, steps = np.concatenate((at + start, at + stop)), np.concatenate((by, -by))
    # Sums of so few positions are exact in float64.
    more = np.bincount(places, weights=steps, minlength=len(changes) * (nodes + 1))
    return more.astype(np.int64).reshape(-1, nodes + 1).cumsum(axis=1)[:, :-1]
