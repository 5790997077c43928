"""Key of a tree: 64 bits computed from its parents alone, the same in every encoding.

It is the sum over all mutations of a hash of (mutation, parent). So it changes only by the hashes of the
parents that change. The hash is the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014); `host.data.trees.tree` is the same in numpy.
"""

import numpy as np

from syclade.kernels.target import device_function

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LABEL_BITS = np.uint64(32)


@device_function
def edge_key(
    node,  # IN uint64 < 2^32, one per lane
    parent,  # IN uint64 < 2^32, one per lane
):
    """Return the part of a mutation and its parent in the key (uint64)."""
    word = ((node << _LABEL_BITS) | parent) + _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))
