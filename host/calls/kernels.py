"""All kernels of calling on this processor; those of tails are in `host/tails/kernels.py`."""

from __future__ import annotations

from collections.abc import Mapping

from syclade.host.calls.alignment_quality import kernel_of
from syclade.host.calls.banded import BANDS
from syclade.host.calls.compiled import HOST_KERNELS
from syclade.host.calls.gap_quality import gap_kernel
from syclade.host.compile.kernel import Kernel

__all__ = ["call_kernels"]


def call_kernels() -> Mapping[str, Kernel]:
    """Return the kernels, by name."""
    banded = {one.name: one for widest in BANDS for one in (kernel_of(widest), gap_kernel(widest))}
    return HOST_KERNELS | banded
