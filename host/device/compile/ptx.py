"""Kernels as PTX, which the drivers of NVIDIA GPUs translate.

Those of searches are precompiled. numba-cuda compiles any other once; a later process needs only the cached
PTX.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from typing import NamedTuple

from syclade.host.device.compile.kernel import Kernel, digest_of
from syclade.host.device.compile.precompiled import PTX, find_shipped
from syclade.host.device.compile.translate import require_current_folder
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import cuda_hint, version_of

__all__ = [
    "PTX_COMPILER",
    "PTX_COMPILERS",
    "Ptx",
    "compile_ptx",
    "load_ptx",
    "ptx_compiler_problem",
    "ptx_key",
]

logger = logging.getLogger("syclade.cuda")

PTX_COMPILER = "numba-cuda"

PTX_COMPILERS = (PTX_COMPILER, "nvidia-cuda-nvcc-cu12")
"""Packages that determine the PTX: the compiler, and NVVM. That of CUDA 12.2 writes PTX 8.2, which drivers of
June 2023 (535) and later take."""

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


def load_ptx(kernel: Kernel, near: Collection[str] = ()) -> Ptx:
    """Return a kernel: precompiled, from the cache, or compiled now.

    Args:
        kernel: the kernel.
        near: names of the arguments whose parts of a slot a launch keeps in shared memory. With any, the
            entry point also takes the length of a slot's part of each argument that has such parts.

    Raises:
        DeviceError: the kernel is neither precompiled nor cached, and numba-cuda is not installed, does not
            import, or cannot compile it; or the precompiled one is damaged.
    """
    key = ptx_key(kernel, near)
    shipped = find_shipped(kernel, PTX, near)
    if shipped is not None:
        return Ptx(key, *shipped)
    place = f"ptx/{key}"
    with _compiling:
        stored = read_checked(place)
        if stored is not None:
            entry_point, _, text = stored.partition(b"\n")
            return Ptx(key, entry_point.decode(), text)
        made = Ptx(key, *compile_ptx(kernel, near))
        write_checked(place, made.entry_point.encode() + b"\n" + made.text)
        return made


def ptx_compiler_problem() -> str | None:
    """Return why kernels cannot be compiled for NVIDIA GPUs; None if the compiler is installed."""
    return None if version_of(PTX_COMPILER) else f"{PTX_COMPILER} is not installed: {cuda_hint()}"


def ptx_key(kernel: Kernel, near: Collection[str]) -> str:
    """Return what determines the PTX: the kernel, versions of the compiler, and sources of the target."""
    versions = [f"{name} {version_of(name)}" for name in PTX_COMPILERS]
    sources = digest_of((__name__, "syclade.kernels.target.cuda.compiler"))
    return kernel.key([*versions, sources, *(f"near {name}" for name in near)])


def compile_ptx(kernel: Kernel, near: Collection[str]) -> tuple[str, bytes]:
    """Compile a kernel; return its entry point and the PTX.

    Raises:
        DeviceError: numba-cuda is not installed, does not import, or cannot compile the kernel.
    """
    problem = ptx_compiler_problem()
    if problem is not None:
        raise DeviceError(f"the kernel {kernel.name} has to be compiled, and {problem}")
    require_current_folder()
    logger.info("compiling the kernel for %s: about 10 s, %s", kernel.size or kernel.name, how_often())
    logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    try:
        from syclade.kernels.target.cuda.compiler import FlatArray, compile_kernel
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise DeviceError(f"{PTX_COMPILER} does not import: {error}", hint=cuda_hint()) from error
    grid = kernel.group == "grid"
    arguments = [
        FlatArray(
            one.name,
            one.dtype,
            "teams" in one.shape if grid else bool(near) and "slots" in one.shape,
            one.name in near,
        )
        for one in kernel.arguments
    ]
    try:
        return compile_kernel(
            kernel.body(), kernel.name, arguments, kernel.record_types(), kernel.lanes, grid
        )
    except Exception as error:  # numba's own errors, and those of NVVM
        raise DeviceError(f"{PTX_COMPILER} cannot compile {kernel.name}: {error}") from error
