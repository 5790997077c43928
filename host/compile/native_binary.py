"""Machine code of compiled kernels, kept in the cache: a warm start runs no compiler at all.

The CPU device and the emulator compile SPIR-V within 0.3 to 2 s in every process; what they compiled loads
within 5 ms. A binary fits one driver and one kind of processor, so both are part of its name.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from functools import cache
from pathlib import Path
from typing import Any

from syclade.host.compile.cache import read_checked, write_checked
from syclade.host.devices import opencl
from syclade.host.workarounds.native_programs import opened_place, sycl_program
from syclade.host.workarounds.unknown_processor import TARGET_VARIABLE

__all__ = ["build_program", "device_identity", "is_missing", "is_translated"]

logger = logging.getLogger("syclade.program")

_COMPILER_SETTINGS = "CL_CONFIG_"
"""Variables that make the compiler work differently, or show what it does."""


def build_program(queue: Any, module: bytes) -> Any:
    """A `dpctl.program.SyclProgram` of a SPIR-V module, compiled only if that was never done before.

    Raises:
        Exception: the driver refuses the module: OpenCLError, or dpctl's own.
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


def is_translated(queue: Any, module: bytes) -> bool:
    """Whether the device's compiler has nothing to do for a module."""
    name = _cache_name(queue, module)
    return name is not None and read_checked(name) is not None


def is_missing(queue: Any, module: bytes) -> bool:
    """Whether the device's compiler has to translate a module, once: the cache will have it then."""
    name = _cache_name(queue, module)
    return name is not None and read_checked(name) is None


def _stored_program(place: opencl.Place, name: str) -> int | None:
    """The program of a cached binary; None if there is none that the driver takes."""
    binary = read_checked(name)
    if binary is None:
        return None
    try:
        return opencl.program_from_binary(place, binary)
    except opencl.OpenCLError as error:
        logger.debug("compiling again what the driver would not load: %s", error)
        return None


def _cache_name(queue: Any, module: bytes) -> str | None:
    """Name of a module's machine code in the cache; None where it shall not be kept."""
    identity = device_identity(queue.sycl_device)
    settings = {name for name in os.environ if name.startswith(_COMPILER_SETTINGS)} - {TARGET_VARIABLE}
    if identity is None or settings:
        return None
    content = json.dumps([hashlib.sha256(module).hexdigest(), sorted(identity.items())])
    return f"native/{hashlib.sha256(content.encode()).hexdigest()[:32]}"


def device_identity(device: Any) -> dict[str, str] | None:
    """What machine code must fit: name and driver of a dpctl device, and the processor.

    None if the processor cannot be told: the code of one may crash another of the same name.
    """
    processor = _processor()
    if processor is None:
        return None
    identity = {"device": device.name.strip(), "driver": device.driver_version, "processor": processor}
    target = os.environ.get(TARGET_VARIABLE)
    return identity | ({} if target is None else {"target": target})


@cache
def _processor() -> str | None:
    """Digest of the processor's model and instruction sets; None where Linux does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    told = sorted({line for line in lines if line.split("\t")[0] in ("vendor_id", "model name", "flags")})
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16] if told else None
