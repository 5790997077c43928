"""Encoding `ancestor`: one row of bits per node, loops of fixed length (ffSCITE's design), and its scores."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from syclade.kernels.ancestor.arguments import ARGUMENTS
from syclade.kernels.ancestor.capacity import fixed_capacity, matrix_start, specialised_capacity
from syclade.kernels.ancestor.find_parent import from_own_row
from syclade.kernels.ancestor.reduction import make_copy_rows, make_total
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.target import address, control, device_function, in_step


class Here(NamedTuple):
    """Context of a slot.

    Attributes:
        number: address, the slot.
        lane: address.
    """

    number: Any
    lane: Any


def make_evaluation(capacity: Callable[..., Any], score: Score, *, lanes: int, **sizes: int) -> Evaluation:
    """Return the evaluation of a score, for matrices of a capacity.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        score: contribution of a cell.
        lanes: lanes per slot.
        sizes: as in `Capacity`, if they are known.
    """
    capacity_of, lanes_u = capacity(**sizes), address(lanes)
    tree_update = make_tree_update(capacity_of, lanes, from_own_row)
    score_mapping = make_score_mapping(score, capacity_of, lanes)
    total, copy_rows = make_total(lanes), make_copy_rows(capacity_of, lanes)
    relations = make_relations(capacity_of)

    @device_function
    def place(
        given,  # IN the kernel's arguments
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control: not used
    ):
        """Return the Slot; its tree is where its matrices start."""
        return Slot(given, Here(number, lane), matrix_start(capacity_of(), number))

    @device_function
    def start(slot):
        """Return its `base`: there are no data to compute from the matrix."""
        return slot.base

    @device_function
    def evaluate(
        slot,  # IN ancestors, planes, multiplicity, weights, the score's arguments; OUT proposal, shares
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree (not used)
        threshold,  # IN int64 (not used)
    ):
        """Write the whole proposed tree; return (its score (int64), 0: `follow` needs no change)."""
        given, here, base = slot
        tree_update(given, base, base, here.lane, proposal)
        share = score_mapping(given, here.number, given.proposal, in_step(base), here.lane)
        shares = here.number * lanes_u
        given.shares[shares + here.lane] = share
        return total(given.shares, in_step(shares)), control(0)

    @device_function
    def follow(
        slot,  # IN proposal; OUT ancestors: (slots, words, nodes) uint64, flat
        proposal,  # IN Proposal (not used)
        change,  # IN control (not used)
    ):
        """Copy the proposed tree to the current one."""
        given = slot.given
        copy_rows(given.proposal, given.ancestors, slot.base, slot.here.lane)

    @device_function
    def keep(slot):
        """Copy the current tree to the best one."""
        given = slot.given
        copy_rows(given.ancestors, given.best_ancestors, slot.base, slot.here.lane)

    @device_function
    def finish(slot):
        """Do nothing: the arrays are as the host needs them."""

    return Evaluation(relations, place, start, evaluate, follow, keep, finish)


ENCODING = Encoding("ancestor", "work-group", ARGUMENTS, partial(make_evaluation, fixed_capacity))

SPECIALISED = Encoding("ancestor", "work-group", ARGUMENTS, partial(make_evaluation, specialised_capacity))
