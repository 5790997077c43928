"""The trees of a group of slots, held by place, and their way in from and out to a chain state."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.preorder.layout import Layout

Numbers = NDArray[np.int64]


class Trees:
    """Where each node stands (see layout.py for places).

    Attributes:
        nodes: (4 * slots * labels,) int64, four sections. Three are indexed by *key*, slot * labels + label:
            a node's place, the end of its subtree, and its parent's place (`up`; the root is its own). The
            last one is indexed by label alone: the table row of the mutation's weights.
        order: (places,) int64: the key of the node at each place; meaningless for padding.
        end, up, weight: where the later sections start.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        keys = layout.slots * layout.labels
        self.end, self.up, self.weight = keys, 2 * keys, 3 * keys
        self.nodes = np.zeros(3 * keys + layout.labels, dtype=np.int64)
        self.nodes[self.weight :] = layout.weights + np.arange(layout.labels)
        self.order = np.zeros(layout.places, dtype=np.int64)
        self.by_slot = self.nodes[: self.weight].reshape(3, layout.slots, layout.labels)
        """The first three sections, (3, slots, labels)."""

    def load(
        self,
        state: Any,  # IN arrays over slots by name
        slots: Numbers,  # IN (slots in use,): where the trees are in the state
    ) -> None:
        """Take the trees from a state."""
        layout, used = self._layout, len(slots)
        labels = layout.labels
        number = np.arange(used)[:, None]
        position = state["position"][slots, :labels].astype(np.int64)
        place, end, up = self.by_slot[:, :used]
        place[...] = number * layout.positions + position
        end[...] = place + state["size"][slots, :labels]
        parent = state["parent"][slots, :labels].astype(np.int64)
        up[...] = np.take_along_axis(place, parent, axis=1)
        self.order[place] = number * labels + np.arange(labels)

    def store(
        self,
        state: Any,  # OUT arrays over slots by name
        slots: Numbers,  # IN (slots in use,)
    ) -> None:
        """Write the trees to a state."""
        layout, used = self._layout, len(slots)
        labels = layout.labels
        number = np.arange(used)[:, None]
        place, end, _ = self.by_slot[:, :used]
        order = self.order.reshape(layout.slots, layout.positions)[:used, :labels]
        state["parent"][slots, :labels] = self.parents(np.arange(used))
        state["order"][slots, :labels] = order - number * labels
        state["position"][slots, :labels] = place - number * layout.positions
        state["size"][slots, :labels] = end - place

    def parents(
        self,
        slots: Numbers,  # IN (chosen,)
    ) -> Numbers:
        """Parent vectors of some slots of the group, (chosen, labels)."""
        return self.order.take(self.by_slot[2].take(slots, axis=0)) - slots[:, None] * self._layout.labels
