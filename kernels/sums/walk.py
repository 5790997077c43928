"""Walk through a subtree in postorder: children before their parent, without a stack."""

from syclade.kernels.sums.links import NOBODY, first_of, next_of, parent_of
from syclade.kernels.target import device_function


@device_function
def first_below(
    slot,  # IN first_child
    node,  # IN control
):
    """Return the first node of a subtree in postorder (control)."""
    child = first_of(slot, node)
    while child != NOBODY:
        node = child
        child = first_of(slot, node)
    return node


@device_function
def next_after(
    slot,  # IN parent, first_child, next_sibling
    node,  # IN control, not the root
):
    """Return the next node in postorder (control)."""
    sibling = next_of(slot, node)
    after = parent_of(slot, node)
    if sibling != NOBODY:
        after = first_below(slot, sibling)
    return after
