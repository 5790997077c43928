"""Tables of some slots' mutation trees, and the sums of every cell over a tree: plain, from the leaves up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import EXCHANGE_LABELS, NOTHING, Proposals, Space
from syclade.fallback.leaf.trees import LeafLanes, below_of
from syclade.fallback.sums.numbers import Numbers, powers_of_two, product, put, repeated, total
from syclade.fallback.sums.trees import edited


class SumTables:
    """Descendants that follow from the trees of a group of slots.

    Args:
        parent: (slots, nodes) int32.
        weights: (slots, classes) int64.
        observed: (mutations, columns) uint8.
        log_shares: (slots, nodes) int32: log2 of the share of the cells at each node; 0 by default. Labels
            that swap leave the shares at their places.
    """

    def __init__(
        self,
        parent: NDArray[np.int32],
        weights: NDArray[np.int64],
        observed: NDArray[np.uint8],
        log_shares: NDArray[np.int32] | None = None,
    ) -> None:
        self._parent, self._below = parent.copy(), below_of(parent)
        self._weights, self._factors = weights, powers_of_two(weights)
        self._observed = observed
        self._log_shares = np.zeros_like(parent) if log_shares is None else log_shares.copy()

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
        self._weights[slots], self._log_shares[slots] = others._weights, others._log_shares
        for own, new in zip(self._factors, others._factors, strict=True):
            own[slots] = new

    def parents(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the parent vectors of some slots, (slots, nodes)."""
        return self._parent[slots]

    def log_shares(self, slots: NDArray[Any]) -> NDArray[np.int32]:
        """Return the shares of the nodes of some slots, (slots, nodes)."""
        return self._log_shares[slots]

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
        shares = powers_of_two(_moved(self._log_shares[lanes.slots], proposals).astype(np.int64))
        sums = [
            self._sums(tree, slot, shares.at(lane))
            for lane, (tree, slot) in enumerate(zip(after, lanes.slots, strict=True))
        ]
        return np.stack([np.stack([*singles, *pairs], axis=-1) for singles, pairs in sums])

    def follow(self, slots: NDArray[Any], proposals: Proposals) -> None:
        """Apply accepted proposals, one per slot."""
        real = proposals.edit != NOTHING
        slots, proposals = slots[real], proposals.of(real)
        if slots.size:
            self._parent[slots] = edited(self._parent[slots], proposals)
            self._below[slots] = below_of(self._parent[slots])
            self._log_shares[slots] = _moved(self._log_shares[slots], proposals)

    def _sums(self, parent: NDArray[np.int32], slot: int, shares: Numbers) -> tuple[Numbers, Numbers]:
        """Return the columns' sums over the nodes of a tree with shares, and over its pairs of nodes.

        See `kernels/sums/rows.py`: children are added one by one, in ascending order.
        """
        factors = self._factors.at(slot)
        columns = self._observed.shape[1]
        singles, pairs = (repeated(alone, columns) for alone in (shares, product(shares, shares)))
        for node, child in upwards(parent):
            factor = factors.at(self._observed[child])
            own, of_child = singles.at(node), product(factor, singles.at(child))
            crossed = product(own, of_child)
            found = total(total(pairs.at(node), crossed.twice()), product(factor, pairs.at(child)))
            put(pairs, node, found)
            put(singles, node, total(own, of_child))
        return singles.at(-1), pairs.at(-1)


def _moved(log_shares: NDArray[np.int32], proposals: Proposals) -> NDArray[np.int32]:
    """Return the shares after the edits, (trees, nodes)."""
    after, (at,) = log_shares.copy(), (proposals.edit == EXCHANGE_LABELS).nonzero()
    v, w = proposals.v[at], proposals.w[at]
    after[at, v], after[at, w] = log_shares[at, w], log_shares[at, v]
    return after


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
    shared_tables=SumTables,
)
"""The space of mutation trees, for scores that add up all nodes."""
