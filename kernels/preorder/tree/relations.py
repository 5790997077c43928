"""Questions to the intervals that moves ask (`chain.parts.Relations`)."""

import numpy as np

from syclade.kernels.chain.parts import Relations
from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, apart_from, control, device_function, lane_count, lane_rank


@device_function
def is_descendant(given, here, base, node, ancestor):
    """1 if `ancestor` is the node itself or above it, else 0 (control): one comparison of intervals."""
    start = control(given.position[base + address(ancestor)])
    offset = control(given.position[base + address(node)]) - start
    return control(np.uint64(offset) < np.uint64(given.size[base + address(ancestor)]))


@device_function
def subtree_size(given, here, base, node):
    """Nodes of the subtree, itself included (control)."""
    return control(given.size[base + address(node)])


@device_function
def parent_of(given, here, base, node):
    """The parent (control)."""
    return control(given.parent[base + address(node)])


def make_relations(form: Form) -> Relations:
    """Device functions for trees of any size."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def select(given, here, base, node, inside, rank):
        """The rank-th node in the subtree, or outside of it, in the order of labels (control)."""
        start = np.int32(apart_from(control(given.position[base + address(node)])))
        length = np.uint32(apart_from(control(given.size[base + address(node)])))
        wanted = np.int32(apart_from(inside))
        tree_nodes = np.int32(apart_from(here.tree_nodes))
        last = np.int32(apart_from(rank))
        seen = np.int32(0)
        smaller = np.int32(0)  # of the lane's labels, those before the one sought
        for part in range(here.sizes.labels >> lane_bits):
            label = address(part * lanes) + here.lane
            offset = np.uint32(np.int32(given.position[base + label] - start))
            fits = np.int32(np.int32(offset < length) == wanted)
            fits = np.int32(fits & np.int32(np.int32(label) < tree_nodes))
            smaller = np.int32(smaller + np.int32(np.int32(seen + lane_rank(fits)) <= last))
            seen = np.int32(seen + lane_count(fits))
        return control(lane_count(smaller))

    return Relations(is_descendant, subtree_size, select, parent_of)
