"""The ring of events (the mirror of `kernels/recorders/ring.py`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Recorder
from syclade.fallback.recorders.key import tree_keys


def record(
    state: dict[str, NDArray[Any]],  # IN OUT
    recorders: Sequence[Recorder],
    slots: NDArray[Any],  # IN the slots that have done a step
    step: NDArray[Any],  # IN its number
    best: NDArray[Any],  # IN the best scores before it
    accepted: NDArray[Any],  # IN bool
) -> None:
    """Put the states in their slots' rings that any recorder wants."""
    score = state["score"][slots]
    why = np.zeros(len(slots), dtype=np.int64)
    for index, recorder in enumerate(recorders):
        why |= recorder.wants(state, slots, step, score, best, accepted).astype(np.int64) << index
    wanted = np.flatnonzero(why)
    at = slots[wanted], state["event_count"][slots[wanted]]
    trees = state["parent"][slots[wanted]]
    state["event_step"][at] = step[wanted] + 1
    state["event_score"][at] = score[wanted]
    state["event_why"][at] = why[wanted]
    state["event_key"][at] = tree_keys(trees)
    state["event_parents"][at] = trees
    if "event_rates" in state:
        state["event_rates"][at] = state["rate_at"][slots[wanted]]
    state["event_count"][slots[wanted]] += 1
