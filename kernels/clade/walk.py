"""Walk through a cell tree in postorder: children before their parent, without a stack."""

from syclade.kernels.clade.links import parent_of
from syclade.kernels.target import address, control, device_function

_ONE = control(1)


@device_function
def first_leaf(
    given,  # IN left
    here,  # IN Here
    base,  # IN address: where the slot's tree starts
    node,  # IN control
):
    """Return the first node of a subtree in postorder: the leaf that left children lead to (control)."""
    while node > here.root >> _ONE:
        node = control(given.left[base + address(node)])
    return node


@device_function
def next_node(
    given,  # IN parent, left, right
    here,  # IN Here
    base,  # IN address: where the slot's tree starts
    node,  # IN control, not the root
):
    """Return the next node in postorder (control)."""
    joint = parent_of(given, here, base, node)
    right = control(given.right[base + address(joint)])
    if node != right:
        joint = first_leaf(given, here, base, right)
    return joint
