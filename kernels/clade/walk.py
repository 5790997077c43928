"""Walk through a cell tree in postorder: children before their parent, without a stack."""

from syclade.kernels.clade.links import parent_of
from syclade.kernels.target import address, control, device_function

_ONE = control(1)


@device_function
def first_leaf(
    slot,  # IN left
    node,  # IN control
):
    """Return the first node of a subtree in postorder: the leaf that left children lead to (control)."""
    while node > slot.here.root >> _ONE:
        node = control(slot.given.left[slot.base + address(node)])
    return node


@device_function
def next_node(
    slot,  # IN parent, left, right
    node,  # IN control, not the root
):
    """Return the next node in postorder (control)."""
    joint = parent_of(slot, node)
    right = control(slot.given.right[slot.base + address(joint)])
    if node != right:
        joint = first_leaf(slot, right)
    return joint
