"""Encoding `clade` of cell trees: the cost of a proposal is its depth times the number of mutations."""

from typing import Any

from syclade.kernels.chain.edits import NOTHING
from syclade.kernels.chain.parts import Evaluation, Relations, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.clade.arguments import ARGUMENTS
from syclade.kernels.clade.follow import make_follow
from syclade.kernels.clade.here import Here
from syclade.kernels.clade.links import is_below, parent_of
from syclade.kernels.clade.rows import make_rows
from syclade.kernels.clade.score_mapping import make_score_mapping
from syclade.kernels.clade.sizes import encodings_of
from syclade.kernels.target import address, choose, control, device_function, equal, in_step, lane_sum

_ZERO = control(0)
_ONE = control(1)
_TWO = control(2)


def make_evaluation(sizes_of: Any, score: Score, *, lanes: int, rounds: int, **_others: int) -> Evaluation:
    """Return the evaluation of a score, given a mutation's sum at its best edge; see `encodings_of`."""
    rows = make_rows(lanes)
    start_rows = rows.start
    score_mapping = make_score_mapping(score, lanes, rounds)
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
        clade = number * address(sizes.nodes * sizes.words)
        row = number * address(_TWO * sizes.nodes * sizes.genes)
        return Slot(given, Here(number, lane, mutations, clade, row, sizes), base)

    @device_function
    def start(slot):
        """Compute the data that follow from the tree, unless they are up to date; return `base`."""
        base = slot.base
        if slot.given.tables_made[slot.here.number] == _ZERO:
            start_rows(slot)
            base = in_step(base)
        return base

    @device_function
    def evaluate(
        slot,  # IN the tree and its rows, and the score's arguments
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree
        threshold,  # IN int64 (not used)
    ):
        """Return (the score after the edit (int64), 0: `follow` needs no change)."""
        proposed = lane_sum(score_mapping(slot, proposal))
        return choose(equal(proposal.edit, NOTHING), current, proposed), _ZERO

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

    # Moves on cell trees query neither sizes of subtrees nor nodes by rank.
    relations = Relations(is_below, None, None, parent_of)
    return Evaluation(relations, place, start, evaluate, make_follow(rows), keep, finish)


ENCODING, GENERAL, SPECIALISED = encodings_of("clade", ARGUMENTS, make_evaluation)
