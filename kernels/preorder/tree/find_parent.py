"""Find parent: parents are kept; what is sought is the branch of a node in which another one stands."""

from syclade.kernels.target import address, control, device_function


@device_function
def branch_towards(
    parent,  # IN (slots, nodes) int32, flat
    base,  # IN address: where the slot's tree starts
    top,  # IN control: a node above `node`
    node,  # IN control
):
    """The child of `top` whose subtree holds `node` (control)."""
    branch = node
    above = control(parent[base + address(branch)])
    while above != top:
        branch = above
        above = control(parent[base + address(branch)])
    return branch
