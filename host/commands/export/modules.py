"""SPIR-V modules for export: valid, and with a readable entry point name."""

from __future__ import annotations

from typing import Any

from syclade.host.commands.export.kernels import ExportedKernel
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.workarounds.compiler import with_listed_variables, without_stray_variables
from syclade.host.ground.spirv import rename_entry_point

__all__ = ["exported_module"]


def exported_module(queue: Any, kernel: ExportedKernel) -> bytes:
    """Return the SPIR-V of a kernel: valid under spirv-val, with `kernel.entry_point` as its one entry point.

    Args:
        queue: a SYCL queue of any device; the result does not depend on it.
        kernel: the kernel to compile, unless it is cached.

    Raises:
        DeviceError: the kernel cannot be compiled.
    """
    module = spirv_of(queue, kernel.kernel).module
    valid = with_listed_variables(without_stray_variables(module))
    return rename_entry_point(valid, kernel.entry_point)
