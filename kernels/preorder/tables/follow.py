"""Follow: apply an edit to the tree, and update the tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, Proposal
from syclade.kernels.chain.slot import after_writes
from syclade.kernels.preorder.changes import Changes, Moved
from syclade.kernels.preorder.edits.edit import Edit, make_rearranged
from syclade.kernels.preorder.edits.exchange_labels import make_swap_labels, relabelled
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.rebuild import make_rebuild
from syclade.kernels.preorder.tree.blocks import Blocks
from syclade.kernels.preorder.tree.permute import make_permute
from syclade.kernels.preorder.tree.renumber import make_renumber
from syclade.kernels.preorder.tree.touched import touched_by_everything
from syclade.kernels.target import address, apart_from, control, device_function

_ZERO = control(0)
_ONE = control(1)


@device_function
def moved_apart(moved):
    """Return the same record, kept apart from code for lanes."""
    return Moved(
        moved.shape, apart_from(moved.x), apart_from(moved.a1), apart_from(moved.b1),
        apart_from(moved.y), apart_from(moved.a2), apart_from(moved.b2), moved.end_first, moved.end,
        apart_from(moved.plus_1), apart_from(moved.minus_1),
        apart_from(moved.plus_2), apart_from(moved.minus_2),
    )  # fmt: skip


def make_follow(form: Form, edits: Sequence[Edit], blocks: Blocks, extras: Extras) -> Any:
    """Return the device function `follow`."""
    rearranged_by = make_rearranged(edits)
    swap_labels = make_swap_labels(form)
    permute, take_permuted = make_permute(form)
    renumber = make_renumber(form)
    move_to_block, cut_anew = blocks.move_to_block, blocks.cut_anew
    rebuild = make_rebuild(form, extras)

    @device_function
    def change_blocks(
        slot,  # IN OUT places, block_start
        rearranged,  # IN Rearranged
    ):
        """Put runs into their new blocks, or cut the order into blocks again.

        Returns what the tables have to follow (Changes).
        """
        here = slot.here
        local, runs, touched = rearranged.local, rearranged.changes.runs, rearranged.changes.touched
        if local.fits != _ZERO:
            slot = after_writes(slot)
            if runs.start_3 < runs.stop_3:
                move_to_block(slot, runs.start_3, runs.stop_3, local.new, local.old)
                slot = after_writes(slot)
            move_to_block(slot, runs.start_1, runs.stop_1, local.old, local.new)
        else:
            slot = after_writes(slot)
            cut_anew(slot)
            touched = touched_by_everything(
                ((here.tree_nodes - _ONE) >> here.sizes.block_bits) + _ONE, here.tree_nodes
            )
        return Changes(runs, touched, rearranged.changes.climbs)

    @device_function
    def rearrange(
        slot,  # IN OUT the tree
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Give nodes new parents and runs of the order new places; return Changes."""
        given = slot.given
        rearranged = rearranged_by(slot, proposal, moved)
        permutation = rearranged.permutation
        permute(slot, permutation)
        renumber(slot, permutation, rearranged.growth)
        slot = after_writes(slot)
        take_permuted(slot, permutation.start_1, permutation.stop)
        given.parent[slot.base + address(moved.x)] = np.int32(rearranged.above_x)
        given.parent[slot.base + address(moved.y)] = np.int32(rearranged.above_y)
        return change_blocks(slot, rearranged)

    @device_function
    def relabel(
        slot,  # IN OUT the tree
        moved,  # IN Moved
    ):
        """Swap two nodes, while all positions keep their places; return Changes."""
        given = slot.given
        changes = relabelled(slot, moved)
        above_x = control(given.parent[slot.base + address(moved.x)])
        above_y = control(given.parent[slot.base + address(moved.y)])
        slot = after_writes(slot)
        swap_labels(slot, moved, above_x, above_y)
        return changes

    @device_function
    def follow(
        slot,  # IN OUT the tree and the tables
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Change the tree and the tables; all lanes come here together."""
        if (moved.plus_1 ^ moved.minus_1) | (moved.plus_2 ^ moved.minus_2) != _ZERO:
            moved = moved_apart(moved)
            proposal = Proposal(
                proposal.kind,
                proposal.edit,
                proposal.v,
                proposal.w,
                apart_from(proposal.t),
                proposal.correction,
            )
            if proposal.edit == EXCHANGE_LABELS:
                changes = relabel(slot, moved)
            else:
                changes = rearrange(slot, proposal, moved)
            slot = after_writes(slot)
            rebuild(slot, changes)

    return follow
