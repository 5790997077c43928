"""Tree update: accepted moves change the trees (the mirror of `kernels/preorder/tree_update.py`)."""

import numpy as np

from syclade.fallback.preorder.changes import Changes
from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.runs import Runs
from syclade.fallback.preorder.trees import Numbers, Trees


class TreeUpdate:
    """Changes the trees of a group of slots."""

    def __init__(self, layout: Layout, trees: Trees) -> None:
        self._trees = trees
        self._new_place = np.arange(layout.places)  # of the node at each place; the same between calls

    def __call__(self, changes: Changes, runs: Runs) -> None:
        """Do the moves."""
        if changes.sizes:
            self._move_subtrees(changes, runs)
        swapped = iter(changes.swapped)
        for one, other in zip(swapped, swapped, strict=True):
            self._swap_labels(one, other)

    def _swap_labels(self, one: int, other: int) -> None:
        """Two nodes exchange their places, so who stands below the one now stands below the other."""
        order, nodes = self._trees.order, self._trees.nodes
        key, other_key = order.item(one), order.item(other)
        order[one], order[other] = other_key, key
        for section in (0, self._trees.end, self._trees.up):
            value, other_value = nodes.item(section + key), nodes.item(section + other_key)
            nodes[section + key], nodes[section + other_key] = other_value, value

    def _move_subtrees(self, changes: Changes, runs: Runs) -> None:
        """Nodes go to their new places, nodes above them grow or shrink, some get new parents."""
        trees, new_place = self._trees, self._new_place
        slot, *sizes = np.array(changes.sizes, dtype=np.int64).reshape(-1, 7).T
        child, parent = np.array(changes.adopted, dtype=np.int64).reshape(-1, 2).T
        new_place[runs.source] = runs.target
        trees.order[runs.target] = trees.order.take(runs.source)
        nodes = trees.by_slot.take(slot, axis=1)
        place, end, _ = nodes
        size = end - place
        size += _growth(place, end, *sizes[:3])
        size -= _growth(place, end, *sizes[3:])
        nodes[::2] = new_place.take(nodes[::2])
        np.add(place, size, out=end)
        trees.by_slot[:, slot] = nodes
        trees.nodes[trees.up + child] = new_place.take(parent)
        new_place[runs.source] = runs.source


def _growth(
    place: Numbers,  # IN (moves, labels): where a node stands
    end: Numbers,  # IN (moves, labels): where its subtree ends
    amount: Numbers,  # IN (moves,)
    under: Numbers,  # IN (moves,): a place: that of a descendant
    start: Numbers,  # IN (moves,): a place: that of the topmost node
) -> Numbers:
    """By how much nodes grow, (moves, labels)."""
    under = under[:, None]
    above = place <= under
    above &= under < end
    above &= place >= start[:, None]
    return above * amount[:, None]
