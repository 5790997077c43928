"""Cell tree of a search: binary, with cells or groups of cells as leaves, and mutations on its edges.

Each edge has the sum of each mutation's weights over the cells below it, and the best of these sums at or
below it. A mutation's score is its best sum, or 0 if none is positive.
"""

import numpy as np

from syclade.kernels.search.rows import total_above
from syclade.kernels.search.slot import at_joint, lane_at
from syclade.kernels.target import address, control, device_function, maximum

_ZERO = control(0)
_ONE = control(1)


@device_function
def joint_row(slot, joint):
    """Return where a node's row over mutations starts (address)."""
    return slot.joint_rows + address(joint * slot.genes)


@device_function
def column_row(slot, column):
    """Return where a column's row of weights starts (address)."""
    return address(control(column) * slot.genes)


@device_function
def left_of(slot, joint):
    """Return the left child (control); -1 for a leaf."""
    return control(slot.given.left[at_joint(slot, joint)])


@device_function
def right_of(slot, joint):
    """Return the right child (control); -1 for a leaf."""
    return control(slot.given.right[at_joint(slot, joint)])


@device_function
def above_of(slot, joint):
    """Return the parent (control); -1 for the root."""
    return control(slot.given.above[at_joint(slot, joint)])


@device_function
def sibling_of(slot, joint):
    """Return the sibling (control)."""
    upper = above_of(slot, joint)
    left = left_of(slot, upper)
    sibling = left
    if left == joint:
        sibling = right_of(slot, upper)
    return sibling


@device_function
def put_joint(
    slot,  # OUT left, right, above
    joint,  # IN control: the internal node
    left,  # IN control
    right,  # IN control
):
    """Make two nodes the children of a third."""
    given = slot.given
    given.left[at_joint(slot, joint)] = np.int32(left)
    given.right[at_joint(slot, joint)] = np.int32(right)
    given.above[at_joint(slot, left)] = np.int32(joint)
    given.above[at_joint(slot, right)] = np.int32(joint)


@device_function
def put_leaf(slot, joint):
    """Make a node a leaf."""
    slot.given.left[at_joint(slot, joint)] = np.int32(-1)
    slot.given.right[at_joint(slot, joint)] = np.int32(-1)


@device_function
def put_root(slot, joint):
    """Make a node the root."""
    slot.given.above[at_joint(slot, joint)] = np.int32(-1)


@device_function
def replace_child(
    slot,  # IN OUT left, right; OUT above
    upper,  # IN control: parent of `old`, or -1
    old,  # IN control
    new,  # IN control
):
    """Put `new` in the place of `old` below `upper`; if `upper` is -1, `new` becomes the root."""
    given = slot.given
    given.above[at_joint(slot, new)] = np.int32(upper)
    if upper >= _ZERO:
        if left_of(slot, upper) == old:
            given.left[at_joint(slot, upper)] = np.int32(new)
        else:
            given.right[at_joint(slot, upper)] = np.int32(new)


@device_function
def join(slot, joint):
    """Compute a node's rows from its children's."""
    given = slot.given
    own = joint_row(slot, joint)
    left = joint_row(slot, left_of(slot, joint))
    right = joint_row(slot, right_of(slot, joint))
    for part in range(slot.gene_rounds):
        gene = lane_at(slot, part)
        both = np.int32(given.sums[left + gene] + given.sums[right + gene])
        given.sums[own + gene] = both
        given.tops[own + gene] = maximum(both, maximum(given.tops[left + gene], given.tops[right + gene]))


@device_function
def take_off_up(
    slot,  # IN left, right, above, gene_rows; IN OUT sums, tops
    node,  # IN control; -1: do nothing
    sign,  # IN int32: 1 or -1
    row,  # IN address: where the spare row starts
):
    """Add sign * row to the sums of a node and of those above it; renew their tops."""
    given = slot.given
    while node >= _ZERO:
        own = joint_row(slot, node)
        left = joint_row(slot, left_of(slot, node))
        right = joint_row(slot, right_of(slot, node))
        for part in range(slot.gene_rounds):
            gene = lane_at(slot, part)
            value = np.int32(given.sums[own + gene] + np.int32(sign * given.gene_rows[row + gene]))
            given.sums[own + gene] = value
            given.tops[own + gene] = maximum(
                value, maximum(given.tops[left + gene], given.tops[right + gene])
            )
        node = above_of(slot, node)


@device_function
def cell_tree_score(slot, root):
    """Return the score with each mutation on its best edge, or on none (int64)."""
    return total_above(slot, slot.gene_rounds, slot.given.tops, joint_row(slot, root))
