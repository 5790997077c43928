"""Workaround for CPU drivers 2024.2.2 and 2026.2 on processors that are newer (Zen 5 for the older driver).

The driver then prints a warning on standard error, twice, and compiles for the x86-64 baseline: a third of
the speed. The driver 2026.2 knows AMD's processors up to Zen 6 and prints the same warning for others.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

__all__ = ["name_an_older_processor"]

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
