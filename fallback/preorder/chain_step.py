"""The stages composed: many chain steps of all slots (the mirror of `kernels/preorder/chain_step.py`)."""

from typing import Any

import numpy as np

from syclade.fallback.preorder.group import Group
from syclade.fallback.preorder.layout import make_layout, rows_per_slot

TABLE_BYTES = 64 * 2**20
"""Slots are taken forward in groups whose tables take about this much, one slot at least."""


def slots_of_group(problem: Any) -> int:
    """How many slots go forward together: with more, each launch makes the tables of some anew."""
    slot_bytes = 4 * problem.columns.shape[1] * rows_per_slot(problem.mutations + 1)
    return max(1, TABLE_BYTES // slot_bytes)


class PreorderChainSteps:
    """Chain steps on preorder intervals, in numpy, a group of slots at once."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self._labels = problem.mutations + 1
        self._most = slots_of_group(problem)
        self._group: Group | None = None

    @property
    def memory_bytes(self) -> int:
        """Of the tables."""
        return 0 if self._group is None else self._group.memory_bytes

    def advance(self, state: Any, seed: int) -> None:
        """Take every slot from `step` to `last_step`, in place."""
        while (active := np.flatnonzero(state["step"] < state["last_step"])).size:
            parts = np.array_split(active, -(-active.size // self._most))
            # Not kept while it works: what is interrupted leaves it in no state to go on from.
            group, self._group = self._group, None
            if group is None or group.layout.slots < len(parts[0]):
                group = Group(self._problem, make_layout(self._labels, len(parts[0])))
            for slots in parts:
                group.advance(state, slots, seed)
            self._group = group
