"""Common parts of narrow and wide tables: the tree, its tables, and the composition of an evaluation."""

from typing import Any

from syclade.kernels.chain.parts import Evaluation
from syclade.kernels.chain.slot import Slot
from syclade.kernels.preorder.edits.edit import make_moved
from syclade.kernels.preorder.edits.exchange_labels import make_exchange_labels
from syclade.kernels.preorder.edits.exchange_subtrees import make_exchange_subtrees
from syclade.kernels.preorder.edits.nothing import moved_by_nothing
from syclade.kernels.preorder.edits.reattach import make_reattach
from syclade.kernels.preorder.edits.turn_over import make_turn_over
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.here import Here
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.follow import make_follow
from syclade.kernels.preorder.tables.start import make_start
from syclade.kernels.preorder.tree.blocks import make_blocks
from syclade.kernels.preorder.tree.keep import make_keep
from syclade.kernels.preorder.tree.relations import make_relations
from syclade.kernels.preorder.tree.renumber import make_fill_order
from syclade.kernels.target import address, control, device_function, in_step

_ZERO = control(0)
_ONE = control(1)
_TWO = address(2)

EDITS = (make_reattach, make_exchange_labels, make_turn_over, make_exchange_subtrees)
"""Edits that shift something, the likeliest first."""


def compose_evaluation(form: Form, sizes_of: Any, score_after: Any, extras: Extras) -> Evaluation:
    """Return the evaluation of a score on tables of this form.

    Args:
        form: form of the tables.
        sizes_of: device function (given) -> (Sizes, Layout, Variant).
        score_after: device function (slot, proposal, moved, current) -> the score after the
            edit.
        extras: parts of the tables besides scores and running maxima.
    """
    blocks = make_blocks(form)
    edits = [make_edit(form, blocks) for make_edit in EDITS]
    moved_by = make_moved(edits, moved_by_nothing)
    start_tables = make_start(form, blocks, extras)
    follow = make_follow(form, edits, blocks, extras)
    fill_order = make_fill_order(form)
    keep = make_keep(form)
    keeps_order = form.subtrees

    @device_function
    def place(
        given,  # IN the kernel's arguments
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control
    ):
        """Return the Slot."""
        sizes, layout, variant = sizes_of(given)
        base = number * address(sizes.nodes)
        here = Here(
            number, lane, mutations + _ONE, base * _TWO,
            number * address(layout.rows * sizes.cells),
            number * address(layout.sketched * sizes.cells),
            number * address(sizes.cells),
            sizes, layout, variant,
        )  # fmt: skip
        return Slot(given, here, base)

    @device_function
    def start(slot):
        """Make the tables if they are not those of the tree; return `base`."""
        base = slot.base
        if slot.given.tables_made[slot.here.number] == _ZERO:
            start_tables(slot)
            base = in_step(base)
        return base

    @device_function
    def evaluate(
        slot,  # IN the tree and its tables; OUT scratch of `score_after`
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree
        threshold,  # IN int64 (not used)
    ):
        """Return (the score after the edit, Moved)."""
        moved = moved_by(slot, proposal)
        proposed = current
        if (moved.plus_1 ^ moved.minus_1) | (moved.plus_2 ^ moved.minus_2) != _ZERO:
            proposed = score_after(slot, proposal, moved, current)
        return proposed, moved

    @device_function
    def finish(slot):
        """Fill the order if it was not kept, and mark the tables as those of the tree."""
        if not keeps_order:
            fill_order(slot)
        slot.given.tables_made[slot.here.number] = _ONE

    return Evaluation(make_relations(form), place, start, evaluate, follow, keep, finish)
