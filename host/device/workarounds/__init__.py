"""Workarounds for bugs of the SYCL stack, each with the versions that have the bug (`Stack`).

All workarounds are in this folder. The loader of an export (`host/commands/export/loader.py`) runs without
syclade, so it repeats those that it needs.

No workaround asks the user to set an environment variable. `prepare` must run before the first `import
dpctl`. `tests/device/test_workarounds.py` fails for every workaround that is no longer needed, on each
stack. Longer workarounds have their own modules in this folder, and
`tests/device/test_workarounds_binary.py`.

Two combinations of versions are tested. `PINNED` (dpctl 0.17.0 with Intel's runtimes 2024.2.2, Python 3.11)
can also compile kernels, with numba-dpex 0.23.0. `CURRENT` (dpctl 0.22 with runtimes 2026.2, Python 3.12 and
later) runs precompiled kernels.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.device.workarounds.compiler import name_an_older_processor
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import COMPILER_PYTHON, files_of, sycl_hint, version_of

if TYPE_CHECKING:
    from dpctl import SyclContext, SyclDevice, SyclQueue

__all__ = [
    "in_order_queue",
    "let_emulator_take_spirv",
    "load_dpnp_libraries",
    "load_runtime_libraries",
    "name_an_older_processor",
    "prepare",
    "register_opencl_drivers",
    "restore_driver_variable",
]

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


DPNP_LIBRARIES = (
    ("tbb", "libtbb.so.12"),
    ("mkl", "libmkl_core.so.2"),
    ("mkl", "libmkl_tbb_thread.so.2"),
    ("mkl", "libmkl_intel_ilp64.so.2"),
    ("onemkl-sycl-blas", "libmkl_sycl_blas.so.4"),
    ("onemkl-sycl-lapack", "libmkl_sycl_lapack.so.4"),
    ("onemkl-sycl-dft", "libmkl_sycl_dft.so.4"),
    ("onemkl-sycl-rng", "libmkl_sycl_rng.so.4"),
    ("onemkl-sycl-stats", "libmkl_sycl_stats.so.4"),
    ("onemkl-sycl-vm", "libmkl_sycl_vm.so.4"),
)
DRIVER_VARIABLE = "OCL_ICD_FILENAMES"
CPU_DRIVER = ("intel-opencl-rt", "libintelocl.so")
EMULATOR_DRIVER = ("intel-opencl-fpga-emu-rt", "libintelocl_emu.so")


_preparing = threading.Lock()


def prepare() -> ModuleType:
    """Apply the start-up workarounds once and return the module `dpctl`.

    Raises:
        DeviceError: the SYCL stack is not installed, or its libraries do not load; the message says which.
    """
    with _preparing:
        return _prepare()


@cache
def _prepare() -> ModuleType:
    users_drivers = os.environ.get(DRIVER_VARIABLE)
    if "dpctl" not in sys.modules:
        load_runtime_libraries()
        register_opencl_drivers()
    try:
        import dpctl
    except Exception as error:  # with unexpected versions beside it, dpctl may fail in any way
        raise DeviceError(f"dpctl does not import: {error}", hint=sycl_hint()) from error
    let_emulator_take_spirv()
    with contextlib.suppress(OSError, DeviceError):
        loader = ctypes.CDLL(str(_installed("intel-opencl-rt", "libOpenCL.so.1")))
        name_an_older_processor(loader, _opencl_platforms(loader))
    restore_driver_variable(users_drivers)
    module: ModuleType = dpctl
    return module


def in_order_queue(*place: str | SyclContext | SyclDevice) -> SyclQueue:
    """Return a queue whose launches wait for one another, for threads that work side by side.

    In the CPU drivers 2024.2.2 and 2026.2, a thread that waits for a queue without an order takes up the
    waiting of other threads, and cannot return before they do: in the end they wait for each other forever.

    Args:
        place: filter string of the device; or a context and its device.
    """
    return prepare().SyclQueue(*place, property=["in_order"])


def _installed(distribution: str, name: str) -> Path:
    """Return the path of a library of an installed package."""
    if version_of(distribution) is None:
        raise DeviceError(f"the package {distribution} is not installed", hint=sycl_hint())
    for file in files_of(distribution):
        if file.name == name:
            return file.resolve()
    raise DeviceError(f"the package {distribution} has no {name}", hint=sycl_hint())


def load_runtime_libraries() -> None:
    """Load libraries that the wheels do not find because their rpath is wrong.

    dpctl 0.17.0 with the 2024.2.2 runtimes cannot be imported without them. dpctl 0.22 can, but the OpenCL
    loader 2026.2 cannot be opened without Intel's math libraries.

    Raises:
        DeviceError: a library that dpctl needs is missing or does not load.
    """
    stack = installed_stack()
    for distribution, name in stack.libraries:
        try:
            ctypes.CDLL(str(_installed(distribution, name)), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise DeviceError(f"{name} does not load: {error}", hint=sycl_hint()) from error
        except DeviceError:
            if not stack.is_importable:
                raise


def register_opencl_drivers() -> None:
    """Register the OpenCL drivers by absolute path: in a virtual environment the loader finds none.

    Needed by the OpenCL loaders 2024.2.2 and 2026.2.
    """
    if DRIVER_VARIABLE in os.environ:
        return  # the user has chosen the drivers
    drivers = []
    for distribution, name in (CPU_DRIVER, EMULATOR_DRIVER):
        with contextlib.suppress(DeviceError):
            drivers.append(str(_installed(distribution, name)))
    if drivers:
        os.environ[DRIVER_VARIABLE] = ":".join(drivers)


def restore_driver_variable(value: str | None) -> None:
    """Restore the user's list of drivers, once the loader has read ours.

    The OpenCL loader 2024.2.2 splits the variable in place, so child processes would inherit only the first
    driver and not find the emulator. The loader 2026.2 does not, but child processes would inherit our list.

    Args:
        value: the user's list; None if the variable was not set.
    """
    try:
        _opencl_platforms(ctypes.CDLL(str(_installed("intel-opencl-rt", "libOpenCL.so.1"))))  # read it now
    except (OSError, DeviceError):
        return  # dpctl still has to read it
    if value is None:
        os.environ.pop(DRIVER_VARIABLE, None)
    else:
        os.environ[DRIVER_VARIABLE] = value


@cache
def let_emulator_take_spirv() -> bool:
    """Let the FPGA emulator 2024.2.2 create programs from SPIR-V; return whether anything was changed.

    dpctl 0.17.0 calls clCreateProgramWithIL. This OpenCL 1.2 platform only has its KHR variant, and the
    dispatch table holds a function that refuses. In that table only, the refusing entry (found by address,
    never by position) is replaced by the KHR variant.
    """
    try:
        emulator = ctypes.CDLL(str(_installed(*EMULATOR_DRIVER)))
        loader = ctypes.CDLL(str(_installed("intel-opencl-rt", "libOpenCL.so.1")))
        refusing = ctypes.cast(emulator.clCreateProgramWithIL, ctypes.c_void_p).value
        willing = ctypes.cast(emulator.clCreateProgramWithILKHR, ctypes.c_void_p).value
    except (OSError, DeviceError, AttributeError):
        return False
    changed = False
    for platform in _opencl_platforms(loader):
        if "FPGA Emulation" not in _platform_name(loader, platform):
            continue
        table = ctypes.cast(platform, ctypes.POINTER(ctypes.c_void_p))[0]
        entries = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
        for index in range(_DISPATCH_ENTRIES):
            if entries[index] == refusing and refusing is not None:
                entries[index] = willing
                changed = True
    return changed


_DISPATCH_ENTRIES = 140
"""Number of entries of cl_icd_dispatch that every driver of OpenCL 1.2 to 2.1 has."""

_PLATFORM_NAME = 0x0902


def _opencl_platforms(loader: ctypes.CDLL) -> list[int]:
    """Return the platform objects that the OpenCL loader knows."""
    count = ctypes.c_uint(0)
    if loader.clGetPlatformIDs(0, None, ctypes.byref(count)) != 0:
        return []
    platforms = (ctypes.c_void_p * count.value)()
    loader.clGetPlatformIDs(count, platforms, None)
    return [platform for platform in platforms if platform]


def _platform_name(loader: ctypes.CDLL, platform: int) -> str:
    """Return CL_PLATFORM_NAME."""
    text = ctypes.create_string_buffer(256)
    loader.clGetPlatformInfo(ctypes.c_void_p(platform), _PLATFORM_NAME, ctypes.c_size_t(256), text, None)
    return text.value.decode(errors="replace")


def load_dpnp_libraries() -> None:
    """Load libraries that dpnp 0.15.0 cannot find because its rpath is wrong, too; call `prepare` first.

    syclade itself never imports dpnp, and users who pass a dpnp array have already imported it. This is for
    users who have not: call it before `import dpnp`. MKL's libraries need symbols of each other, so they are
    bound lazily, which ctypes does not offer.

    Raises:
        DeviceError: a library is not installed, or does not load.
    """
    loader = ctypes.CDLL(None)
    loader.dlopen.restype = ctypes.c_void_p
    loader.dlerror.restype = ctypes.c_char_p
    for distribution, name in DPNP_LIBRARIES:
        path = os.fsencode(_installed(distribution, name))
        if not loader.dlopen(path, os.RTLD_LAZY | os.RTLD_GLOBAL):
            raise DeviceError(f"{name} does not load: {loader.dlerror().decode()}", hint=sycl_hint())
