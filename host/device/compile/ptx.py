"""Kernels as PTX, which the drivers of NVIDIA GPUs translate.

numba-cuda compiles a kernel once; a later process needs only the cached PTX.
"""

from __future__ import annotations

import logging
import threading
from typing import NamedTuple

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.kernel_sources import digest_of
from syclade.host.device.compile.translate import require_current_folder
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import cuda_hint, version_of

__all__ = ["PTX_COMPILER", "Ptx", "load_ptx", "ptx_compiler_problem"]

logger = logging.getLogger("syclade.cuda")

PTX_COMPILER = "numba-cuda"
_compiling = threading.Lock()


class Ptx(NamedTuple):
    """A compiled kernel.

    Attributes:
        key: what determines it.
        entry_point: name of its function.
        text: the PTX.
    """

    key: str
    entry_point: str
    text: bytes


def load_ptx(kernel: Kernel) -> Ptx:
    """Return a kernel from the cache, or compile it.

    Raises:
        DeviceError: numba-cuda is not installed, does not import, or cannot compile the kernel.
    """
    key = _key(kernel)
    place = f"ptx/{key}"
    with _compiling:
        stored = read_checked(place)
        if stored is not None:
            entry_point, _, text = stored.partition(b"\n")
            return Ptx(key, entry_point.decode(), text)
        made = Ptx(key, *_compile(kernel))
        write_checked(place, made.entry_point.encode() + b"\n" + made.text)
        return made


def ptx_compiler_problem() -> str | None:
    """Return why kernels cannot be compiled for NVIDIA GPUs; None if the compiler is installed."""
    return None if version_of(PTX_COMPILER) else f"{PTX_COMPILER} is not installed: {cuda_hint()}"


def _key(kernel: Kernel) -> str:
    """Return what determines the PTX: the kernel, versions of the compiler, and sources of the target."""
    versions = [f"{name} {version_of(name)}" for name in (PTX_COMPILER, "nvidia-nvvm")]
    return kernel.key([*versions, digest_of((__name__, "syclade.kernels.target.cuda.compiler"))])


def _compile(kernel: Kernel) -> tuple[str, bytes]:
    """Compile a kernel; return its entry point and the PTX."""
    problem = ptx_compiler_problem()
    if problem is not None:
        raise DeviceError(f"the kernel {kernel.name} has to be compiled, and {problem}")
    require_current_folder()
    logger.info("compiling the kernel for %s: about 10 s, %s", kernel.size or kernel.name, how_often())
    logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    try:
        from syclade.kernels.target.cuda.compiler import compile_kernel
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise DeviceError(f"{PTX_COMPILER} does not import: {error}", hint=cuda_hint()) from error
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    try:
        return compile_kernel(kernel.body(), kernel.name, arguments, kernel.record_types(), kernel.lanes)
    except Exception as error:  # numba's own errors, and those of NVVM
        raise DeviceError(f"{PTX_COMPILER} cannot compile {kernel.name}: {error}") from error
