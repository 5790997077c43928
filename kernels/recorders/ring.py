"""Ring of events: stores the states that recorders want. A slot whose ring is full stops there."""

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
    """Return the device functions (is_full, record).

    Args:
        recorders: may be empty; then the functions are never called.
        evaluation: evaluation of the chain.
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
        """Return whether the slot's ring has no room for another event."""
        return events.event_count[number] >= events.ring[_LENGTH]

    @device_function
    def key_of(
        events,  # IN OUT record of the recorders' arguments
        number,  # IN address: the slot
        lane,  # IN address
        tree,  # IN address: where its parents start in `event_parents`
        rounds,  # IN control: nodes per lane
        mutations,  # IN address
    ):
        """Return the key of a tree (uint64)."""
        share = np.uint64(0)
        for part in range(rounds):
            node = address(part * lanes) + lane
            # Padding has parents as well, but does not count in the key.
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
        events,  # IN OUT record of the recorders' arguments
        slot,  # IN the tree
        mutations,  # IN control
        step,  # IN int64: number of the step just done
        score,  # IN int64: of the tree after it
        best,  # IN int64: the best score before it
        accepted,  # IN control: 1 if the step was accepted
    ):
        """Put the state in the ring if any recorder wants it."""
        number, lane = slot.here.number, slot.here.lane
        why = why_of(events, number, step, score, best, accepted)
        if why != _ZERO:
            count = control(events.event_count[number])
            at = number * address(events.ring[_LENGTH]) + address(count)
            rounds = control(events.ring[_ROUNDS])
            tree = at * address(rounds) * address(lanes)
            parents_to(slot, events.event_parents, tree, rounds)
            tree = in_step(tree)
            key = key_of(events, number, lane, tree, rounds, address(mutations))
            events.event_step[at] = step + _NEXT
            events.event_score[at] = score
            events.event_why[at] = why
            events.event_key[at] = key
            tell(slot, events, at)
            number = in_step(number)
            events.event_count[number] = count + _ONE

    return is_full, record


def _make_why(wants: Sequence[Any]) -> Any:
    """Return a device function that gives one bit per recorder that wants the state (control)."""

    @device_function
    def nobody(
        events,  # IN record of the recorders' arguments
        number,  # IN address: the slot
        step,  # IN int64: number of the step just done
        score,  # IN int64: score of the tree after it
        best,  # IN int64: the best score before it
        accepted,  # IN control: 1 if the step was accepted
    ):
        """Return no bit."""
        return _ZERO

    why = nobody
    for index, one in enumerate(wants):
        why = _or_also(control(1 << index), one, why)
    return why


def _or_also(bit: Any, own: Any, others: Any) -> Any:
    """Return a device function for the others' bits, plus one recorder's bit if it wants the state."""

    @device_function
    def why(
        events,  # IN record of the recorders' arguments
        number,  # IN address: the slot
        step,  # IN int64: number of the step just done
        score,  # IN int64: score of the tree after it
        best,  # IN int64: the best score before it
        accepted,  # IN control: 1 if the step was accepted
    ):
        """Return one bit per recorder, up to this one, that wants the state (control)."""
        return others(events, number, step, score, best, accepted) | (
            bit * control(own(events, number, step, score, best, accepted))
        )

    return why
