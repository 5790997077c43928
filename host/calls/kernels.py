"""All kernels of calling; those of tails are in `host/calls/tails/kernels.py`."""

from __future__ import annotations

from collections.abc import Mapping

from syclade.host.calls.alignment_quality import BAQ_OF_READS
from syclade.host.calls.banded import BANDS, banded_kernel
from syclade.host.calls.gap_quality import GAPS_OF_READS
from syclade.host.calls.host_kernels import HOST_KERNELS
from syclade.host.device.compile.kernel import Kernel

__all__ = ["alignment_kernels", "call_kernels"]


def call_kernels() -> Mapping[str, Kernel]:
    """Return the kernels of this processor, by name."""
    return HOST_KERNELS | alignment_kernels("native")


def alignment_kernels(kind: str) -> dict[str, Kernel]:
    """Return the kernels of alignment qualities of a kind of device, by name."""
    found = [banded_kernel(one, widest, kind) for widest in BANDS for one in (BAQ_OF_READS, GAPS_OF_READS)]
    return {one.name: one for one in found}
