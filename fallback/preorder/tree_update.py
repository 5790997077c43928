"""Tree update: accepted moves change the trees (the mirror of `kernels/preorder/tree_update.py`)."""

import numpy as np

from syclade.fallback import proposal as bits
from syclade.fallback.preorder.accepted import Accepted, Runs
from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.trees import Numbers, Trees


class TreeUpdate:
    """Changes the trees of a group of slots."""

    def __init__(self, layout: Layout, trees: Trees) -> None:
        self._trees = trees
        self._new_place = np.arange(layout.places)  # of the node at each place; the same between calls
        self._sections = np.array([0, trees.end, trees.up])[:, None, None]

    def __call__(self, accepted: Accepted, runs: Runs) -> None:
        """Do the moves."""
        labels = accepted.kind == bits.SWAP_LABELS
        swaps = np.flatnonzero(labels)
        if swaps.size:
            self._swap_labels(accepted, swaps)
        if swaps.size < len(labels):
            self._move_subtrees(accepted, np.flatnonzero(~labels), runs)

    def _swap_labels(
        self,
        accepted: Accepted,
        swaps: Numbers,  # IN (swaps,)
    ) -> None:
        """The two nodes exchange their places, so whoever stands below one now stands below the other."""
        trees = self._trees
        cut = accepted.cuts.take(swaps, axis=1)
        places = np.stack((cut[0], np.where(accepted.nested.take(swaps), cut[1], cut[2])))
        keys = trees.order.take(places)
        trees.order[places] = keys[::-1]
        at = self._sections + keys
        trees.nodes[at] = trees.nodes.take(at[:, ::-1])

    def _move_subtrees(
        self,
        accepted: Accepted,
        moving: Numbers,  # IN (moving,): all but the swaps of labels
        runs: Runs,
    ) -> None:
        """Nodes go to their new places, nodes above them grow or shrink, and one or two get new parents."""
        trees, new_place = self._trees, self._new_place
        slot = accepted.slot.take(moving)
        under = accepted.shift.take(moving, axis=1)
        child = trees.order.take(accepted.cuts[0].take(moving))
        swap = np.flatnonzero(accepted.kind == bits.SWAP_UNRELATED_SUBTREES)
        other = trees.order.take(accepted.cuts[2].take(swap))
        lower = trees.order.take(accepted.cuts[1].take(accepted.related))

        new_place[runs.source] = runs.target
        trees.order[runs.target] = trees.order.take(runs.source)
        nodes = trees.by_slot.take(slot, axis=1)
        size = nodes[1] - nodes[0]
        gain, loss = _growth(accepted, moving, nodes, under)
        size += gain
        size -= loss
        new_place.take(nodes[0::2], out=nodes[0::2], mode="clip")
        np.add(nodes[0], size, out=nodes[1])
        trees.by_slot[:, slot] = nodes
        trees.nodes[trees.up + child] = new_place.take(under[0])
        if swap.size:
            trees.nodes[trees.up + other] = new_place.take(accepted.shift[1].take(swap))
        if lower.size:
            trees.nodes[trees.up + lower] = new_place.take(accepted.inner[0])
        new_place[runs.source] = runs.source


def _growth(
    accepted: Accepted,
    moving: Numbers,  # IN (moving,)
    nodes: Numbers,  # IN (3, moving, labels): as Trees.by_slot
    under: Numbers,  # IN (2, moving): places of the first interval's new and old parents
) -> Numbers:
    """By how much nodes grow below the new parent, and shrink below the old one, (2, moving, labels).

    In swaps of unrelated subtrees, the last interval takes the opposite way.
    """
    above = (nodes[0] <= under[:, :, None]) & (under[:, :, None] < nodes[1])
    one, two, three, four = accepted.cuts.take(moving, axis=1)
    amount = np.empty((2, len(moving)), dtype=np.int64)
    amount[:] = (two - one) - (four - three)
    if accepted.related.size:
        # The lower node's old ancestors lose its subtree, up to the upper node; its own nodes above the upper
        # node's new parent gain what is left of the upper node's subtree.
        swap = np.searchsorted(moving, accepted.related)
        amount[0, swap] = (two - one + four - three).take(swap)
        amount[1, swap] = (three - two).take(swap)
        above[0, swap] &= nodes[0, swap] >= two.take(swap)[:, None]
        above[1, swap] &= nodes[0, swap] >= one.take(swap)[:, None]
    return amount[:, :, None] * above
