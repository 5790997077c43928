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
        slot,  # IN OUT the tree and its rows
        x,  # IN control: a leaf
        y,  # IN control: another leaf
    ):
        """Swap two leaves that have different parents."""
        above_x, above_y = parent_of(slot, x), parent_of(slot, y)
        put_child(slot, above_x, x, y)
        put_child(slot, above_y, y, x)
        renew_up(slot, above_x)
        renew_up(slot, above_y)

    @device_function
    def leave_root(
        slot,  # IN OUT the tree and its rows
        x,  # IN control: a child of the root
        t,  # IN control: the node to go above
    ):
        """Reattach x, a child of the root.

        Its sibling becomes the new root, but the root keeps its number: it gets the sibling's children, and
        the sibling's number goes to the internal node above x and t.
        """
        given, here = slot.given, slot.here
        sibling = other_child(slot, here.root, x)
        at = slot.base + address(sibling)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(slot, here.root, one, other)
        put_child(slot, parent_of(slot, t), t, sibling)
        put_children(slot, sibling, x, t)
        renew_up(slot, sibling)

    @device_function
    def join_root(
        slot,  # IN OUT the tree
        x,  # IN control
        joint,  # IN control: the internal node that was above x
    ):
        """Make x a child of the root; the other child is x's internal node, with all else below it."""
        given, here = slot.given, slot.here
        at = slot.base + address(here.root)
        one, other = control(given.left[at]), control(given.right[at])
        put_children(slot, joint, one, other)
        put_children(slot, here.root, x, joint)

    @device_function
    def reattach(
        slot,  # IN OUT the tree and its rows
        x,  # IN control
        t,  # IN control: the node to go above
    ):
        """Move x above t, which is not its sibling, along with the internal node above x."""
        here = slot.here
        joint = parent_of(slot, x)
        if joint == here.root:
            leave_root(slot, x, t)
        else:
            upper = parent_of(slot, joint)
            put_child(slot, upper, joint, other_child(slot, joint, x))
            if t == here.root:
                # If x was a grandchild of the root, `joint` is now between the root and what has changed.
                join_root(slot, x, joint)
                if upper == here.root:
                    upper = joint
            else:
                put_child(slot, parent_of(slot, t), t, joint)
                put_children(slot, joint, x, t)
            renew_up(slot, upper)
            renew_up(slot, joint)

    @device_function
    def follow(
        slot,  # IN OUT the tree and its rows
        proposal,  # IN Proposal
        change,  # IN not used
    ):
        """Apply one of the edits that moves of cell trees make."""
        if proposal.edit == REATTACH:
            reattach(slot, proposal.v, proposal.t)
        elif proposal.edit == EXCHANGE_LABELS:
            exchange_leaves(slot, proposal.v, proposal.w)

    return follow
