"""Workarounds for bugs of compilers: numba-dpex 0.23.0 with the SPIR-V that it makes, and CPU drivers.

The drivers 2024.2.2 and 2026.2 do not know newer processors (Zen 5 for the older one). They then print a
warning on standard error, twice, and compile for the x86-64 baseline: a third of the speed. The driver 2026.2
knows AMD's processors up to Zen 6 and prints the same warning for others.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from syclade.host.ground.spirv import Instruction, Op, header, instructions, interface_of, module_of

__all__ = [
    "dpnp_stand_in",
    "name_an_older_processor",
    "register_numba_implementations",
    "with_listed_variables",
    "without_stray_variables",
]


class _StandIn(types.ModuleType):
    """A module in which every name exists, each as a class of its own."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


@contextlib.contextmanager
def dpnp_stand_in() -> Iterator[None]:
    """Let numba-dpex 0.23.0 be imported without dpnp, of which it only needs names.

    The real dpnp takes 1.5 GB with MKL, is slow to import, and its wheel 0.15.0 does not find its libraries.
    """
    if "dpnp" in sys.modules:
        yield
        return
    stand_in, part = _StandIn("dpnp"), _StandIn("dpnp.dpnp_array")
    stand_in.__path__ = []
    setattr(stand_in, "dpnp_array", part)  # noqa: B010 - a module has no such attribute for type checkers
    names = {"dpnp": stand_in, "dpnp.dpnp_array": part}
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def register_numba_implementations() -> None:
    """Register numba 0.59.1's implementations of tuples, ranges and enums, which numba-dpex 0.23.0 uses.

    They are only registered with the CPU target's context, when it is first used or refreshed. numba-dpex
    never does either, and then its kernels do not compile.
    """
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()


_FUNCTION_STORAGE = 7

# Operands that are ids of values; in all other instructions, every operand is taken for one.
_VALUES = {Op.LOAD: slice(2, 3), Op.STORE: slice(0, 2), Op.COMPOSITE_EXTRACT: slice(2, 3)}
_VALUES |= {Op.COMPOSITE_INSERT: slice(2, 4), Op.EXT_INST: slice(4, None), Op.VARIABLE: slice(3, None)}
_VALUES |= {Op.VECTOR_SHUFFLE: slice(2, 4), Op.COPY_MEMORY_SIZED: slice(0, 3), Op.FUNCTION: slice(0)}
_VALUES |= {Op.LOOP_MERGE: slice(0), Op.SELECTION_MERGE: slice(0)}
_VALUES |= {Op.BRANCH_CONDITIONAL: slice(0, 1), Op.SWITCH: slice(0, 1)}


def without_stray_variables(module: bytes) -> bytes:
    """Return the module without variables of storage class Function that are declared outside of functions.

    numba 0.59.1 makes one for every function that it compiles, for exceptions and globals, which device code
    does not have; numba-dpex 0.23.0 does not remove them. A variable that is used stays.
    """
    body = list(instructions(module))
    stray = {
        one.operands[1]
        for one in _before_functions(body)
        if one.code == Op.VARIABLE and one.operands[2] == _FUNCTION_STORAGE
    }
    inside = False
    for one in body:
        inside = inside or one.code == Op.FUNCTION
        if inside:
            stray.difference_update(one.operands[_VALUES.get(one.code, slice(None))])
    return module_of(header(module), _without(body, stray))


def with_listed_variables(module: bytes) -> bytes:
    """Return the module with its kernels listing all variables outside of functions, as SPIR-V 1.4 requires.

    dpcpp-llvm-spirv 2024.2.0 writes version 1.4 and lists none, which was correct up to version 1.3.
    """
    body = list(instructions(module))
    listed = tuple(one.operands[1] for one in _before_functions(body) if one.code == Op.VARIABLE)
    for index, (code, operands) in enumerate(body):
        if code == Op.ENTRY_POINT:
            missing = tuple(variable for variable in listed if variable not in interface_of(operands))
            body[index] = Instruction(code, (*operands, *missing))
    return module_of(header(module), body)


def _before_functions(body: list[Instruction]) -> Iterator[Instruction]:
    """Yield the module's instructions up to its first function."""
    for one in body:
        if one.code == Op.FUNCTION:
            return
        yield one


def _without(body: list[Instruction], stray: set[int]) -> Iterator[Instruction]:
    """Yield the instructions, except those that define, name or decorate these variables."""
    for code, operands in body:
        if code in (Op.NAME, Op.DECORATE) and operands[0] in stray:
            continue
        if code == Op.VARIABLE and operands[1] in stray:
            continue
        yield Instruction(code, operands)


TARGET_VARIABLE = "CL_CONFIG_CPU_TARGET_ARCH"
"""The driver reads this variable when it first makes a context."""

UNKNOWN = b"SYCL CPU RT Warning: Unknown host CPU."

_ALL_DEVICES = ctypes.c_uint64(0xFFFFFFFF)
_DEVICE_NAME, _DEVICE_EXTENSIONS = 0x102B, 0x1030

_AVX2 = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "pclmulqdq", "popcnt", "sse4_2"}
_SKYLAKE = _AVX2 | {"aes", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
_ICELAKE = _SKYLAKE | {
    "avx512_bitalg", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx512ifma", "avx512vbmi", "gfni",
    "sha_ni", "vaes", "vpclmulqdq",
}  # fmt: skip

PROCESSORS = (("icelake-server", _ICELAKE), ("skx", _SKYLAKE), ("core-avx2", _AVX2))
"""Processors that the driver accepts, and the features that code for them needs (LLVM 18)."""


def name_an_older_processor(loader: ctypes.CDLL, platforms: list[int]) -> str | None:
    """Let a driver (2024.2.2, 2026.2) that does not know this processor compile for one that it knows.

    Args:
        loader: the OpenCL loader.
        platforms: its platforms. Their devices are queried, because that is when drivers print the warning.

    Returns:
        The processor that was put into `TARGET_VARIABLE`; None if there was no warning, if no known processor
        fits, or if the user had set the variable.
    """
    with _complaints() as printed:
        for platform in platforms:
            _ask_devices(loader, platform)
    lines = printed().splitlines(keepends=True)
    others = [line for line in lines if line.strip() != UNKNOWN]
    if others:
        with contextlib.suppress(OSError):
            os.write(2, b"".join(others))
    return None if len(others) == len(lines) else _name_one()


def _name_one() -> str | None:
    """Name the newest processor whose code runs here, unless the user has named one."""
    if TARGET_VARIABLE in os.environ:
        return None
    has = set(_processor().get("flags", "").split())
    named = next((name for name, needed in PROCESSORS if needed <= has), None)
    if named is not None:
        os.environ[TARGET_VARIABLE] = named
    return named


def _ask_devices(loader: ctypes.CDLL, platform: int) -> None:
    """Query the name and the extensions of every device of a platform."""
    place, count = ctypes.c_void_p(platform), ctypes.c_uint(0)
    if loader.clGetDeviceIDs(place, _ALL_DEVICES, 0, None, ctypes.byref(count)) != 0:
        return
    devices = (ctypes.c_void_p * count.value)()
    loader.clGetDeviceIDs(place, _ALL_DEVICES, count, devices, None)
    text = ctypes.create_string_buffer(2**14)
    for device in devices:
        for parameter in (_DEVICE_NAME, _DEVICE_EXTENSIONS):
            size = ctypes.c_size_t(len(text))
            loader.clGetDeviceInfo(ctypes.c_void_p(device), parameter, size, text, None)


@contextlib.contextmanager
def _complaints() -> Iterator[Callable[[], bytes]]:
    """Redirect standard error to a file; afterwards, the yielded function returns what was written."""
    text = b""
    if sys.stderr is not None:
        sys.stderr.flush()
    try:
        standard_error = os.dup(2)
    except OSError:  # standard error is closed, so there is nothing to redirect
        yield lambda: b""
        return
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)
            try:
                yield lambda: text
            finally:
                os.dup2(standard_error, 2)
                file.seek(0)
                text = file.read()
    finally:
        os.close(standard_error)


@cache
def _processor() -> dict[str, str]:
    """Return what /proc/cpuinfo says about the first processor."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
