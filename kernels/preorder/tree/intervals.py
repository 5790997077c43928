"""Where a node's subtree stands in the preorder."""

from syclade.kernels.target import address, control, device_function


@device_function
def interval_of(
    given,  # IN
    base,  # IN address: where the slot's tree starts
    node,  # IN control
):
    """(start, end) of the node's subtree, positions (control)."""
    start = control(given.position[base + address(node)])
    return start, start + control(given.size[base + address(node)])


@device_function
def row_above(
    given,  # IN
    base,  # IN address
    node,  # IN control
):
    """Score row of the node's parent (control)."""
    return control(given.row_of[base + address(given.parent[base + address(node)])])
