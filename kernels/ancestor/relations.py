"""Questions to the ancestor matrix that moves ask (`chain.parts.Relations`)."""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of, popcount


def make_relations(capacity_of: Any) -> Relations:
    """Device functions for matrices of a capacity (`capacity.py`).

    Loops go over all rows, those of padding included: these are 0, and come last in the order of labels.
    """

    @device_function
    def row_start(base, node):
        """Return where the word with the bit of a node (uint64) starts, of all rows (address)."""
        return base + (node >> WORD_SHIFT) * address(capacity_of().nodes)

    @device_function
    def is_descendant(given, here, base, node, ancestor):
        """1 if `ancestor` is `node` or above it, else 0 (control)."""
        above = np.uint64(ancestor)
        return control(bit_of(given.ancestors[row_start(base, above) + address(node)], above))

    @device_function
    def subtree_size(given, here, base, node):
        """Nodes of the subtree, itself included (control)."""
        above = np.uint64(node)
        start = row_start(base, above)
        count = np.uint64(0)
        for other in range(capacity_of().nodes):
            count = count + bit_of(given.ancestors[start + address(other)], above)
        return control(count)

    @device_function
    def select(given, here, base, node, inside, rank):
        """The rank-th node in the subtree, or outside of it, in the order of labels (control)."""
        above, wanted, last = np.uint64(node), np.uint64(inside), np.uint64(rank)
        start = row_start(base, above)
        seen = np.uint64(0)
        chosen = np.uint64(0)
        for other in range(capacity_of().nodes):
            fits = np.uint64(bit_of(given.ancestors[start + address(other)], above) == wanted)
            hit = fits * np.uint64(seen == last)
            chosen = chosen + hit * np.uint64(other)
            seen = seen + fits
        return control(chosen)

    @device_function
    def depth_of(given, here, base, node):
        """How many ancestors a node has, itself included (uint64); the node is uint64."""
        capacity = capacity_of()
        depth = np.uint64(0)
        for index in range(capacity.words):
            at = base + address(index) * address(capacity.nodes) + node
            depth = depth + popcount(given.ancestors[at])
        return depth

    @device_function
    def parent_of(given, here, base, node):
        """The one ancestor that has one ancestor less (control); of the root, itself."""
        below = np.uint64(node)
        wanted = depth_of(given, here, base, below) - np.uint64(1)
        parent = np.uint64(0)
        found = np.uint64(0)
        for other in range(capacity_of().nodes):
            above = np.uint64(other)
            row = given.ancestors[row_start(base, above) + below]
            hit = bit_of(row, above) * np.uint64(depth_of(given, here, base, above) == wanted)
            parent = parent + hit * above
            found = found + hit
        return control(parent + (np.uint64(1) - found) * below)

    return Relations(is_descendant, subtree_size, select, parent_of)
