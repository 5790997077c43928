"""The target `python`: no compiler. What differs between lanes is an array of numpy, with a number a lane.

For tests, and to step through a kernel with a debugger; a step takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.traits import Traits

TRAITS = Traits(lanes=16, panel_rounds=8, sketches_beyond=768)  # as the others: to debug what they run


def kernel_of(
    body: DeviceFunction, lanes: int, records: Sequence[tuple[type, Sequence[str]]]
) -> Callable[..., None]:
    """A function of (first slot, end of the slots, a flat array an argument).

    Args:
        body: device function of (slot, lane, a record a part).
        lanes: of a slot.
        records: the records that the body takes, each with the names of its arguments.
    """
    lane = np.arange(lanes, dtype=np.uint64)

    def run(first: int, end: int, *arrays: NDArray[Any]) -> None:
        rest = iter(arrays)
        given = [record(*(next(rest) for _ in names)) for record, names in records]
        with np.errstate(over="ignore"):
            for slot in range(first, end):
                body(np.uint64(slot), lane, *given)

    return run
