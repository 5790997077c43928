"""Questions to the ancestor matrix that moves ask (`chain.parts.Relations`)."""

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of, popcount


def make_relations(nodes: int, words: int) -> Relations:
    """Device functions for matrices of `nodes` rows of `words` words.

    Loops go over all rows, those of padding included: these are 0, and come last in the order of labels.
    """
    row_stride = address(nodes)

    @device_function
    def is_descendant(given, here, base, node, ancestor):
        """1 if `ancestor` is `node` or above it, else 0 (control)."""
        above = np.uint64(ancestor)
        return control(
            bit_of(given.ancestors[base + (above >> WORD_SHIFT) * row_stride + address(node)], above)
        )

    @device_function
    def subtree_size(given, here, base, node):
        """Nodes of the subtree, itself included (control)."""
        above = np.uint64(node)
        start = base + (above >> WORD_SHIFT) * row_stride
        count = np.uint64(0)
        for other in range(nodes):
            count = count + bit_of(given.ancestors[start + address(other)], above)
        return control(count)

    @device_function
    def select(given, here, base, node, inside, rank):
        """The rank-th node in the subtree, or outside of it, in the order of labels (control)."""
        above, wanted, last = np.uint64(node), np.uint64(inside), np.uint64(rank)
        start = base + (above >> WORD_SHIFT) * row_stride
        seen = np.uint64(0)
        chosen = np.uint64(0)
        for other in range(nodes):
            fits = np.uint64(bit_of(given.ancestors[start + address(other)], above) == wanted)
            hit = fits * np.uint64(seen == last)
            chosen = chosen + hit * np.uint64(other)
            seen = seen + fits
        return control(chosen)

    @device_function
    def depth_of(given, here, base, node):
        """How many ancestors a node has, itself included (uint64); the node is uint64."""
        depth = np.uint64(0)
        for index in range(words):
            depth = depth + popcount(given.ancestors[base + address(index) * row_stride + node])
        return depth

    @device_function
    def parent_of(given, here, base, node):
        """The one ancestor that has one ancestor less (control); of the root, itself."""
        below = np.uint64(node)
        wanted = depth_of(given, here, base, below) - np.uint64(1)
        parent = np.uint64(0)
        found = np.uint64(0)
        for other in range(nodes):
            above = np.uint64(other)
            row = given.ancestors[base + (above >> WORD_SHIFT) * row_stride + below]
            hit = bit_of(row, above) * np.uint64(depth_of(given, here, base, above) == wanted)
            parent = parent + hit * above
            found = found + hit
        return control(parent + (np.uint64(1) - found) * below)

    return Relations(is_descendant, subtree_size, select, parent_of)
