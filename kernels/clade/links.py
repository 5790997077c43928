"""Who is above whom, and how that is changed. All nodes are control integers that lanes share.

Leaves are the nodes 0 ... m-1, for m cells; joints, with two children each, are m ... 2m-2, the last one the
root. What the joints below the root are called, and which child is the left one, means nothing.
"""

import numpy as np

from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of


@device_function
def parent_of(given, here, base, node):
    """Its parent; of the root, itself. The node may be one a lane."""
    return control(given.parent[base + address(node)])


@device_function
def other_child(given, here, base, joint, child):
    """The child of a joint that is not this one."""
    at = base + address(joint)
    return control(given.left[at] ^ given.right[at]) ^ child


@device_function
def is_below(given, here, base, node, ancestor):
    """1 if `ancestor` is the node itself or above it, else 0.

    Of two nodes that have a cell in common, the one with more cells is above the other.
    """
    leaf = np.uint64(given.some_leaf[base + address(node)])
    word = here.clade + address(ancestor * here.sizes.words) + (leaf >> WORD_SHIFT)
    common = bit_of(given.clade[word], leaf)
    larger = given.size[base + address(ancestor)] >= given.size[base + address(node)]
    return control(common) * control(larger)


@device_function
def put_child(given, here, base, joint, old, new):
    """`new` takes the place of a child."""
    at = base + address(joint)
    if control(given.left[at]) == old:
        given.left[at] = np.int32(new)
    else:
        given.right[at] = np.int32(new)
    given.parent[base + address(new)] = np.int32(joint)


@device_function
def put_children(given, here, base, joint, one, other):
    """Make two nodes the children of a joint."""
    at = base + address(joint)
    given.left[at] = np.int32(one)
    given.right[at] = np.int32(other)
    given.parent[base + address(one)] = np.int32(joint)
    given.parent[base + address(other)] = np.int32(joint)
