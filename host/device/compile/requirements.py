"""Requirements of a compilation: a compiler for a kernel that is not precompiled, and a current folder."""

from __future__ import annotations

import sys
from pathlib import Path

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import shipped
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import COMPILER_PYTHON, sycl_hint, version_of

__all__ = ["require_compiler", "require_current_folder"]


def require_compiler(kernel: Kernel) -> None:
    """Check that numba-dpex, which compiles kernels for SYCL devices, is installed.

    Args:
        kernel: the kernel to compile.

    Raises:
        DeviceError: it is not installed. The hint says how to get a compiler.
    """
    if version_of("numba-dpex") is not None:
        return
    size = f" for {kernel.size}" if kernel.size else ""
    raise DeviceError(
        f"the kernel {kernel.name}{size} is not precompiled, and numba-dpex, its compiler, is not installed",
        hint=_hint(),
    )


def _hint() -> str:
    if sys.version_info[:2] == (3, 11):
        return sycl_hint()
    there = "the program's own kernels are precompiled; " if shipped() else ""
    return f"{there}others need {COMPILER_PYTHON}, or {flag_of('device')} native, which compiles with numba"


def require_current_folder() -> None:
    """Check that the current folder of this process still exists.

    Raises:
        DeviceError: the folder was deleted.
    """
    try:
        Path.cwd()
    except OSError:
        raise DeviceError(
            "the current folder does not exist any more, and the compiler needs one",
            hint="go to a folder that exists (cd), and try again",
        ) from None
