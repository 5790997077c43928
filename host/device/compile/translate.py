"""Translation of kernels to SPIR-V by numba-dpex. Only `import_compiler` imports the compiler.

The key of every compiled kernel in the cache depends on this module and on those that it imports.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.device.compile.kernel import Kernel, digest_of
from syclade.host.device.compile.precompiled import shipped
from syclade.host.device.workarounds.compiler import dpnp_stand_in, register_numba_implementations
from syclade.host.ground.cache import how_often
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import COMPILER_PYTHON, install_command, sycl_hint, version_of
from syclade.host.ground.spirv import declare_group_size

if TYPE_CHECKING:
    from dpctl import SyclQueue

__all__ = [
    "Spirv",
    "compiler_versions",
    "import_compiler",
    "require_compiler",
    "require_current_folder",
    "translate",
    "translation",
]


logger = logging.getLogger("syclade.program")

_COMPILERS = ("numba-dpex", "numba", "llvmlite", "dpcpp-llvm-spirv")


@dataclass(frozen=True)
class Spirv:
    """Compiled kernel.

    Attributes:
        entry_point: name of the kernel in the module.
        module: the SPIR-V binary.
    """

    entry_point: str
    module: bytes


@cache
def compiler_versions() -> list[str]:
    """Return name and version of every package that takes part in translating a kernel to SPIR-V."""
    versions = []
    for name in _COMPILERS:
        versions.append(f"{name} {version_of(name) or 'is absent'}")
    return versions


@cache
def translation() -> list[str]:
    """Return what determines the SPIR-V besides the kernel: versions, and the sources of the translation."""
    return [*compiler_versions(), digest_of((__name__, "syclade.kernels.target.sycl"))]


def import_compiler() -> Any:
    """Import numba-dpex, which takes a second, and return `kernels.target.sycl.compile_kernel`.

    Raises:
        DeviceError: numba-dpex cannot be imported.
    """
    try:
        with dpnp_stand_in():
            import numba_dpex  # noqa: F401

            from syclade.kernels.target.sycl import compile_kernel
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise DeviceError(
            f"numba-dpex does not import: {error}",
            hint=f"reinstall the SYCL stack: {install_command('sycl', reinstall=True)} ({COMPILER_PYTHON})",
        ) from error
    return compile_kernel


def translate(queue: SyclQueue, kernel: Kernel) -> Spirv:
    """Compile a kernel, which takes 3 to 20 s.

    The queue is used for type checks only and does not affect the result.

    Raises:
        DeviceError: numba-dpex is not installed, cannot be imported or cannot compile the kernel, or the
            current folder was deleted.
    """
    require_current_folder()
    require_compiler(kernel)
    logger.info("compiling the kernel for %s: about 10 s, %s", kernel.size or kernel.name, how_often())
    logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    compile_kernel = import_compiler()
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    try:
        register_numba_implementations()
        name, module = compile_kernel(
            kernel.body(), kernel.name, arguments, kernel.record_types(), kernel.group, queue
        )
    except Exception as error:  # from numba, llvmlite or the translator to SPIR-V
        raise DeviceError(f"numba-dpex cannot compile {kernel.name}: {error}") from error
    return Spirv(name, declare_group_size(module, kernel.lanes, sub_groups=kernel.group == "sub-group"))


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
