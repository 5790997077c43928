"""Interval of a node's subtree in the preorder."""

from syclade.kernels.target import address, control, device_function


@device_function
def interval_of(
    slot,  # IN position, size
    node,  # IN control
):
    """Return (start, end) of the node's subtree: positions (control)."""
    given, base = slot.given, slot.base
    start = control(given.position[base + address(node)])
    return start, start + control(given.size[base + address(node)])


@device_function
def row_above(
    slot,  # IN row_of, parent
    node,  # IN control
):
    """Return the score row of the node's parent (control)."""
    given, base = slot.given, slot.base
    return control(given.row_of[base + address(given.parent[base + address(node)])])
