"""Follow: the tree becomes what was proposed, and what changes on two paths to the root is made anew."""

from typing import Any

from syclade.kernels.chain.edits import EXCHANGE_LABELS, REATTACH
from syclade.kernels.clade.links import other_child, parent_of, put_child, put_children
from syclade.kernels.clade.rows import Rows
from syclade.kernels.target import address, control, device_function


def make_follow(rows: Rows) -> Any:
    """Device function follow."""
    renew_up = rows.renew_up

    @device_function
    def exchange_leaves(given, here, base, x, y):
        """Two leaves, of different joints, change places."""
        above_x, above_y = parent_of(given, here, base, x), parent_of(given, here, base, y)
        put_child(given, here, base, above_x, x, y)
        put_child(given, here, base, above_y, y, x)
        renew_up(given, here, base, above_x)
        renew_up(given, here, base, above_y)

    @device_function
    def leave_root(given, here, base, x, t):
        """x is a child of the root: its sibling is the new root, but the root keeps its number."""
        sibling = other_child(given, here, base, here.root, x)
        at = base + address(sibling)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(given, here, base, here.root, one, other)
        put_child(given, here, base, parent_of(given, here, base, t), t, sibling)
        put_children(given, here, base, sibling, x, t)
        renew_up(given, here, base, sibling)

    @device_function
    def join_root(given, here, base, x, joint):
        """x becomes a child of the root, beside all else, which its joint takes over."""
        at = base + address(here.root)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(given, here, base, joint, one, other)
        put_children(given, here, base, here.root, x, joint)

    @device_function
    def reattach(given, here, base, x, t):
        """x goes above t, which is not its sibling, by way of the joint above it."""
        joint = parent_of(given, here, base, x)
        if joint == here.root:
            leave_root(given, here, base, x, t)
        else:
            upper = parent_of(given, here, base, joint)
            put_child(given, here, base, upper, joint, other_child(given, here, base, joint, x))
            if t == here.root:
                # Where x was a grandchild of the root, the root is the joint's parent now.
                join_root(given, here, base, x, joint)
                if upper == here.root:
                    upper = joint
            else:
                put_child(given, here, base, parent_of(given, here, base, t), t, joint)
                put_children(given, here, base, joint, x, t)
            renew_up(given, here, base, upper)
            renew_up(given, here, base, joint)

    @device_function
    def follow(given, here, base, proposal, change):
        """The edits that moves of cell-leaf trees make."""
        if proposal.edit == REATTACH:
            reattach(given, here, base, proposal.v, proposal.t)
        elif proposal.edit == EXCHANGE_LABELS:
            exchange_leaves(given, here, base, proposal.v, proposal.w)

    return follow
