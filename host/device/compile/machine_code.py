"""Kernels as machine code of this processor: compiled by numba once, cached, and loaded without numba.

The object file is stored in the user's cache under a key of the kernel, the compiler's versions and the
processor. A later process needs only llvmlite, to link it.
"""

from __future__ import annotations

import ctypes
import logging
import re
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from syclade.host.device.compile.kernel import Kernel, digest_of
from syclade.host.device.compile.precompiled import find_shipped, is_shipped, own_processor
from syclade.host.device.compile.translate import require_current_folder
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import install_command, version_of
from syclade.kernels.target.native.traits import TRAITS

__all__ = ["is_compiled", "load_machine_code"]

logger = logging.getLogger("syclade.native")

_loaded: dict[str, Callable[..., None]] = {}
_loading = threading.Lock()


def load_machine_code(kernel: Kernel) -> Callable[..., None]:
    """Return a C function of (first slot, end of the slots, address of each argument).

    It runs without Python's global interpreter lock.

    Raises:
        DeviceError: numba does not import, or cannot compile the kernel.
    """
    with _loading:
        key = kernel.key(_translation())
        if key not in _loaded:
            there = _load_compiled(kernel)
            if there is None:
                there = _compile(kernel)
                write_checked(_cache_name(kernel), there[0].encode() + b"\n" + there[1])
            _loaded[key] = _link(*there, len(kernel.arguments))
        return _loaded[key]


def is_compiled(kernel: Kernel) -> bool:
    """Return whether the kernel is cached or precompiled, so that it can be loaded without numba."""
    if kernel.key(_translation()) in _loaded or read_checked(_cache_name(kernel)) is not None:
        return True
    processor = own_processor()
    return processor is not None and is_shipped(kernel, processor)


def _load_compiled(kernel: Kernel) -> tuple[str, bytes] | None:
    """Return the symbol's name and the object file from the cache or the package; None if not found."""
    stored = read_checked(_cache_name(kernel))
    if stored is not None:
        name, _, code = stored.partition(b"\n")
        return name.decode(), code
    processor = own_processor()
    return None if processor is None else find_shipped(kernel, processor)


def _cache_name(kernel: Kernel) -> str:
    return f"native/{kernel.key(_translation())}"


def _translation() -> list[str]:
    """Return what determines the machine code besides the kernel: versions, processor and sources."""
    try:
        from llvmlite import binding
    except Exception as error:  # a shared library may be missing, or damaged
        raise _broken("llvmlite", error) from error
    versions = [f"{name} {version_of(name)}" for name in ("numba", "llvmlite")]
    compiler = digest_of((__name__, "syclade.kernels.target.native.compiler"))
    return [*versions, *_processor(binding), compiler]


@cache
def _processor(binding: Any) -> tuple[str, str]:
    """Return name and features of this processor, as LLVM knows them."""
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


def _compile(kernel: Kernel) -> tuple[str, bytes]:
    """Compile a kernel; return the symbol's name and the object file."""
    require_current_folder()
    logger.info("compiling the kernel for %s: about 10 s, %s", kernel.size or kernel.name, how_often())
    logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    try:
        from syclade.kernels.target.native.compiler import compile_kernel
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise _broken("numba", error) from error
    if kernel.lanes != TRAITS.lanes:
        raise DeviceError(f"{kernel.name} has {kernel.lanes} lanes; this processor takes {TRAITS.lanes}")
    from numba.core.errors import NumbaError

    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    try:
        return compile_kernel(kernel.body(), kernel.name, arguments, kernel.record_types())
    except NumbaError as error:
        raise DeviceError(f"numba cannot compile {kernel.name}: {_explained(str(error))}") from error


def _broken(name: str, error: Exception) -> DeviceError:
    return DeviceError(
        f"{name} does not import: {error}", hint=f"reinstall it: {install_command(reinstall=True)}"
    )


def _explained(message: str) -> str:
    """Return numba's error message in one line: what is wrong, and where."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    places = re.findall(r'File "([^<"][^"]*)", line (\d+)', plain)  # the innermost first
    where = "{}:{}: ".format(*places[0]) if places else ""
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    about_lanes = [line for line in lines if "Lanes(" in line or "LaneIndex" in line]
    if about_lanes:
        what = "a number that differs between lanes decides a branch, or stands where lanes share one"
        return f"{where}{what} ({about_lanes[-1].lstrip('> ')})"
    return where + (lines[0] if lines else "no reason given")


def _link(name: str, code: bytes, arguments: int) -> Callable[..., None]:
    """Load an object file into this process; return its function."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(name)
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * arguments)
    function: Any = signature(address)
    function.engine = engine  # the engine owns the code
    return function  # type: ignore[no-any-return]
