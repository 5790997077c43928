"""Accepted moves, and the runs of the preorder that they rearrange.

A move rearranges at most four runs, each of which is shifted as a whole: the ranges called first and last in
propose.py, and one or two between them. A run that stays where it is with its scores as they are is left out.
"""

from typing import NamedTuple

import numpy as np

from syclade.fallback import proposal as bits
from syclade.fallback.preorder.propose import Moves
from syclade.fallback.preorder.trees import Numbers, Trees

_FIRST, _LAST, _BETWEEN, _TAIL = range(4)


class Accepted(NamedTuple):
    """Accepted moves, at most one a slot."""

    slot: Numbers  # (moves,)
    kind: Numbers  # (moves,)
    cuts: Numbers  # (4, moves): places: the cut points between the ranges
    shift: Numbers  # (2, moves): as in Moves
    nested: Numbers  # (moves,): Moves.related
    related: Numbers  # (swaps of related subtrees,): which of the moves they are
    inner: Numbers  # (2, swaps of related subtrees): rows whose difference shifts the middle


class Runs(NamedTuple):
    """What the accepted moves rearrange: runs, and all their places in one row."""

    plus: Numbers  # (runs,): the scores of a run are shifted by the difference of these rows
    minus: Numbers  # (runs,)
    number: Numbers  # (places,): the run
    source: Numbers  # (places,): a place
    target: Numbers  # (places,): where its node goes


def accepted_moves(
    moves: Moves,
    lanes: Numbers,  # IN (accepted,): ascending
    slot: Numbers,  # IN (accepted,)
    kind: Numbers,  # IN (accepted,)
) -> Accepted:
    """Take the accepted ones out of the proposed moves."""
    related = np.flatnonzero(kind == bits.SWAP_RELATED_SUBTREES)
    inner = np.searchsorted(moves.inner[0], lanes.take(related))
    return Accepted(
        slot,
        kind,
        moves.cuts[1:5].take(lanes, axis=1),
        moves.shift.take(lanes, axis=1),
        moves.related.take(lanes).astype(np.int64),
        related,
        moves.inner[1:3].take(inner, axis=1),
    )


def runs_of(accepted: Accepted, trees: Trees) -> Runs:
    """What goes where."""
    cut, plus, kind = accepted.cuts, accepted.shift[0], accepted.kind
    start = cut.take((0, 2, 1, 1), axis=0)
    stop = cut.take((1, 3, 1, 1), axis=0)
    target = start.copy()
    # No shift is a difference of equal rows.
    rows = np.zeros((2, *start.shape), dtype=np.int64)
    rows[:, _FIRST] = accepted.shift
    rows[:, _LAST] = np.where(accepted.nested, accepted.shift, accepted.shift[::-1])
    prune = np.flatnonzero(kind == bits.PRUNE_AND_REATTACH)
    if prune.size:
        begin, end = cut[:2].take(prune, axis=1)
        place = _new_place(begin, end, plus.take(prune), trees)
        later = place > begin
        start[_BETWEEN, prune] = np.where(later, end, place)
        stop[_BETWEEN, prune] = np.where(later, place, begin)
        target[_BETWEEN, prune] = np.where(later, begin, place + end - begin)
        target[_FIRST, prune] = np.where(later, place - end + begin, place)
    swap = np.flatnonzero(kind == bits.SWAP_UNRELATED_SUBTREES)
    if swap.size:
        one, two, three, four = cut.take(swap, axis=1)
        stop[_BETWEEN, swap] = three
        target[_LAST, swap] = one
        target[_BETWEEN, swap] = one + four - three
        target[_FIRST, swap] = one + four - two
    swap = accepted.related
    if swap.size:
        one, two, three, four = cut.take(swap, axis=1)
        head = plus.take(swap) + 1
        stop[_BETWEEN, swap] = start[_TAIL, swap] = head
        stop[_TAIL, swap] = three
        target[_BETWEEN, swap] = one
        target[_FIRST, swap] = one + head - two
        target[_LAST, swap] = head
        target[_TAIL, swap] = four - three + head
        rows[:, _BETWEEN:, swap] = accepted.inner[:, None, :]
    return _spread(rows, start, stop, target)


def _new_place(
    begin: Numbers,  # IN (moves,): the interval of a pruned subtree
    end: Numbers,  # IN (moves,)
    target: Numbers,  # IN (moves,): place of its new parent
    trees: Trees,
) -> Numbers:
    """Before which place the subtree goes: its parent's first or last child, whichever moves fewer nodes."""
    front = target + 1
    back = trees.nodes.take(trees.order.take(target) + trees.end)
    near = np.maximum(end - front, front - begin) <= np.maximum(end - back, back - begin)
    return np.where(near, front, back)


def _spread(
    rows: Numbers,  # IN (2, 4, moves)
    start: Numbers,  # IN (4, moves)
    stop: Numbers,  # IN (4, moves)
    target: Numbers,  # IN (4, moves)
) -> Runs:
    """Runs with their places one by one."""
    length = (stop - start).ravel()
    number = np.repeat(np.arange(length.size), length)
    offset = np.empty((2, length.size), dtype=np.int64)
    offset[0], offset[1] = start.ravel(), target.ravel()
    offset -= length.cumsum() - length
    source, goal = offset.take(number, axis=1) + np.arange(number.size)
    return Runs(rows[0].ravel(), rows[1].ravel(), number, source, goal)
