"""Move proposal: from draws and trees to moves (the mirror of `kernels/preorder/propose.py`).

The two intervals of a move cut the preorder into five ranges: before, first, middle, last, after. Of nodes on
two lineages, first and last are the subtrees; of nodes on one lineage, middle is the lower one's subtree, and
first and last are the rest of the upper one's; a prune has its interval first, and nothing in the middle.
The scores in first are shifted by the difference of two rows, those in last by the same or its opposite, and
those in the middle only in swaps of related subtrees (SCIENCE.md 4).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback import proposal as bits
from syclade.fallback.preorder.batch import CODE, KIND, Batch, E
from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.trees import Numbers, Trees


class Moves(NamedTuple):
    """A move a lane; a lane is a slot's step, tried on the slot's tree."""

    cuts: Numbers  # (6, lanes): places: the slot's first, four cut points, the next slot's first
    shift: Numbers  # (2, lanes): first is shifted by the former of these rows less the latter
    nested: NDArray[np.bool_]  # (lanes,): one lineage, so that last is shifted like first, not the other way
    inner: Numbers  # (3, swaps of related subtrees): the lane, two rows whose difference shifts the middle
    threshold: Numbers  # (lanes,): E + (ln|C| - ln|B|) / gamma
    code: Numbers  # (lanes,): see batch.CODE


def propose(
    batch: Batch,
    steps: Numbers,  # IN (lanes,): which of the batch's steps
    slot: Numbers,  # IN (lanes,)
    layout: Layout,
    trees: Trees,
    log_sizes: Numbers,  # IN (nodes + 1,)
) -> Moves:
    """The moves that were drawn for these steps."""
    drawn = batch.drawn.take(steps, axis=1)
    found = trees.nodes.take(drawn[:E])
    kind = drawn[KIND]
    inside = (found[5] >= found[0]) & (found[5] < found[2]) & (kind == bits.PRUNE_AND_REATTACH)
    chosen = inside.nonzero()[0]
    if chosen.size:
        extra = batch.extra.take(steps.take(chosen))
        length = found[2].take(chosen) - found[0].take(chosen)
        rank = bits.draw_below(extra, layout.labels - length)
        within = found[0:3:2].take(chosen, axis=1)
        found[5, chosen] = select(trees, slot.take(chosen), within, rank, outside=True)
    cuts = np.empty((6, len(slot)), dtype=np.int64)
    nested = _cut(found, cuts)
    np.multiply(slot, layout.positions, out=cuts[0])
    np.add(cuts[0], layout.positions, out=cuts[5])
    shift = np.where(found[1] < found[0], found[4:], found[:3:-1])
    moves = Moves(cuts, shift, nested, _NO_INNER, drawn[E], drawn[CODE])
    chosen = (nested & (kind == bits.SWAP_UNRELATED_SUBTREES)).nonzero()[0]
    if chosen.size:
        extra = batch.extra.take(steps.take(chosen))
        return _relate(moves, chosen, slot.take(chosen), extra, trees, log_sizes)
    return moves


_NO_INNER = np.zeros((3, 0), dtype=np.int64)


def _cut(
    found: Numbers,  # IN (6, lanes): the places of v and w, their ends, …
    cuts: Numbers,  # OUT (6, lanes): the four in the middle
) -> NDArray[np.bool_]:
    """Cut points in ascending order; (lanes,): is one interval in the other?"""
    later = np.maximum(found[0], found[1])
    sooner = np.minimum(found[2], found[3])
    np.minimum(found[0], found[1], out=cuts[1])
    np.minimum(later, sooner, out=cuts[2])
    np.maximum(later, sooner, out=cuts[3])
    np.maximum(found[2], found[3], out=cuts[4])
    return later < sooner


def _relate(
    moves: Moves,
    chosen: Numbers,  # IN (chosen,): the lanes that swap related subtrees
    slot: Numbers,  # IN (chosen,)
    extra: NDArray[np.uint64],  # IN (chosen,)
    trees: Trees,
    log_sizes: Numbers,  # IN (nodes + 1,)
) -> Moves:
    """Turn these lanes from swaps of unrelated into swaps of related subtrees."""
    outer_start, start, stop, outer_stop = moves.cuts[1:5].take(chosen, axis=1)
    size_c = stop - start
    size_b = outer_stop - outer_start - size_c
    target = select(trees, slot, np.stack((start, stop)), bits.draw_below(extra, size_c), outside=False)
    moves.threshold[chosen] += log_sizes.take(size_c) - log_sizes.take(size_b)
    moves.code[chosen] += bits.SWAP_RELATED_SUBTREES - bits.SWAP_UNRELATED_SUBTREES
    above_lower, above_upper = moves.shift.take(chosen, axis=1)
    moves.shift[0, chosen] = target
    moves.shift[1, chosen] = above_lower
    return moves._replace(inner=np.stack((chosen, above_upper, above_lower)))


def select(
    trees: Trees,
    slot: Numbers,  # IN (lanes,)
    within: Numbers,  # IN (2, lanes): start and end of an interval of places
    rank: Numbers,  # IN (lanes,), counted from 0
    *,
    outside: bool,
) -> Numbers:
    """Places of the rank-th nodes of the intervals, or outside them, in the order of labels, (lanes,)."""
    places = trees.by_slot[0].take(slot, axis=0)
    start, stop = within
    members = (places >= start[:, None]) & (places < stop[:, None])
    count = stop - start
    if outside:
        np.logical_not(members, out=members)
        count = places.shape[1] - count
    before = count.cumsum() - count
    return places[members].take(before + rank)
