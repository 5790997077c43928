"""Find parent: parents are kept; what is sought is the branch of a node in which another one stands."""

import numpy as np

from syclade.kernels.target import device_function


@device_function
def branch_towards(
    parent,  # IN (slots, nodes) int32, flat
    base,  # IN uint64: where the slot's tree starts
    top,  # IN int64: a node above `node`
    node,  # IN int64
):
    """The child of `top` whose subtree holds `node` (int64)."""
    branch = node
    above = np.int64(parent[base + np.uint64(branch)])
    while above != top:
        branch = above
        above = np.int64(parent[base + np.uint64(branch)])
    return branch
