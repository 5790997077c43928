"""Target `python`: no compiler. A value that differs between lanes is a numpy array, one element per lane.

It is for tests, and to step through a kernel with a debugger; a step takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.traits import Traits

TRAITS = Traits(lanes=16, panel_rounds=8, sketches_beyond=768)  # as in other targets, to debug them


def kernel_of(
    body: DeviceFunction, lanes: int, records: Sequence[tuple[type, Sequence[str]]]
) -> Callable[..., None]:
    """Return a function of (first slot, end of the slots, one flat array per argument).

    Args:
        body: device function of (slot, lane, one record per part).
        lanes: lanes per slot.
        records: types of the records that the body takes, each with the names of its arguments.
    """
    lane = np.arange(lanes, dtype=np.uint64)

    def run(first: int, end: int, *arrays: NDArray[Any]) -> None:
        rest = iter(arrays)
        given = [record(*(next(rest) for _ in names)) for record, names in records]
        with np.errstate(over="ignore"):
            for slot in range(first, end):
                body(np.uint64(slot), lane, *given)

    return run
