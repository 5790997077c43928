"""Questions to the intervals that moves ask (`chain.parts.Relations`)."""

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.preorder.form import Form
from syclade.kernels.target import apart_from, device_function, lane_count, lane_rank


@device_function
def is_descendant(given, here, base, node, ancestor):
    """1 if `ancestor` is the node itself or above it, else 0 (int64): one comparison of intervals."""
    start = np.int64(given.position[base + np.uint64(ancestor)])
    offset = np.int64(given.position[base + np.uint64(node)]) - start
    return np.int64(np.uint64(offset) < np.uint64(given.size[base + np.uint64(ancestor)]))


@device_function
def subtree_size(given, here, base, node):
    """Nodes of the subtree, itself included (int64)."""
    return np.int64(given.size[base + np.uint64(node)])


@device_function
def parent_of(given, here, base, node):
    """The parent (int64)."""
    return np.int64(given.parent[base + np.uint64(node)])


def make_relations(form: Form) -> Relations:
    """Device functions for trees of any size."""
    lanes, lane_bits = form.lanes, np.int64(form.lane_bits)

    @device_function
    def select(given, here, base, node, inside, rank):
        """The rank-th node in the subtree, or outside of it, in the order of labels (int64)."""
        start = np.int32(apart_from(np.int64(given.position[base + np.uint64(node)])))
        length = np.uint32(apart_from(np.int64(given.size[base + np.uint64(node)])))
        wanted = np.int32(apart_from(inside))
        tree_nodes = np.int32(apart_from(here.tree_nodes))
        last = np.int32(apart_from(rank))
        seen = np.int32(0)
        smaller = np.int32(0)  # of the lane's labels, those before the one sought
        for part in range(here.sizes.labels >> lane_bits):
            label = np.uint64(part * lanes) + here.lane
            offset = np.uint32(np.int32(given.position[base + label] - start))
            fits = np.int32(np.int32(offset < length) == wanted)
            fits = np.int32(fits & np.int32(np.int32(label) < tree_nodes))
            smaller = np.int32(smaller + np.int32(np.int32(seen + lane_rank(fits)) <= last))
            seen = np.int32(seen + lane_count(fits))
        return np.int64(lane_count(smaller))

    return Relations(is_descendant, subtree_size, select, parent_of)
