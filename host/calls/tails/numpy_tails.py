"""Tails in numpy, for machines that have neither a device nor a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails import blocked, grouped, tilted
from syclade.host.calls.tails.kernels import Sizes, tail_arguments
from syclade.host.device.device import NUMPY
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NumpyEngine
from syclade.kernels.arguments import PROBLEM, SCRATCH

__all__ = ["numpy_engine"]

Arrays = dict[str, NDArray[Any]]


def numpy_engine(name: str, sizes: Sizes, slots: int) -> tuple[NumpyEngine, int]:
    """Return an engine for a kernel's arrays, and the number of its code."""
    kept = [one for one in tail_arguments(name) if one.role not in (PROBLEM, SCRATCH)]
    engine = NumpyEngine(NUMPY, Allocation(kept, sizes.symbols(slots)))
    tail = partial(_blocked, sizes.room) if name == "blocked" else partial(_grouped, _TAILS[name])
    return engine, engine.load(partial(_run, tail))


def _run(tail: Callable[[Arrays, int], float], arrays: Arrays, slots: NDArray[np.intp]) -> None:
    """Compute the tails of the columns in these slots, one after another."""
    for slot in slots.tolist():
        if arrays["sizes"][slot]:
            arrays["log_tail"][slot] = tail(arrays, slot)
            arrays["done"][slot] += 1


_TAILS = {"grouped": grouped.tail_of_groups, "tilted": tilted.tail_of_groups}


def _grouped(tail: Callable[..., float], arrays: Arrays, slot: int) -> float:
    size = int(arrays["sizes"][slot])
    p, counts = (arrays[name][slot, :size] for name in ("probability", "count"))
    return tail(p, counts, int(arrays["at_least"][slot]))


def _blocked(block: int, arrays: Arrays, slot: int) -> float:
    trials = int(arrays["sizes"][slot])
    return blocked.tail_of_trials(arrays["error"][slot, :trials], int(arrays["at_least"][slot]), block)
