"""Find parent: parents are stored; this finds the branch below a node that another node is in."""

from syclade.kernels.target import address, control, device_function


@device_function
def branch_towards(
    parent,  # IN (slots, nodes) int32, flat
    base,  # IN address: where the slot's tree starts
    top,  # IN control: a node above `node`
    node,  # IN control
):
    """Return the child of `top` whose subtree has `node` (control)."""
    branch = node
    above = control(parent[base + address(branch)])
    while above != top:
        branch = above
        above = control(parent[base + address(branch)])
    return branch
