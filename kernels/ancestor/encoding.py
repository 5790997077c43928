"""Encoding `ancestor`: one row of bits per node, loops of fixed length (ffSCITE's design), and its scores."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from syclade.kernels.ancestor.arguments import ARGUMENTS
from syclade.kernels.ancestor.capacity import fixed_capacity, specialised_capacity
from syclade.kernels.ancestor.find_parent import from_own_row
from syclade.kernels.ancestor.reduction import make_copy_rows, make_total
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
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
        given,  # IN the kernel's arguments: not used
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control: not used
    ):
        """Return (Here, where the slot's matrices start (address))."""
        size = capacity_of()
        return Here(number, lane), number * address(size.nodes * size.words)

    @device_function
    def start(given, here, base):
        """Return `base`: there are no data to compute from the matrix."""
        return base

    @device_function
    def evaluate(
        given,  # IN ancestors, planes, multiplicity, weights, the score's arguments; OUT proposal, shares
        here,  # IN Here
        base,  # IN address: where the slot's matrices start
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree (not used)
    ):
        """Write the whole proposed tree; return (its score (int64), 0: `follow` needs no change)."""
        tree_update(given, base, base, here.lane, proposal)
        share = score_mapping(given, here.number, given.proposal, in_step(base), here.lane)
        shares = here.number * lanes_u
        given.shares[shares + here.lane] = share
        return total(given.shares, in_step(shares)), control(0)

    @device_function
    def follow(
        given,  # IN proposal; OUT ancestors: (slots, words, nodes) uint64, flat
        here,  # IN Here
        base,  # IN address: where the slot's matrices start
        proposal,  # IN Proposal (not used)
        change,  # IN control (not used)
    ):
        """Copy the proposed tree to the current one."""
        copy_rows(given.proposal, given.ancestors, base, here.lane)

    @device_function
    def keep(given, here, base):
        """Copy the current tree to the best one."""
        copy_rows(given.ancestors, given.best_ancestors, base, here.lane)

    @device_function
    def finish(given, here, base):
        """Do nothing: the arrays are as the host needs them."""

    return Evaluation(relations, place, start, evaluate, follow, keep, finish)


ENCODING = Encoding("ancestor", "work-group", ARGUMENTS, partial(make_evaluation, fixed_capacity))

SPECIALISED = Encoding("ancestor", "work-group", ARGUMENTS, partial(make_evaluation, specialised_capacity))
