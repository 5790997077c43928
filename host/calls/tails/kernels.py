"""Kernels of tails, the arrays that they work on, and how much work a column is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.tails.columns import Reduced
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.kernels.arguments import Argument
from syclade.kernels.tails.arguments import BLOCKED, GROUPED, ROWS

__all__ = ["BLOCK", "KERNELS", "Sizes", "sizes_of", "tail_arguments", "tail_kernel", "work_of"]

KERNELS = ("grouped", "tilted", "blocked")
"""The kernels: groups of equal probabilities, one trial at a time, Algorithm 1 in log space."""

BLOCK = 4096
"""Entries of a block of Algorithm 1: W."""


@cache
def tail_kernel(name: str, lanes: int = 1) -> Kernel:
    """Return the kernel with this name.

    Args:
        name: one of KERNELS.
        lanes: those of machine code for this processor, which has them without using them; else 1.
    """
    return Kernel(
        name=f"tails_{name}",
        factory=f"syclade.kernels.tails.{name}:make_{name}",
        parts={},
        constants={},
        records=(Record("Given", tail_arguments(name)),),
        group="work-group",
        lanes=lanes,
    )


def tail_arguments(name: str) -> tuple[Argument, ...]:
    """Return the arguments of a kernel."""
    return BLOCKED if name == "blocked" else GROUPED


@dataclass(frozen=True)
class Sizes:
    """Sizes of a slot's arrays.

    Attributes:
        groups: of equal probabilities.
        trials: entries of arrays over trials; 0 if the kernel has none.
        room: entries of a row over k.
    """

    groups: int
    trials: int
    room: int

    @property
    def slot_bytes(self) -> int:
        """Memory of one slot, in bytes."""
        return 8 * (2 * self.groups + 3 * self.trials + ROWS * self.room + 4)

    def symbols(self, slots: int) -> dict[str, int]:
        """Return the values of the symbols in the shapes of arguments."""
        return {"slots": slots, "groups": self.groups, "trials": self.trials, "room": self.room}


def sizes_of(name: str, reduced: Reduced, block: int = BLOCK) -> Sizes:
    """Return the sizes that all columns fit in.

    A window ends where the distribution is below 1e-18 of its maximum. By Bernstein's inequality it reaches
    at most 20 + √(400 + 120·m) to either side of the mean m, which is the larger of K and the mean without
    tilting. A row has room for two windows.
    """
    groups = int(np.diff(reduced.columns.starts).max(initial=1))
    if name == "blocked":
        most = int(reduced.columns.at_least.max(initial=1)) + 1
        return Sizes(groups, int(reduced.trials.max(initial=1)), min(block, most))
    mean = float(np.maximum(reduced.columns.at_least, reduced.means).max(initial=1.0))
    return Sizes(groups, 0, 4 * (20 + int(np.sqrt(400 + 120 * mean)) + 1))


def work_of(name: str, reduced: Reduced) -> NDArray[np.float64]:
    """Return the approximate work of each column, in cells; float64."""
    at_least = reduced.columns.at_least.astype(np.float64)
    trials = reduced.trials.astype(np.float64)
    spread = np.maximum(at_least, reduced.means) + 1
    cells: NDArray[np.float64] = spread * np.sqrt(np.diff(reduced.columns.starts))
    if name == "blocked":
        cells = trials * (at_least + 1)
    elif name == "tilted":
        cells = trials * np.sqrt(spread)
    return cells
