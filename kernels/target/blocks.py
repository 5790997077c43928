"""Operations of kernels in which many threads work on one slot: teams of threads, and warps of a team.

On NVIDIA GPUs a team is a block, and all teams of a slot run at once. Elsewhere a slot has one team of one
thread, for which the functions below are right. Threads may take different branches, except around
operations of a warp, which all its threads call, and around meetings, which all threads of a team call.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.integers import control

__all__ = [
    "OPERATIONS_OF_BLOCKS",
    "add_to",
    "lanes",
    "lower_to",
    "meet",
    "meet_all",
    "meet_warp",
    "own_part",
    "raise_to",
    "read_fresh",
    "team",
    "teams",
    "thread",
    "threads",
    "warp_maximum",
    "warp_prefix",
    "warp_sum",
]

OPERATIONS_OF_BLOCKS: dict[DeviceFunction, str] = {}
"""All operations, with their names."""


def _operation(function: Callable[..., Any]) -> DeviceFunction:
    made = DeviceFunction(function)
    OPERATIONS_OF_BLOCKS[made] = made.__name__
    return made


@_operation
def thread():
    """Return the number of the thread in its team (control)."""
    return control(0)


@_operation
def threads():
    """Return the number of threads of a team (control)."""
    return control(1)


@_operation
def team():
    """Return the number of the team in its slot (control)."""
    return control(0)


@_operation
def teams():
    """Return the number of teams of a slot (control)."""
    return control(1)


@_operation
def lanes():
    """Return the number of threads of a warp (control)."""
    return control(1)


@_operation
def own_part(number, team, teams):
    """Return which part of the arrays of all teams of all slots this team gets (control)."""
    return number * teams + team


@_operation
def meet():
    """Wait for all threads of the team; they then see what the others wrote."""
    return control(0)


@_operation
def meet_warp():
    """Wait for all threads of the warp; they then see what the others wrote."""
    return control(0)


@_operation
def meet_all(arrivals, at, team, teams):
    """Wait for all threads of all teams of the slot, by a counter of the slot that starts as 0.

    What other teams wrote is then read by `read_fresh`.
    """
    return control(0)


@_operation
def read_fresh(array, at):
    """Return an element that other teams may have written."""
    return array[at]


@_operation
def add_to(array, at, value):
    """Add a value, of the array's type, to an element to which other threads may add."""
    array[at] = array[at] + value


@_operation
def raise_to(array, at, value):
    """Raise an element to a value of the array's type; other threads may do so, too."""
    array[at] = max(array[at], value)


@_operation
def lower_to(array, at, value):
    """Lower an element to a value of the array's type; other threads may do so, too."""
    array[at] = min(array[at], value)


@_operation
def warp_sum(value):
    """Return the sum of the int32 values of a warp's threads, in all of them."""
    return value


@_operation
def warp_prefix(value):
    """Return the sum of the int32 values of the thread and of those before it in the warp."""
    return np.int32(value)


@_operation
def warp_maximum(value):
    """Return the greatest of the int64 values of a warp's threads, in all of them."""
    return value
