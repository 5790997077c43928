"""The ring of events: where what recorders want is put. A slot whose ring is full stops there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Recorder
from syclade.kernels.recorders.arguments import MOST_RECORDERS
from syclade.kernels.recorders.key import edge_key
from syclade.kernels.target import device_function, in_step

_ONE = np.int64(1)
_ZERO = np.int64(0)


def make_ring(recorders: Sequence[Recorder], parents_to: Any, **sizes: int) -> tuple[Any, Any]:
    """Device functions (is_full, record).

    Args:
        recorders: may be none: then the functions are never called.
        parents_to: `Evaluation.parents_to`.
        sizes: `lanes`; if there are recorders `nodes`, and `events`, the ring's length.
    """
    assert len(recorders) <= MOST_RECORDERS, "more recorders than an event tells of"
    assert not recorders or "nodes" in sizes, "kernels for any number of nodes have no recorders"
    lanes, length = sizes["lanes"], sizes.get("events", 1)
    nodes = sizes.get("nodes", 0)
    rounds = nodes // lanes
    capacity = np.int64(length)
    why_of = _make_why([recorder.wants for recorder in recorders])

    @device_function
    def is_full(
        events,  # IN record of the recorders' arguments
        number,  # IN uint64: the slot
    ):
        """Has the slot's ring no place for another event?"""
        return events.event_count[number] >= capacity

    @device_function
    def key_of(events, number, lane, tree, mutations):
        """The key of the tree whose parents are at `tree` of `event_parents` (uint64); mutations: uint64."""
        share = np.uint64(0)
        for part in range(rounds):
            node = np.uint64(part * lanes) + lane
            # Padding has parents as well, but no part in the key.
            inside = np.uint64(node < mutations)
            share = share + inside * edge_key(node, np.uint64(events.event_parents[tree + node]))
        shares = number * np.uint64(lanes)
        events.event_shares[shares + lane] = share
        shares = in_step(shares)
        key = np.uint64(0)
        for other in range(lanes):
            key = key + events.event_shares[shares + np.uint64(other)]
        return key

    @device_function
    def record(
        events,  # IN OUT
        number,  # IN uint64: the slot
        lane,  # IN uint64
        given,  # IN the encoding's arguments
        here,  # IN where the slot's stand in them
        base,  # IN uint64
        mutations,  # IN int64
        step,  # IN int64: number of the step that was done
        score,  # IN int64: of the tree after it
        best,  # IN int64: the best score before it
        accepted,  # IN int64: 1 if the step was accepted
    ):
        """Put the state in the ring if any recorder wants it."""
        why = why_of(events, number, step, score, best, accepted)
        if why != _ZERO:
            count = events.event_count[number]
            at = number * np.uint64(length) + np.uint64(count)
            tree = at * np.uint64(nodes)
            parents_to(given, here, base, events.event_parents, tree)
            tree = in_step(tree)
            key = key_of(events, number, lane, tree, np.uint64(mutations))
            events.event_step[at] = step + _ONE
            events.event_score[at] = score
            events.event_why[at] = why
            events.event_key[at] = key
            number = in_step(number)
            events.event_count[number] = count + _ONE

    return is_full, record


def _make_why(wants: Sequence[Any]) -> Any:
    """Device function: a bit for every recorder that wants the state (int64)."""

    @device_function
    def nobody(events, number, step, score, best, accepted):
        return _ZERO

    why = nobody
    for index, one in enumerate(wants):
        why = _or_also(np.int64(1 << index), one, why)
    return why


def _or_also(bit: np.int64, own: Any, others: Any) -> Any:
    @device_function
    def why(events, number, step, score, best, accepted):
        return others(events, number, step, score, best, accepted) | (
            bit * np.int64(own(events, number, step, score, best, accepted))
        )

    return why
