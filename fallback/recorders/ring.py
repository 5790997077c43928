"""Ring buffer of events (the mirror of `kernels/recorders/ring.py`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Recorder, State
from syclade.fallback.recorders.key import tree_keys


def wanted(
    state: State,
    recorders: Sequence[Recorder],
    slots: NDArray[Any],  # IN the slots of some steps; a slot may have several
    step: NDArray[Any],  # IN their numbers
    score: NDArray[Any],  # IN the scores after them
    best: NDArray[Any],  # IN the best scores before them
    accepted: NDArray[Any],  # IN bool
) -> NDArray[np.int64]:
    """Return for every step which recorders want the state after it: bit r for the r-th."""
    why = np.zeros(len(slots), dtype=np.int64)
    for index, recorder in enumerate(recorders):
        why |= recorder.wants(state, slots, step, score, best, accepted).astype(np.int64) << index
    return why


def record(
    state: State,  # IN OUT the arrays
    slots: NDArray[Any],  # IN ascending, each slot once per event; its ring buffer has room for them
    step: NDArray[Any],  # IN the steps' numbers
    score: NDArray[Any],  # IN
    why: NDArray[Any],  # IN the recorders that want them
    trees: NDArray[Any],  # IN (events, nodes): parents
) -> None:
    """Put states into their slots' ring buffers, in this order."""
    earlier = np.arange(len(slots)) - np.searchsorted(slots, slots)  # events of the same slot
    at = slots, state["event_count"][slots] + earlier
    state["event_step"][at] = step + 1
    state["event_score"][at] = score
    state["event_why"][at] = why
    state["event_key"][at] = tree_keys(trees)
    state["event_parents"][(*at, slice(trees.shape[1]))] = trees
    if "event_rates" in state:
        state["event_rates"][at] = state["rate_at"][slots]
    np.add.at(state["event_count"], slots, 1)
