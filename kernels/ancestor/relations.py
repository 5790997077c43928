"""Queries of moves about the tree, answered from the ancestor matrix (`chain.parts.Relations`)."""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of, popcount


def make_relations(capacity_of: Any) -> Relations:
    """Return the device functions for matrices of a capacity (`capacity.py`).

    Loops go over all rows, padding included. Rows of padding are 0 and come last in order of node numbers.
    """

    @device_function
    def row_start(base, node):
        """Return where the words with the bit of a node (uint64) start, one word per row (address)."""
        return base + (node >> WORD_SHIFT) * address(capacity_of().nodes)

    @device_function
    def is_descendant(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        node,  # IN control
        ancestor,  # IN control
    ):
        """Return 1 if `ancestor` is `node` or above it, else 0 (control)."""
        above = np.uint64(ancestor)
        return control(bit_of(slot.given.ancestors[row_start(slot.base, above) + address(node)], above))

    @device_function
    def subtree_size(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        node,  # IN control
    ):
        """Return the number of nodes in the node's subtree, itself included (control)."""
        above = np.uint64(node)
        start = row_start(slot.base, above)
        count = np.uint64(0)
        for other in range(capacity_of().nodes):
            count = count + bit_of(slot.given.ancestors[start + address(other)], above)
        return control(count)

    @device_function
    def select(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        node,  # IN control
        inside,  # IN control: 1 to select in the subtree, 0 to select outside of it
        rank,  # IN control: counted from 0
    ):
        """Return the rank-th node in the subtree, or outside of it, in order of node numbers (control)."""
        above, wanted, last = np.uint64(node), np.uint64(inside), np.uint64(rank)
        start = row_start(slot.base, above)
        seen = np.uint64(0)
        chosen = np.uint64(0)
        for other in range(capacity_of().nodes):
            fits = np.uint64(bit_of(slot.given.ancestors[start + address(other)], above) == wanted)
            hit = fits * np.uint64(seen == last)
            chosen = chosen + hit * np.uint64(other)
            seen = seen + fits
        return control(chosen)

    @device_function
    def depth_of(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        node,  # IN uint64
    ):
        """Return the number of ancestors of a node, itself included (uint64)."""
        capacity = capacity_of()
        depth = np.uint64(0)
        for index in range(capacity.words):
            at = slot.base + address(index) * address(capacity.nodes) + node
            depth = depth + popcount(slot.given.ancestors[at])
        return depth

    @device_function
    def parent_of(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        node,  # IN control; may differ between lanes
    ):
        """Return the ancestor that has one ancestor less (control); the root is its own parent."""
        below = np.uint64(node)
        wanted = depth_of(slot, below) - np.uint64(1)
        parent = np.uint64(0)
        found = np.uint64(0)
        for other in range(capacity_of().nodes):
            above = np.uint64(other)
            row = slot.given.ancestors[row_start(slot.base, above) + below]
            hit = bit_of(row, above) * np.uint64(depth_of(slot, above) == wanted)
            parent = parent + hit * above
            found = found + hit
        return control(parent + (np.uint64(1) - found) * below)

    return Relations(is_descendant, subtree_size, select, parent_of)
