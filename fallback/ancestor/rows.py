"""Bit rows: row y of a matrix has one bit per ancestor of node y, y included, in words of 64 bits."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ONE = np.uint64(1)

_PAIRS = np.uint64(0x5555555555555555)
_NIBBLE_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def bit_of(node: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the word with only the node's bit set; the word's index in a row is node // 64."""
    return ONE << (node & 63).astype(np.uint64)


def row_of(
    matrix: NDArray[np.uint64],  # IN (slots, words, nodes)
    node: NDArray[Any],  # IN (slots,)
) -> NDArray[np.uint64]:
    """Return each slot's row of its node, (slots, words)."""
    return matrix[np.arange(len(node)), :, node]


def has_above(
    matrix: NDArray[np.uint64],  # IN (slots, words, nodes)
    ancestor: NDArray[Any],  # IN (slots,)
) -> NDArray[np.bool_]:
    """Return A[ancestor][y] for all nodes y, the members of the ancestor's subtree: bool, (slots, nodes)."""
    words = matrix[np.arange(len(ancestor)), ancestor // 64]
    return (words & bit_of(ancestor)[:, None]) != 0


def popcount(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the number of bits set in each word."""
    word = word - ((word >> ONE) & _PAIRS)
    word = (word & _NIBBLE_PAIRS) + ((word >> np.uint64(2)) & _NIBBLE_PAIRS)
    word = (word + (word >> np.uint64(4))) & _NIBBLES
    return (word * _BYTES) >> np.uint64(56)


def parents_from(
    matrix: NDArray[np.uint64],  # IN (slots, words, nodes)
    nodes: int,  # IN of the trees, root included
) -> NDArray[np.int64]:
    """Return the parents of all nodes, (slots, nodes); the root is its own.

    The parent is the ancestor with one ancestor fewer.
    """
    depth = popcount(matrix).sum(axis=1)[:, :nodes].astype(np.int64)
    node = np.arange(nodes)
    above = (
        matrix[:, node // 64, :nodes] & bit_of(node)[:, None]
    ) != 0  # of row y, the bits x: (slots, x, y)
    parents = np.argmax(above & (depth[:, :, None] == depth[:, None, :] - 1), axis=1)
    parents[:, nodes - 1] = nodes - 1
    return parents


class MatrixRelations(NamedTuple):
    """Relations of some lanes, read from ancestor matrices (`chain.parts.Relations`).

    Attributes:
        matrix: (slots, words, nodes) uint64.
        slots: (lanes,): index of each lane's matrix.
        nodes: number of tree nodes, root included; further rows are padding.
    """

    matrix: NDArray[np.uint64]
    slots: NDArray[Any]
    nodes: int

    def of(self, at: Any) -> "MatrixRelations":
        """See `Relations`."""
        return self._replace(slots=self.slots[at])

    def is_descendant(self, node: NDArray[Any], ancestor: NDArray[Any]) -> NDArray[np.bool_]:
        """See `Relations`; tests one bit."""
        return (self.matrix[self.slots, ancestor // 64, node] & bit_of(ancestor)) != 0

    def subtree_size(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`; counts the bits of a column."""
        return self._subtree(node).sum(axis=1)

    def select(self, node: NDArray[Any], inside: bool, rank: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`; counts along a column."""
        members = self._subtree(node) == inside
        return np.argmax(np.cumsum(members, axis=1) > rank[:, None], axis=1)

    def parent_of(self, node: NDArray[Any]) -> NDArray[np.int64]:
        """See `Relations`."""
        return parents_from(self.matrix[self.slots], self.nodes)[np.arange(len(node)), node]

    def _subtree(self, node: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the members of the nodes' subtrees: bool, (lanes, nodes)."""
        words = self.matrix[self.slots, node // 64, : self.nodes]
        return (words & bit_of(node)[:, None]) != 0
