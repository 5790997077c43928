"""Tables of some slots' mutation trees, and the sums of every cell over a tree: plain, from the leaves up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import NOTHING, Proposals, Space
from syclade.fallback.leaf.trees import LeafLanes, below_of
from syclade.fallback.sums.numbers import Numbers, ones, powers_of_two, product, put, total
from syclade.fallback.sums.trees import edited


class SumTables:
    """Descendants that follow from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, classes) int64.
        observed: (mutations, columns) uint8.
    """

    def __init__(
        self, parent: NDArray[np.int32], weights: NDArray[np.int64], observed: NDArray[np.uint8]
    ) -> None:
        self._parent, self._below = parent.copy(), below_of(parent)
        self._weights, self._factors = weights, powers_of_two(weights)
        self._observed = observed

    @staticmethod
    def slot_bytes(mutations: int, columns: int) -> int:
        """Return the memory of a slot while it is scored."""
        return (mutations + 1) * (64 * columns + mutations + 5)

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self._parent.nbytes + self._below.nbytes

    @property
    def cost_of_best(self) -> float:
        """Approximate microseconds to score one proposal."""
        return 100.0 * len(self._observed)

    cost_of_all = cost_of_best

    def replace(self, slots: NDArray[Any], others: "SumTables") -> None:
        """Replace the tables of some slots by others."""
        self._parent[slots], self._below[slots] = others._parent, others._below
        self._weights[slots] = others._weights
        for own, new in zip(self._factors, others._factors, strict=True):
            own[slots] = new

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the parent vectors of some slots, (slots, nodes)."""
        return self._parent[slots]

    def lanes(self, slots: NDArray[Any]) -> LeafLanes:
        """Return the trees as lanes in these slots see them."""
        return LeafLanes(self._parent, self._below, slots)

    def prepare(self, lanes: LeafLanes, proposals: Proposals) -> Proposals:
        """Return the proposals unchanged: the methods below need no preparation."""
        return proposals

    def best_after(self, lanes: LeafLanes, proposals: Proposals) -> NDArray[np.int64]:
        """Return every cell's sums after the proposals, (lanes, columns, 4).

        The last axis has mantissa and exponent of the sum over the nodes, and of that over the pairs.
        """
        after = edited(self._parent[lanes.slots], proposals)
        sums = [self._sums(tree, slot) for tree, slot in zip(after, lanes.slots, strict=True)]
        return np.stack([np.stack([*singles, *pairs], axis=-1) for singles, pairs in sums])

    def follow(self, slots: NDArray[Any], proposals: Proposals) -> None:
        """Apply accepted proposals, one per slot."""
        real = proposals.edit != NOTHING
        slots, proposals = slots[real], proposals.of(real)
        if slots.size:
            self._parent[slots] = edited(self._parent[slots], proposals)
            self._below[slots] = below_of(self._parent[slots])

    def _sums(self, parent: NDArray[np.int32], slot: int) -> tuple[Numbers, Numbers]:
        """Return the columns' sums over the nodes of a tree, and over its pairs of nodes.

        See `kernels/sums/rows.py`: children are added one by one, in ascending order.
        """
        factors = self._factors.at(slot)
        nodes, columns = len(parent), self._observed.shape[1]
        singles, pairs = ones((nodes, columns)), ones((nodes, columns))
        for node, child in upwards(parent):
            factor = factors.at(self._observed[child])
            own, of_child = singles.at(node), product(factor, singles.at(child))
            crossed = product(own, of_child)
            found = total(total(pairs.at(node), crossed.twice()), product(factor, pairs.at(child)))
            put(pairs, node, found)
            put(singles, node, total(own, of_child))
        return singles.at(-1), pairs.at(-1)


def upwards(parent: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Return (parent, child) of all edges: lower ones first, and children of a node in ascending order."""
    depth, above = np.zeros(len(parent), dtype=np.int64), np.arange(len(parent))
    while (above != len(parent) - 1).any():
        depth += above != len(parent) - 1
        above = parent[above]
    order = np.lexsort((np.arange(len(parent)), -depth)).tolist()
    return [(int(parent[child]), child) for child in order if child != len(parent) - 1]


SPACE = Space(
    labels=len,
    slot_bytes=lambda observed: SumTables.slot_bytes(*observed.shape),
    tables=SumTables,
)
"""The space of mutation trees, for scores that add up all nodes."""
