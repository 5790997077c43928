"""The stages composed: many chain steps of all slots (the mirror of `kernels/preorder/chain_step.py`)."""

from typing import Any

import numpy as np

from syclade.fallback.preorder.group import Group
from syclade.fallback.preorder.layout import make_layout, rows_per_slot

TABLE_BYTES = 64 * 2**20
"""Slots are taken forward in groups whose tables take about this much, one slot at least."""


class PreorderChainSteps:
    """Chain steps on preorder intervals, in numpy, a group of slots at once."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self._labels = problem.mutations + 1
        slot_bytes = 4 * problem.columns.shape[1] * rows_per_slot(self._labels)
        self._most = max(1, TABLE_BYTES // slot_bytes)
        self._group: Group | None = None

    def advance(self, state: Any, seed: int) -> None:
        """Take every slot from `step` to `last_step`, in place."""
        while (active := np.flatnonzero(state["step"] < state["last_step"])).size:
            parts = np.array_split(active, -(-active.size // self._most))
            if self._group is None or self._group.layout.slots < len(parts[0]):
                self._group = Group(self._problem, make_layout(self._labels, len(parts[0])))
            for slots in parts:
                self._group.advance(state, slots, seed)
