"""The ring of events: where what recorders want is put. A slot whose ring is full stops there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.parents import make_parents_to
from syclade.kernels.chain.parts import Evaluation, Recorder
from syclade.kernels.recorders.arguments import MOST_RECORDERS, RING_LENGTH, RING_ROUNDS
from syclade.kernels.recorders.key import edge_key
from syclade.kernels.target import address, control, device_function, in_step

_ONE = control(1)
_ZERO = control(0)
_NEXT = np.int64(1)
_LENGTH, _ROUNDS = address(RING_LENGTH), address(RING_ROUNDS)


def make_ring(recorders: Sequence[Recorder], evaluation: Evaluation, **sizes: int) -> tuple[Any, Any]:
    """Device functions (is_full, record).

    Args:
        recorders: may be none: then the functions are never called.
        evaluation: of the chain.
        sizes: `lanes`.
    """
    assert len(recorders) <= MOST_RECORDERS, "more recorders than an event tells of"
    lanes = sizes["lanes"]
    parents_to = make_parents_to(evaluation.relations.parent_of, lanes)
    tell = evaluation.tell
    why_of = _make_why([recorder.wants for recorder in recorders])

    @device_function
    def is_full(
        events,  # IN record of the recorders' arguments
        number,  # IN address: the slot
    ):
        """Has the slot's ring no place for another event?"""
        return events.event_count[number] >= events.ring[_LENGTH]

    @device_function
    def key_of(
        events,  # IN OUT
        number,  # IN address: the slot
        lane,  # IN address
        tree,  # IN address: where its parents are in `event_parents`
        rounds,  # IN control: nodes over the lanes
        mutations,  # IN address
    ):
        """The key of a tree (uint64)."""
        share = np.uint64(0)
        for part in range(rounds):
            node = address(part * lanes) + lane
            # Padding has parents as well, but no part in the key.
            inside = np.uint64(node < mutations)
            share = share + inside * edge_key(node, np.uint64(events.event_parents[tree + node]))
        shares = number * address(lanes)
        events.event_shares[shares + lane] = share
        shares = in_step(shares)
        key = np.uint64(0)
        for other in range(lanes):
            key = key + events.event_shares[shares + address(other)]
        return key

    @device_function
    def record(
        events,  # IN OUT
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN the encoding's arguments
        here,  # IN where the slot's stand in them
        base,  # IN address
        mutations,  # IN control
        step,  # IN int64: number of the step that was done
        score,  # IN int64: of the tree after it
        best,  # IN int64: the best score before it
        accepted,  # IN control: 1 if the step was accepted
    ):
        """Put the state in the ring if any recorder wants it."""
        why = why_of(events, number, step, score, best, accepted)
        if why != _ZERO:
            count = control(events.event_count[number])
            at = number * address(events.ring[_LENGTH]) + address(count)
            rounds = control(events.ring[_ROUNDS])
            tree = at * address(rounds) * address(lanes)
            parents_to(given, here, base, events.event_parents, tree, rounds)
            tree = in_step(tree)
            key = key_of(events, number, lane, tree, rounds, address(mutations))
            events.event_step[at] = step + _NEXT
            events.event_score[at] = score
            events.event_why[at] = why
            events.event_key[at] = key
            tell(given, here, events, at)
            number = in_step(number)
            events.event_count[number] = count + _ONE

    return is_full, record


def _make_why(wants: Sequence[Any]) -> Any:
    """Device function: a bit for every recorder that wants the state (control)."""

    @device_function
    def nobody(events, number, step, score, best, accepted):
        """No bit."""
        return _ZERO

    why = nobody
    for index, one in enumerate(wants):
        why = _or_also(control(1 << index), one, why)
    return why


def _or_also(bit: Any, own: Any, others: Any) -> Any:
    """The bits of the others, and one recorder's own if it wants the state."""

    @device_function
    def why(events, number, step, score, best, accepted):
        """A bit for every recorder that wants the state, as far as here."""
        return others(events, number, step, score, best, accepted) | (
            bit * control(own(events, number, step, score, best, accepted))
        )

    return why
