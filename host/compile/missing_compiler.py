"""Explains why a kernel is missing: it is not precompiled, and its compiler is not installed."""

from __future__ import annotations

import sys

from syclade.host.compile.kernel import Kernel
from syclade.host.compile.shipped import SPIRV, shipped
from syclade.host.distributions import version_of
from syclade.host.errors import DeviceError
from syclade.host.install import COMPILER_PYTHON, sycl_hint

__all__ = ["require_compiler"]

_USES = {
    "search": "searches",
    "chain": "chains with --encoding preorder",
    "sum": "chains with --score sum",
    "learned": "chains that learn the false negative rate",
    "leaf": "chains of cell trees",
}
"""Uses of precompiled kernels, by the first part of their names."""


def require_compiler(kernel: Kernel) -> None:
    """Check that numba-dpex, which compiles kernels for SYCL devices, is installed.

    Args:
        kernel: the kernel that is to be compiled.

    Raises:
        DeviceError: it is not. The hint says what runs without a compiler, and where there is one.
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
    parts = {entry["name"].partition("-")[0] for entry in shipped() if entry["for"] == SPIRV}
    uses = [use for part, use in _USES.items() if part in parts]
    there = f"precompiled are kernels for {', '.join(uses)}; " if uses else ""
    return f"{there}others need {COMPILER_PYTHON}, or --device native, which compiles with numba"
