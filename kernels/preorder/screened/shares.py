"""Shares: each node's part of the cells, as a logarithm that is added to the scores of its attachments.

Maxima and sums are of scores with shares. An edit shifts scores by differences of scores without shares, so
the tables have both. Edits move a share with its node. Labels that swap leave the shares at their places.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS
from syclade.kernels.preorder.changes import Moved
from syclade.kernels.preorder.edits.edit import Edit
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.extras import make_extras
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tables.rows import make_rows
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.target import address, control, device_function

_NONE = np.int32(-(2**30))
"""Maximum over no positions: scores with shares may be negative at every node."""


def by_scores_alone(edit: Edit) -> Edit:
    """Return the edit whose shifts are differences of scores without shares."""
    if edit.code == EXCHANGE_LABELS:
        return edit  # shifts are differences of weights
    moved_with_shares = edit.moved

    @device_function
    def moved(
        slot,  # IN the tree before the edit
        proposal,  # IN Proposal
    ):
        """Return the shifted intervals (Moved)."""
        made = moved_with_shares(slot, proposal)
        alone = slot.here.layout.subtree
        return Moved(
            made.shape, made.x, made.a1, made.b1, made.y, made.a2, made.b2, made.end_first, made.end,
            made.plus_1 + alone, made.minus_1 + alone, made.plus_2 + alone, made.minus_2 + alone,
        )  # fmt: skip

    return edit._replace(moved=moved)


def make_extras_with_shares(form: Form) -> Extras:
    """Return extras that keep scores without shares, in the rows of `layout.subtree`."""
    narrow = make_extras(form)
    add_to_row = make_rows(form).add_to_row
    rounds, lanes = form.rounds, form.lanes
    panel_size = address(rounds * lanes)

    @device_function
    def forget_maxima(
        slot,  # OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
    ):
        """Set all maxima over blocks to those of no positions."""
        given, here = slot.given, slot.here
        for part in range(rounds):
            at = column + address(part * lanes)
            given.tables[at + address(here.layout.suffix + here.layout.zero)] = _NONE
            for number in range(here.sizes.blocks):
                block = at + address(control(number) * here.sizes.cells)
                given.tables[block + address(here.layout.top)] = _NONE
                given.tables[block + address(here.layout.before)] = _NONE
                given.tables[block + address(here.layout.after)] = _NONE

    @device_function
    def add_shares(
        slot,  # IN order, places, log_shares; IN OUT tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
    ):
        """Copy the scores of all positions to the rows without shares, and add the shares."""
        given, here, base = slot
        alone = address(here.layout.subtree)
        for place in range(here.tree_nodes):
            label = address(given.order[base + address(place)])
            share = np.int32(given.log_shares[base + label])
            row = column + address(row_at(given.places, base + address(place)))
            for part in range(rounds):
                at = row + address(part * lanes)
                worth = given.tables[at]
                given.tables[at + alone] = worth
                given.tables[at] = np.int32(worth + share)

    @device_function
    def add_to_scores(
        slot,  # IN the tree, log_shares; IN OUT tables, with scores
        panel,  # IN integer: the panel
    ):
        """Add the shares to the scores of a new tree, and forget the maxima over blocks."""
        column = slot.here.table + address(panel) * panel_size + slot.here.lane
        forget_maxima(slot, column)
        add_shares(slot, column)

    @device_function
    def shift_row(
        shift,  # IN (cells of a panel / lanes,) int32, private
        slot,  # IN OUT tables
        panel,  # IN integer: the panel
        row,  # IN control: where the score row starts
    ):
        """Add a shift to the scores of a node, with and without its share."""
        given, here = slot.given, slot.here
        column = here.table + address(panel) * panel_size + here.lane
        add_to_row(shift, given.tables, column, row)
        add_to_row(shift, given.tables, column, row + here.layout.subtree)

    return narrow._replace(add_to_scores=add_to_scores, shift_row=shift_row)


def make_put_shares(form: Form) -> Any:
    """Return the device function `put_shares`."""
    lanes, lane_bits = form.lanes, control(form.lane_bits)

    @device_function
    def put_shares(
        slot,  # IN row_of, tables; OUT log_shares
    ):
        """Store the share of each label."""
        given, here, base = slot
        alone = address(here.layout.subtree)
        for part in range(here.sizes.labels >> lane_bits):
            label = base + address(part * lanes) + here.lane
            at = here.table + here.lane + address(given.row_of[label])
            given.log_shares[label] = np.int32(given.tables[at] - given.tables[at + alone])

    return put_shares
