"""Propose: draw for the next step, and compute its move and the threshold of its accept test.

There are two loops over all rows, for every move. The first counts the nodes in the subtrees of both drawn
nodes; the second finds the node of a given rank. Moves are written for relations that loop on every query
(`kernels/moves`), so a step would run zero to three loops. Here the relations answer from the counts of the
first loop, and a selection is deferred: it returns a ticket, which the second loop replaces by the node.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.ancestor.capacity import matrix_start
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.stages.move_record import write_move
from syclade.kernels.chain.batch import make_batch
from syclade.kernels.chain.edits import Draw
from syclade.kernels.chain.parts import Move, Relations
from syclade.kernels.chain.slot import Slot
from syclade.kernels.moves.choice import make_propose
from syclade.kernels.target import address, control, device_function
from syclade.kernels.words import WORD_SHIFT, bit_of

_ZERO, _ONE, _TWO, _THREE, _FOUR, _FIVE = (address(number) for number in range(6))

MOST_NODES = 1 << 15
"""Maximum number of rows: a ticket holds a node, a rank and a bit in 31 bits."""

_BITS, _BOTH = control(15), control(30)
_MASK = control(MOST_NODES - 1)


class Words(NamedTuple):
    """Arguments of `draw_batch`, for a batch of one step."""

    parameters: Any
    chain: Any
    move_below: Any
    log_table: Any
    drawn: Any


class Counted(NamedTuple):
    """Result of the first loop.

    Attributes:
        v: control, the first node drawn.
        size_v: control, number of nodes in its subtree.
        size_second: control, number of nodes in the second node's subtree.
        number: address, the slot.
    """

    v: Any
    size_v: Any
    size_second: Any
    number: Any


@device_function
def ticket_of(node, inside, rank):
    """Return a ticket: a negative number for a node that is found later (control).

    The arguments are those of `select`.
    """
    return -(control(1) + node + (rank << _BITS) + (inside << _BOTH))


@device_function
def deferred_select(
    slot,  # IN not used
    node,  # IN control
    inside,  # IN control: 1 to select in the subtree, 0 to select outside of it
    rank,  # IN control: counted from 0
):
    """Return a ticket for `Relations.select` (control); a move may only put it into its proposal, as t."""
    return ticket_of(node, inside, rank)


@device_function
def counted_size(
    slot,  # IN Slot; its `here` is Counted
    node,  # IN control: one of the two nodes drawn
):
    """Return the number of nodes in the node's subtree, itself included (control)."""
    here = slot.here
    return here.size_second + (here.size_v - here.size_second) * control(node == here.v)


def make_propose_stage(capacity: Callable[..., Any], moves: Sequence[Move], **sizes: int) -> Any:
    """Return the stage, which runs on one work-item, for matrices of at most MOST_NODES rows.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        moves: moves of the chain.
        sizes: as in `Capacity`, if they are known.
    """
    capacity_of = capacity(**sizes)
    relations = make_relations(capacity_of)
    select = relations.select
    propose = make_propose(
        moves, Relations(relations.is_descendant, counted_size, deferred_select, relations.parent_of)
    )
    draw_batch = make_batch(moves, 1)

    @device_function
    def count(
        given,  # IN ancestors (slots, words, nodes) uint64, flat
        number,  # IN address: the slot
        base,  # IN address: where the slot's matrix starts
        v,  # IN control: the first node drawn
        second,  # IN control: the second node drawn
    ):
        """Run the first loop: count the nodes in both subtrees (Counted)."""
        nodes = capacity_of().nodes
        row_stride = address(nodes)
        above, other_above = np.uint64(v), np.uint64(second)
        start = base + (above >> WORD_SHIFT) * row_stride
        other_start = base + (other_above >> WORD_SHIFT) * row_stride
        size_v, size_second = np.uint64(0), np.uint64(0)
        for row in range(nodes):
            size_v = size_v + bit_of(given.ancestors[start + address(row)], above)
            size_second = size_second + bit_of(given.ancestors[other_start + address(row)], other_above)
        return Counted(v, control(size_v), control(size_second), number)

    @device_function
    def exchange(
        slot,  # IN ancestors (slots, words, nodes) uint64, flat
        t,  # IN control: a node, or a ticket
    ):
        """Run the second loop: return the node that a ticket stands for, or t if it is a node (control)."""
        is_ticket = control(t < control(0))
        code = (-t - control(1)) * is_ticket
        found = select(slot, code & _MASK, code >> _BOTH, (code >> _BITS) & _MASK)
        return found * is_ticket + t * (control(1) - is_ticket)

    @device_function
    def ancestor_propose(number, lane, given):
        """Draw and propose; write the move and the threshold."""
        mutations = control(given.parameters[_ZERO])
        capacity = capacity_of()
        at, base = number * _FIVE, matrix_start(capacity, number)
        words_of_step = Words(given.parameters, given.chain, given.move_below, given.log_table, given.draws)
        draw_batch(words_of_step, number, at, _ZERO, np.uint64(given.step[number]), np.uint64(mutations))
        draw = Draw(
            control(given.draws[at + _ONE]),
            control(given.draws[at + _TWO]),
            np.uint64(given.draws[at + _THREE]),
            given.log_sizes,
            number * address(mutations + control(2)),
        )
        beyond = control(draw.second > mutations)  # the draw of a jump of a rate is no node
        second = draw.second - (draw.second - mutations) * beyond
        slot = Slot(given, count(given, number, base, draw.v, second), base)
        proposal = propose(slot, control(given.draws[at]), draw, mutations)
        t = exchange(slot, proposal.t)
        write_move(given.move, number, proposal)
        given.move[at + _FOUR] = t
        given.threshold[number] = given.draws[at + _FOUR] + proposal.correction

    return ancestor_propose
