"""Encoding `parities`: trees with two nodes of one mutation, the last mutation being its copy.

A proposal costs the number of nodes above what it moves, and of their children, as on `sums`. The rows are
those of the score (parts.py).
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.edits import NOTHING
from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.parities.nodes import is_allowed
from syclade.kernels.parities.parts import Rows
from syclade.kernels.sums import encoding as sums
from syclade.kernels.sums.arguments import ARGUMENTS
from syclade.kernels.sums.edits import apply_edit, undo_edit
from syclade.kernels.sums.here import Here
from syclade.kernels.sums.path import leave_path, path_above, path_of_all, take_fresh_rows
from syclade.kernels.sums.sizes import encodings_of
from syclade.kernels.target import address, control, device_function, in_step, lane_sum

_ZERO = control(0)
_ONE = control(1)


def make_evaluation(sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int) -> Evaluation:
    """Return the evaluation of a score, whose `of_cell` are its Rows; arguments as in `encodings_of`."""
    rows: Rows = score.of_cell
    inner = sums.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    share_of_path, prepare = rows.make_share(lanes, rounds), rows.prepare
    places = control(2 * rows.rows)

    @device_function
    def place(
        given,  # IN the kernel's arguments
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control: number of the root
    ):
        """Return the Slot."""
        sizes = sizes_of(given)
        start = number * address(places * sizes.nodes * sizes.cells)
        return Slot(given, Here(number, lane, mutations, start, sizes), number * address(sizes.nodes))

    @device_function
    def start(slot):
        """Compute the data that follow from the tree, unless they are up to date; return `base`."""
        given, here, base = slot.given, slot.here, slot.base
        if given.tables_made[here.number] == _ZERO:
            prepare(slot)
            for node in range(here.sizes.nodes):
                at = base + address(node)
                given.side[at], given.fresh[at] = np.int32(0), np.int32(0)
            count = path_of_all(slot)
            share_of_path(slot, count, _ONE)
            leave_path(slot, count)
            take_fresh_rows(slot, count)
            base = in_step(base)
        return base

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
            count = path_above(slot, changed.one, changed.other)
            proposed = lane_sum(share_of_path(slot, count, is_allowed(slot)))
            leave_path(slot, count)
            undo_edit(slot, proposal, changed)
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
            take_fresh_rows(slot, count)

    return inner._replace(place=place, start=start, evaluate=evaluate, follow=follow)


ENCODING, GENERAL, SPECIALISED = encodings_of("parities", ARGUMENTS, make_evaluation)
