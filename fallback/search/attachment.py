"""Attachment: the best node of every column (the mirror of `kernels/search/attachment.py`)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.mutation_tree import MutationTree


class Sums(NamedTuple):
    """Sums of a mutation's weights over what is below nodes.

    Attributes:
        now: what the mutation adds at its current place; 0 if it is out of the tree.
        gain: (nodes,): over the columns at or below each node; 0 for the mutation itself.
        hope: (nodes,): what it would add as a child of the node that takes over those of the node's children
            below which it gains.
    """

    now: int
    gain: NDArray[np.int64]
    hope: NDArray[np.int64]


def attach(tree: MutationTree) -> NDArray[np.int64]:
    """Return the best node of every column, (columns,); ties go to the first in preorder."""
    return tree.order[tree.scores[tree.order].argmax(axis=0)]


def sum_weights(tree: MutationTree, attached: NDArray[np.int64], v: int) -> Sums:
    """Return the sums of mutation v, over the tree without it: its columns and children go to its parent."""
    weights = tree.weights[v].astype(np.int64)
    old = tree.parents[v]
    before = np.zeros(len(tree.order) + 1, dtype=np.int64)  # over the columns at nodes before each position
    np.add.at(before, tree.position[attached] + 1, weights)
    before = before.cumsum()
    gain = before[tree.position + tree.size] - before[tree.position]
    now = int(gain[v])
    gain[v] = 0
    hope = np.zeros_like(gain)
    np.add.at(hope, np.where(attached == v, old, attached), np.maximum(weights, 0))
    above = tree.parents[:-1]
    np.add.at(hope, np.where(above == v, old, above), np.maximum(gain[:-1], 0))
    return Sums(now, gain, hope)
