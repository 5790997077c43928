"""Processor time per element of exponentials and logarithms, measured in turns."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores.doublets import root_powers
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.kernels.sums.arguments import ROOTS
from syclade.kernels.target.native.traits import TRAITS
from syclade.quality.studies.arithmetic.device_elements import ARGUMENTS
from syclade.quality.studies.arithmetic.powers import ORDERS, coefficients

__all__ = ["Cost", "element_costs"]

ELEMENTS = 1024
"""Elements of an array: all arrays together fit into the first-level cache."""

LINE = 64
"""Bytes of the widest vector."""

_HERE = "syclade.quality.studies.arithmetic.device_elements"
_DEVICE = {
    "load and store alone": "COPY",
    "syclade power of two": "POWER",
    "syclade factors": "FACTOR",
    "syclade logarithm": "LOGARITHM",
    "syclade product of numbers": "PRODUCT",
    "syclade sum of numbers": "TOTAL",
}
_CHAIN = 4
"""Cycles of a multiplication and an addition that wait for each other, on x86-64 processors of today."""

Run = Callable[[int], None]
"""Process the elements so many times."""


@dataclass(frozen=True)
class Cost:
    """Processor time of one element in ns: median and least of the repeats."""

    median: float
    least: float


def element_costs(repeats: int = 15, seconds: float = 0.02) -> tuple[dict[str, Cost], float]:
    """Measure all functions in turns, on one core.

    Args:
        repeats: number of measurements of each function.
        seconds: length of each.

    Returns:
        Cost by name, and the length of a clock cycle in ns (the least of the repeats).
    """
    runs: dict[str, tuple[Run, int]] = {name: (run, ELEMENTS) for name, run in _runs().items()}
    runs["clock"] = (_clock(), ELEMENTS * _CHAIN)
    rounds = {name: _rounds(run, seconds) for name, (run, _) in runs.items()}
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, (run, elements) in runs.items():
            found[name].append(_seconds(run, rounds[name]) / (rounds[name] * elements) * 1e9)
    costs = {name: Cost(statistics.median(times), min(times)) for name, times in found.items()}
    return costs, costs.pop("clock").least


def _seconds(run: Run, rounds: int) -> float:
    began = time.thread_time()
    run(rounds)
    return time.thread_time() - began


def _rounds(run: Run, seconds: float) -> int:
    """Return how many rounds take about so long; the first call may compile."""
    run(1)
    rounds = 1
    while (took := _seconds(run, rounds)) < seconds / 4:
        rounds *= 4
    return max(1, round(rounds * seconds / took))


def _runs() -> dict[str, Run]:
    rng = np.random.Generator(np.random.PCG64(1))
    octaves = -20.0 * rng.random(ELEMENTS)
    out = np.empty_like(octaves)
    found: dict[str, Run] = {
        "numpy exp2": _repeated(lambda: np.exp2(octaves, out=out)),
        "numpy exp": _repeated(lambda: np.exp(octaves, out=out)),
        "numpy log2": _repeated(lambda: np.log2(-octaves, out=out)),
    }
    for name, function in _compiled().items():
        found[name] = _bound(function, octaves, out)
    arrays = _device_arrays(rng)
    for name, operation in _DEVICE.items():
        found[name] = _device_run(operation, arrays)
    return found


def _repeated(call: Callable[[], object]) -> Run:
    def run(rounds: int) -> None:
        for _ in range(rounds):
            call()

    return run


def _bound(function: Any, octaves: Any, out: Any) -> Run:
    return lambda rounds: function(octaves, out, rounds)


def _device_arrays(rng: np.random.Generator) -> Mapping[str, Any]:
    return {
        "one": _aligned(rng.integers(2**30, 2**31 - 1, ELEMENTS), np.int32),
        "one_exponent": _aligned(rng.integers(2**15, 2**15 + 8, ELEMENTS), np.int32),
        "other": _aligned(rng.integers(2**30, 2**31 - 1, ELEMENTS), np.int32),
        "other_exponent": _aligned(rng.integers(2**15, 2**15 + 8, ELEMENTS), np.int32),
        "roots": _aligned(np.array(root_powers(ROOTS)), np.int64),
        "out": _aligned(np.zeros(ELEMENTS), np.int32),
        "out_exponent": _aligned(np.zeros(ELEMENTS), np.int32),
    }


def _aligned(values: Any, dtype: type) -> Any:
    """Return a copy at a multiple of the widest vector: kernels load and store whole vectors."""
    room = np.empty(len(values) * np.dtype(dtype).itemsize + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    made: NDArray[Any] = room[start : start + len(values) * np.dtype(dtype).itemsize].view(dtype)
    made[...] = values
    return made


def _device_run(operation: str, arrays: Mapping[str, Any]) -> Run:
    """Return one of the device's functions, as machine code of this processor."""
    kernel = Kernel(
        name=f"element_{operation.lower()}",
        factory=f"{_HERE}:make_body",
        parts={"operation": f"{_HERE}:{operation}"},
        constants={"elements": ELEMENTS, "lanes": TRAITS.lanes, "alike": int(operation == "FACTOR")},
        records=(Record("given", ARGUMENTS),),
        group="sub-group",
        lanes=TRAITS.lanes,
    )
    compiled = load_machine_code(kernel)
    given = [arrays[argument.name] for argument in ARGUMENTS]  # `run` keeps them in memory

    def run(rounds: int) -> None:
        compiled(0, rounds, *(array.ctypes.data for array in given))

    return run


@cache
def _clock() -> Run:
    """Return a chain of multiplications and additions, each of which waits for the one before."""
    from numba import njit

    def chain(count: int) -> int:
        x = np.uint64(1)
        for _ in range(count):
            x = x * x + np.uint64(3)  # no compiler shortens a chain of squares
        return x  # type: ignore[return-value]

    compiled = njit(chain)
    return lambda rounds: compiled(rounds * ELEMENTS)


@cache
def _compiled() -> dict[str, Any]:
    """Return loops over elements that numba compiles: libm's functions and the seed's."""
    from numba import njit

    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    found: dict[str, Any] = {}
    for name in ("exp", "log2"):
        function = getattr(libm, name)
        function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
        found[f"libm {name}"] = njit(_loop_of(function, -1.0 if name == "log2" else 1.0))
    found["Schraudolph"] = njit(_schraudolph)
    for order in ORDERS:
        found[f"order {order}"] = njit(_polynomial(order), fastmath={"contract"})
    return found


def _loop_of(function: Any, sign: float) -> Callable[[Any, Any, int], None]:
    def loop(values: Any, out: Any, rounds: int) -> None:
        for _ in range(rounds):
            for at in range(values.size):
                out[at] = function(sign * values[at])

    return loop


def _schraudolph(values: Any, out: Any, rounds: int) -> None:
    bits = out.view(np.int64)
    for _ in range(rounds):
        for at in range(values.size):
            bits[at] = np.int64(values[at] * 2.0**20 + 1023 * 2.0**20) << 32


def _polynomial(order: int) -> Callable[[Any, Any, int], None]:
    """Return the seed's method: the bits of a polynomial of the fraction, plus the whole part's."""
    made = tuple(coefficients(order).tolist())
    terms = " * x + ".join(["made[0]", *(f"made[{at}])" for at in range(1, order + 1))])
    text = (
        "def loop(values, out, rounds):\n"
        "    bits = out.view(np.int64)\n"
        "    for _ in range(rounds):\n"
        "        for at in range(values.size):\n"
        "            whole = math.floor(values[at])\n"
        "            x = values[at] - whole\n"
        f"            out[at] = {'(' * order}{terms}\n"
        "            bits[at] += np.int64(whole) << 52\n"
    )
    scope: dict[str, Any] = {"np": np, "math": math, "made": made}
    exec(compile(text, f"<order {order}>", "exec"), scope)
    loop: Callable[[Any, Any, int], None] = scope["loop"]
    return loop
