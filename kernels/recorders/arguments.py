"""Ring of events of every slot: filled by the kernel, emptied by the host between launches."""

from syclade.kernels.arguments import EVENTS, PROBLEM, SCRATCH, Argument

MOST_RECORDERS = 8

RING_LENGTH, RING_ROUNDS = 0, 1
"""Indices into `ring`."""

ARGUMENTS = (
    Argument(
        "ring", PROBLEM, "int64", (2,), "events of a slot's ring; nodes of a tree in it, over the lanes"
    ),
    Argument("event_count", EVENTS, "int64", ("slots",), "events in the slot's ring"),
    Argument("event_step", EVENTS, "int64", ("slots", "events"), "steps that the chain had done"),
    Argument("event_score", EVENTS, "int64", ("slots", "events"), "score of the tree, in units of 2^-f nat"),
    Argument("event_why", EVENTS, "int64", ("slots", "events"), "bit r: the r-th recorder wanted it"),
    Argument("event_key", EVENTS, "uint64", ("slots", "events"), "key of the tree (key.py)"),
    Argument("event_parents", EVENTS, "int32", ("slots", "events", "nodes"), "the tree"),
    Argument("event_shares", SCRATCH, "uint64", ("slots", "lanes"), "each lane's share of a key"),
)
