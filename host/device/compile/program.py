"""Compiled kernels: translated to SPIR-V and to machine code once, cached, and loaded without numba.

The SPIR-V of a kernel is stored in the user's cache under a key of its sources, its constants and the
versions of the compiler, so that a later process imports neither numba nor numba-dpex. The driver's machine
code is cached as well, so that a warm start runs no compiler at all: the drivers of the CPU device and of the
emulator compile SPIR-V in 0.3 to 2 s in every process; the cached binary loads in 5 ms. A binary fits one
driver and one kind of processor, so both are part of its name.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import SPIRV, find_shipped
from syclade.host.device.compile.translate import Spirv, translate, translation
from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.compiler import TARGET_VARIABLE
from syclade.host.device.workarounds.opencl import opened_place, sycl_program
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.spirv import with_constants

if TYPE_CHECKING:
    from dpctl import SyclContext, SyclDevice, SyclQueue
    from dpctl.program import SyclKernel, SyclProgram

    from syclade.host.device.compile.image import Image

__all__ = [
    "announce_translation",
    "build_program",
    "device_identity",
    "is_compiled",
    "is_translated",
    "load_kernel",
    "spirv_of",
]

logger = logging.getLogger("syclade.program")

_built: dict[tuple[str, tuple[int, ...], SyclContext, SyclDevice], SyclKernel] = {}
"""Kernels built by this process, by key, constants, context and device: building takes half a second."""

_building = threading.Lock()
"""Lock for building: threads that need the same kernel wait for the first one.

It also keeps numba to one thread at a time. All kernels share it, because a driver translates one at a time
anyway (`engines.sycl.ParallelTranslation`).
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
    if there is not None and _lacks_binary(queue, module):
        announce_translation(queue, _SECONDS)
    try:
        program = build_program(queue, module)
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
    return there is not None and _has_binary(queue, _specialised(there, kernel))


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


logger = logging.getLogger("syclade.program")

_COMPILER_SETTINGS = "CL_CONFIG_"
"""Prefix of the environment variables that change what the driver's compiler does, or show it."""


def build_program(queue: SyclQueue, module: bytes) -> SyclProgram:
    """Return a `dpctl.program.SyclProgram` of a SPIR-V module; compile it only if it is not cached.

    Raises:
        Exception: the driver refuses the module: OpenCLError, or an exception of dpctl.
    """
    with opened_place(queue) as place:
        if place is None:
            import dpctl.program

            return dpctl.program.create_program_from_spirv(queue, module)
        name = _binary_name(queue, module)
        program = None if name is None else _stored_program(place, name)
        if program is None:
            program = opencl.program_from_spirv(place, module)
            binary = opencl.binary_of(program)
            if name is not None and binary:
                write_checked(name, binary)
        try:
            return sycl_program(queue, program)
        finally:
            opencl.release(program)


def _has_binary(queue: SyclQueue, module: bytes) -> bool:
    """Return whether the machine code of a module is cached."""
    name = _binary_name(queue, module)
    return name is not None and read_checked(name) is not None


def _lacks_binary(queue: SyclQueue, module: bytes) -> bool:
    """Return whether the machine code of a module is not cached yet, but will be once it is compiled."""
    name = _binary_name(queue, module)
    return name is not None and read_checked(name) is None


def _stored_program(place: opencl.Place, name: str) -> int | None:
    """Return the program of a cached binary; None if there is none or the driver refuses it."""
    binary = read_checked(name)
    if binary is None:
        return None
    try:
        return opencl.program_from_binary(place, binary)
    except opencl.OpenCLError as error:
        logger.debug("compiling again what the driver would not load: %s", error)
        return None


def _binary_name(queue: SyclQueue, module: bytes) -> str | None:
    """Return the name of a module's machine code in the cache; None if it must not be cached."""
    identity = device_identity(queue.sycl_device)
    settings = {name for name in os.environ if name.startswith(_COMPILER_SETTINGS)} - {TARGET_VARIABLE}
    if identity is None or settings:
        return None
    content = json.dumps([hashlib.sha256(module).hexdigest(), sorted(identity.items())])
    return f"native/{hashlib.sha256(content.encode()).hexdigest()[:32]}"


def device_identity(device: SyclDevice) -> dict[str, str] | None:
    """Return what machine code depends on: name and driver of a dpctl device, and the processor.

    Return None if the processor is unknown: code made for one processor may crash another one that has the
    same device name.
    """
    processor = _processor()
    if processor is None:
        return None
    identity = {"device": device.name.strip(), "driver": device.driver_version, "processor": processor}
    target = os.environ.get(TARGET_VARIABLE)
    return identity | ({} if target is None else {"target": target})


@cache
def _processor() -> str | None:
    """Return a digest of the processor's model and instruction sets; None if Linux does not provide them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    described = sorted(
        {line for line in lines if line.split("\t")[0] in ("vendor_id", "model name", "flags")}
    )
    return hashlib.sha256("\n".join(described).encode()).hexdigest()[:16] if described else None
