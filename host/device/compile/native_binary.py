"""Cached machine code of compiled kernels: a warm start runs no compiler at all.

The drivers of the CPU device and of the emulator compile SPIR-V in 0.3 to 2 s in every process; the cached
binary loads in 5 ms. A binary fits one driver and one kind of processor, so both are part of its name.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.compiler import TARGET_VARIABLE
from syclade.host.device.workarounds.opencl import opened_place, sycl_program
from syclade.host.ground.cache import read_checked, write_checked

if TYPE_CHECKING:
    from dpctl import SyclDevice, SyclQueue
    from dpctl.program import SyclProgram

__all__ = ["build_program", "device_identity", "is_missing", "is_translated"]

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
        name = _cache_name(queue, module)
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


def is_translated(queue: SyclQueue, module: bytes) -> bool:
    """Return whether the machine code of a module is cached."""
    name = _cache_name(queue, module)
    return name is not None and read_checked(name) is not None


def is_missing(queue: SyclQueue, module: bytes) -> bool:
    """Return whether the machine code of a module is not cached yet, but will be once it is compiled."""
    name = _cache_name(queue, module)
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


def _cache_name(queue: SyclQueue, module: bytes) -> str | None:
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
