"""Versions of the SYCL stack that the workarounds are for.

Two combinations are tested. `PINNED` (dpctl 0.17.0 with Intel's runtimes 2024.2.2, Python 3.11) can also
compile kernels, with numba-dpex 0.23.0. `CURRENT` (dpctl 0.22 with runtimes 2026.2, Python 3.12 and later)
runs precompiled kernels.
"""

from __future__ import annotations

from typing import NamedTuple

from syclade.host.ground.packages import COMPILER_PYTHON, version_of

__all__ = ["CURRENT", "PINNED", "Stack", "installed_stack"]

_MATHS = (
    ("intel-cmplr-lib-rt", "libimf.so"),
    ("intel-cmplr-lib-rt", "libsvml.so"),
    ("intel-cmplr-lib-rt", "libirng.so"),
)


class Stack(NamedTuple):
    """A tested combination of versions.

    Attributes:
        dpctl, runtimes: versions of dpctl and of Intel's packages.
        libraries: (package, file) pairs to load before dpctl, in this order, because the wheels do not find
            them.
        sycl_library, dpctl_library: names under which the loaded libraries are found.
        is_importable: whether dpctl can be imported without these libraries.
        emulator_problem: why Intel's FPGA emulator cannot run; None if it can.
    """

    dpctl: str
    runtimes: str
    libraries: tuple[tuple[str, str], ...]
    sycl_library: str
    dpctl_library: str
    is_importable: bool
    emulator_problem: str | None


PINNED = Stack(
    dpctl="0.17.0",
    runtimes="2024.2.2",
    libraries=(
        ("intel-cmplr-lib-rt", "libintlc.so.5"),
        *_MATHS,
        ("intel-opencl-rt", "libOpenCL.so.1"),
        ("intel-sycl-rt", "libsycl.so.7"),
    ),
    sycl_library="libsycl.so.7",
    dpctl_library="libDPCTLSyclInterface.so.0",
    is_importable=False,
    emulator_problem=None,
)

CURRENT = Stack(
    dpctl="0.22.1",
    runtimes="2026.2.0",
    libraries=_MATHS,  # for the OpenCL loader; dpctl needs none of them
    sycl_library="libsycl.so.9",
    dpctl_library="libDPCTLSyclInterface.so",
    is_importable=True,
    # With libraries of 2025.0.5 beside it, the driver loads, and the OpenCL loader lists it. SYCL does not.
    emulator_problem=f"needs {COMPILER_PYTHON}: SYCL 2026.2 does not list Intel's last emulator, 2025.0.5",
)


def installed_stack() -> Stack:
    """Return the stack of the installed dpctl; an unknown version of dpctl counts as newer."""
    return PINNED if (version_of("dpctl") or "").startswith("0.17.") else CURRENT
