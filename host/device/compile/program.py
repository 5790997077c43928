"""Compiled kernels: translated to SPIR-V once, cached, and loaded without numba.

The SPIR-V of a kernel is stored in the user's cache under a key of its sources, its constants and the
versions of the compiler, so that a later process imports neither numba nor numba-dpex. The driver's machine
code is cached as well (`native_binary`).
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from syclade.host.device.compile import native_binary
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import SPIRV, find_shipped
from syclade.host.device.compile.translate import Spirv, translate, translation
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.spirv import with_constants

if TYPE_CHECKING:
    from dpctl import SyclContext, SyclDevice, SyclQueue
    from dpctl.program import SyclKernel

    from syclade.host.device.compile.image import Image

__all__ = ["announce_translation", "is_compiled", "is_translated", "load_kernel", "spirv_of"]

logger = logging.getLogger("syclade.program")

_built: dict[tuple[str, tuple[int, ...], SyclContext, SyclDevice], SyclKernel] = {}
"""Kernels built by this process, by key, constants, context and device: building takes half a second."""

_building = threading.Lock()
"""Lock for building: threads that need the same kernel wait for the first one.

It also keeps numba to one thread at a time. All kernels share it, because a driver translates one at a time
anyway (`parallel_translation`).
"""

_announced: set[str] = set()
"""Names of the devices whose translation has been announced in the log."""

_SECONDS = 2
"""Approximate time that a driver takes for the kernel of a chain."""


def load_kernel(queue: SyclQueue, kernel: Kernel, image: Image | None = None) -> SyclKernel:
    """Return a `dpctl.program.SyclKernel` ready for `queue.submit`.

    Args:
        queue: queue of the device.
        kernel: the kernel to compile.
        image: image to load the kernel from instead; it has passed `Image.fit`.

    Raises:
        DeviceError: the kernel cannot be compiled, or the device's driver refuses the kernel or the image.
    """
    with _building:
        key = kernel.key(translation()) if image is None else image.key
        place = (key, kernel.specialisation, queue.sycl_context, queue.sycl_device)
        if place not in _built:
            _built[place] = _build(queue, kernel) if image is None else image.kernel(queue)
        return _built[place]


def _build(queue: SyclQueue, kernel: Kernel) -> SyclKernel:
    there = _load_spirv(kernel)
    spirv = there or spirv_of(queue, kernel)
    module = _specialised(spirv, kernel)
    if there is not None and native_binary.is_missing(queue, module):
        announce_translation(queue, _SECONDS)
    try:
        program = native_binary.build_program(queue, module)
        if not program.has_sycl_kernel(spirv.entry_point):  # dpctl would return a kernel that crashes
            raise ValueError(f"the module has no entry point {spirv.entry_point}")
        return program.get_sycl_kernel(spirv.entry_point)
    except Exception as error:
        name = queue.sycl_device.name.strip()
        raise DeviceError(f"{name} cannot build the kernel {kernel.name}: {error}") from error


def spirv_of(queue: SyclQueue, kernel: Kernel) -> Spirv:
    """Return the kernel's SPIR-V from the cache or the package, or compile it now."""
    there = _load_spirv(kernel)
    if there is None:
        there = translate(queue, kernel)
        _store(kernel, there)
    return there


def _specialised(spirv: Spirv, kernel: Kernel) -> bytes:
    """Return the module with the values of the kernel's specialisation constants."""
    return with_constants(spirv.module, kernel.specialisation) if kernel.specialisation else spirv.module


def announce_translation(queue: SyclQueue, seconds: int) -> None:
    """Log once per device that its driver translates kernels, and about how long that takes."""
    name = queue.sycl_device.name.strip()
    if name not in _announced:
        _announced.add(name)
        logger.info("the driver of %s translates the kernels: about %d s, %s", name, seconds, how_often())


def _store(kernel: Kernel, spirv: Spirv) -> None:
    """Store a kernel's SPIR-V in the cache."""
    write_checked(_cache_name(kernel), spirv.entry_point.encode() + b"\n" + spirv.module)


def is_compiled(kernel: Kernel) -> bool:
    """Return whether the kernel is cached or precompiled, so that it can be loaded without numba-dpex."""
    return _load_spirv(kernel) is not None


def is_translated(queue: SyclQueue, kernel: Kernel) -> bool:
    """Return whether the kernel can be loaded without any compiler, including the device's."""
    there = _load_spirv(kernel)
    return there is not None and native_binary.is_translated(queue, _specialised(there, kernel))


def _load_spirv(kernel: Kernel) -> Spirv | None:
    stored = read_checked(_cache_name(kernel))
    if stored is not None:
        name, _, module = stored.partition(b"\n")
        return Spirv(name.decode(), module)
    found = find_shipped(kernel, SPIRV)
    if found is None:
        return None
    unpacked = Spirv(*found)
    _store(kernel, unpacked)  # unpacking takes longer than a launch
    return unpacked


def _cache_name(kernel: Kernel) -> str:
    return f"spirv/{kernel.key(translation())}"
