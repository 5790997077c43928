"""Encoding `sums`: a proposal costs the number of nodes above what it moves, and of their children."""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import EXCHANGE_LABELS, NOTHING
from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.sums.arguments import ARGUMENTS, SHARES
from syclade.kernels.sums.edits import apply_edit, undo_edit
from syclade.kernels.sums.factors import exchange_shares, put_factors, put_node_shares
from syclade.kernels.sums.here import Here
from syclade.kernels.sums.path import leave_path, path_above, path_of_all, take_fresh_rows
from syclade.kernels.sums.relations import RELATIONS
from syclade.kernels.sums.rows import ROWS, Sums, make_rows
from syclade.kernels.sums.sizes import encodings_of
from syclade.kernels.target import address, control, device_function, in_step, lane_sum, private_array

_ZERO = control(0)
_ONE = control(1)
_PLACES = control(2 * ROWS)


def make_share_of_path(score: Score, lanes: int, rounds: int) -> Any:
    """Return the device function `share_of_path`; arguments as for `make_evaluation`."""
    renew, of_sums = make_rows(lanes, rounds), score.of_cell

    @device_function
    def share_of_path(
        slot,  # IN the tree, observed, path, multiplicity, the score's arguments; IN OUT rows
        count,  # IN control: length of the path, which ends at the root
        factors,  # IN (slots, classes, 2) int64, flat
    ):
        """Write the fresh rows of the path; return the lane's share of the tree's score (int64)."""
        given, here = slot.given, slot.here
        sums = Sums(
            private_array(rounds, np.int64), private_array(rounds, np.int64),
            private_array(rounds, np.int64), private_array(rounds, np.int64),
        )  # fmt: skip
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            renew(sums, slot, count, panel, factors)
            cell = address(panel * rounds * lanes) + here.lane
            for part in range(rounds):
                worth = of_sums(given, here.number, sums, part)
                share = share + worth * given.multiplicity[cell + address(part * lanes)]
        return share

    return share_of_path


def make_evaluation(sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int) -> Evaluation:
    """Return the evaluation of a score, given a cell's sums over the tree; arguments as in `encodings_of`."""
    share_of_path = make_share_of_path(score, lanes, rounds)
    lane_bits = control(lanes.bit_length() - 1)

    @device_function
    def place(
        given,  # IN the kernel's arguments
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control: number of the root
    ):
        """Return the Slot."""
        sizes = sizes_of(given)
        base = number * address(sizes.nodes)
        rows = number * address(_PLACES * sizes.nodes * sizes.cells)
        return Slot(given, Here(number, lane, mutations, rows, sizes), base)

    @device_function
    def start(slot):
        """Compute the data that follow from the tree, unless they are up to date; return `base`."""
        given, here, base = slot.given, slot.here, slot.base
        if given.tables_made[here.number] == _ZERO:
            put_factors(slot)
            put_node_shares(slot)
            for node in range(here.sizes.nodes):
                at = base + address(node)
                given.side[at], given.fresh[at] = np.int32(0), np.int32(0)
            count = path_of_all(slot)
            share_of_path(slot, count, given.factors)
            leave_path(slot, count)
            take_fresh_rows(slot, count)
            base = in_step(base)
        return base

    @device_function
    def move_shares(
        slot,  # IN OUT the shares
        proposal,  # IN Proposal
    ):
        """Exchange shares of labels that are exchanged; doing it twice changes nothing."""
        if proposal.edit == EXCHANGE_LABELS:
            exchange_shares(slot, proposal.v, proposal.w)

    @device_function
    def evaluate(
        slot,  # IN OUT the tree and its rows; the tree is as before at the end
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree
        threshold,  # IN int64 (not used)
    ):
        """Return (the score after the edit (int64), the length of the path)."""
        proposed, count = current, _ZERO
        if proposal.edit != NOTHING:
            changed = apply_edit(slot, proposal)
            move_shares(slot, proposal)
            count = path_above(slot, changed.one, changed.other)
            proposed = lane_sum(share_of_path(slot, count, slot.given.factors))
            leave_path(slot, count)
            undo_edit(slot, proposal, changed)
            move_shares(slot, proposal)
        return proposed, count

    @device_function
    def follow(
        slot,  # IN OUT the tree and its rows
        proposal,  # IN Proposal
        count,  # IN control: length of the path, which `evaluate` returned
    ):
        """Apply the edit, and take over the fresh rows."""
        if proposal.edit != NOTHING:
            apply_edit(slot, proposal)
            move_shares(slot, proposal)
            take_fresh_rows(slot, count)

    @device_function
    def keep(slot):
        """Copy the tree to the best tree."""
        given, here = slot.given, slot.here
        for part in range(here.sizes.nodes >> lane_bits):
            at = slot.base + address(part * lanes) + here.lane
            given.best_parent[at] = given.parent[at]

    @device_function
    def finish(slot):
        """Mark the data that follow from the tree as up to date."""
        slot.given.tables_made[slot.here.number] = _ONE

    return Evaluation(RELATIONS, place, start, evaluate, follow, keep, finish)


ENCODING, GENERAL, SPECIALISED = encodings_of("sums", (*ARGUMENTS, *SHARES), make_evaluation)
