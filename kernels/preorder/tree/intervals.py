"""Interval of a node's subtree in the preorder."""

from syclade.kernels.target import address, control, device_function


@device_function
def interval_of(
    given,  # IN position, size
    base,  # IN address: where the slot's tree starts
    node,  # IN control
):
    """Return (start, end) of the node's subtree: positions (control)."""
    start = control(given.position[base + address(node)])
    return start, start + control(given.size[base + address(node)])


@device_function
def row_above(
    given,  # IN row_of, parent
    base,  # IN address: where the slot's tree starts
    node,  # IN control
):
    """Return the score row of the node's parent (control)."""
    return control(given.row_of[base + address(given.parent[base + address(node)])])
