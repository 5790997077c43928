"""SPIR-V as it leaves the house: valid, and with a name that a person can type."""

from __future__ import annotations

from typing import Any

from syclade.host.compile.program import spirv_of
from syclade.host.compile.spirv import rename_entry_point
from syclade.host.export.kernels import ExportedKernel
from syclade.host.workarounds.spirv_modules import with_listed_variables, without_stray_variables

__all__ = ["exported_module"]


def exported_module(queue: Any, kernel: ExportedKernel) -> bytes:
    """The SPIR-V of a kernel, valid under spirv-val, its one entry point named `kernel.entry_point`.

    Args:
        queue: a SYCL queue of any device; the result does not depend on it.
        kernel: what to compile, unless the cache has it.

    Raises:
        DeviceError: the kernel cannot be compiled.
    """
    module = spirv_of(queue, kernel.kernel).module
    valid = with_listed_variables(without_stray_variables(module))
    return rename_entry_point(valid, kernel.entry_point)
