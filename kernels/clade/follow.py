"""Follow: apply the proposal to the tree, and update what changes on two paths to the root."""

from typing import Any

from syclade.kernels.chain.edits import EXCHANGE_LABELS, REATTACH
from syclade.kernels.clade.links import other_child, parent_of, put_child, put_children
from syclade.kernels.clade.rows import Rows
from syclade.kernels.target import address, control, device_function


def make_follow(rows: Rows) -> Any:
    """Return the device function `follow`."""
    renew_up = rows.renew_up

    @device_function
    def exchange_leaves(
        given,  # IN OUT the tree and its rows
        here,  # IN Here
        base,  # IN address: where the slot's tree starts
        x,  # IN control: a leaf
        y,  # IN control: another leaf
    ):
        """Swap two leaves that have different parents."""
        above_x, above_y = parent_of(given, here, base, x), parent_of(given, here, base, y)
        put_child(given, here, base, above_x, x, y)
        put_child(given, here, base, above_y, y, x)
        renew_up(given, here, base, above_x)
        renew_up(given, here, base, above_y)

    @device_function
    def leave_root(
        given,  # IN OUT the tree and its rows
        here,  # IN Here
        base,  # IN address: where the slot's tree starts
        x,  # IN control: a child of the root
        t,  # IN control: the node to go above
    ):
        """Reattach x, a child of the root.

        Its sibling becomes the new root, but the root keeps its number: it gets the sibling's children, and
        the sibling's number goes to the internal node above x and t.
        """
        sibling = other_child(given, here, base, here.root, x)
        at = base + address(sibling)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(given, here, base, here.root, one, other)
        put_child(given, here, base, parent_of(given, here, base, t), t, sibling)
        put_children(given, here, base, sibling, x, t)
        renew_up(given, here, base, sibling)

    @device_function
    def join_root(
        given,  # IN OUT the tree
        here,  # IN Here
        base,  # IN address: where the slot's tree starts
        x,  # IN control
        joint,  # IN control: the internal node that was above x
    ):
        """Make x a child of the root; the other child is x's internal node, with all else below it."""
        at = base + address(here.root)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(given, here, base, joint, one, other)
        put_children(given, here, base, here.root, x, joint)

    @device_function
    def reattach(
        given,  # IN OUT the tree and its rows
        here,  # IN Here
        base,  # IN address: where the slot's tree starts
        x,  # IN control
        t,  # IN control: the node to go above
    ):
        """Move x above t, which is not its sibling, along with the internal node above x."""
        joint = parent_of(given, here, base, x)
        if joint == here.root:
            leave_root(given, here, base, x, t)
        else:
            upper = parent_of(given, here, base, joint)
            put_child(given, here, base, upper, joint, other_child(given, here, base, joint, x))
            if t == here.root:
                # If x was a grandchild of the root, `joint` is now between the root and what has changed.
                join_root(given, here, base, x, joint)
                if upper == here.root:
                    upper = joint
            else:
                put_child(given, here, base, parent_of(given, here, base, t), t, joint)
                put_children(given, here, base, joint, x, t)
            renew_up(given, here, base, upper)
            renew_up(given, here, base, joint)

    @device_function
    def follow(
        given,  # IN OUT the tree and its rows
        here,  # IN Here
        base,  # IN address: where the slot's tree starts
        proposal,  # IN Proposal
        change,  # IN not used
    ):
        """Apply one of the edits that moves of cell trees make."""
        if proposal.edit == REATTACH:
            reattach(given, here, base, proposal.v, proposal.t)
        elif proposal.edit == EXCHANGE_LABELS:
            exchange_leaves(given, here, base, proposal.v, proposal.w)

    return follow
