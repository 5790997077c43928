"""Kernels compiled by numba once, and cached: machine code of this processor, and PTX for NVIDIA GPUs.

Files are stored in the user's cache under a key of the kernel and the compiler's versions; machine code also
of the processor. A later process needs only llvmlite, to link machine code; drivers of GPUs translate PTX.
"""

from __future__ import annotations

import ctypes
import logging
import re
import threading
from collections.abc import Callable, Collection
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from syclade.host.device.compile.kernel import Kernel, digest_of
from syclade.host.device.compile.precompiled import PTX, find_shipped, is_shipped, own_processor
from syclade.host.device.compile.translate import require_current_folder
from syclade.host.ground.cache import how_often, read_checked, write_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import cuda_hint, install_command, version_of
from syclade.kernels.target.native.traits import TRAITS

__all__ = [
    "PTX_COMPILER",
    "PTX_COMPILERS",
    "Ptx",
    "compile_ptx",
    "is_compiled",
    "is_ptx_made",
    "load_machine_code",
    "load_ptx",
    "ptx_compiler_problem",
    "ptx_key",
]

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
def _processor(binding: ModuleType) -> tuple[str, str]:
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


_cuda_logger = logging.getLogger("syclade.cuda")

PTX_COMPILER = "numba-cuda"

PTX_COMPILERS = (PTX_COMPILER, "nvidia-cuda-nvcc-cu12")
"""Packages that determine the PTX: the compiler, and NVVM. That of CUDA 12.2 writes PTX 8.2, which drivers of
June 2023 (535) and later take."""

_UNUSED_GLOBALS = re.compile(rb"^\.common .*\n", re.MULTILINE)
"""Declarations that no code uses, in any order: without them, the same sources give the same bytes."""

_compiling = threading.Lock()


class Ptx(NamedTuple):
    """A compiled kernel.

    Attributes:
        key: what determines it.
        entry_point: name of its function.
        text: the PTX.
    """

    key: str
    entry_point: str
    text: bytes


def load_ptx(kernel: Kernel, near: Collection[str] = ()) -> Ptx:
    """Return a kernel: precompiled, from the cache, or compiled now.

    Args:
        kernel: the kernel.
        near: names of the arguments whose parts of a slot a launch keeps in shared memory. With any, the
            entry point also takes the length of a slot's part of each argument that has such parts.

    Raises:
        DeviceError: the kernel is neither precompiled nor cached, and numba-cuda is not installed, does not
            import, or cannot compile it; or the precompiled one is damaged.
    """
    key = ptx_key(kernel, near)
    shipped = find_shipped(kernel, PTX, near)
    if shipped is not None:
        return Ptx(key, *shipped)
    place = f"ptx/{key}"
    with _compiling:
        stored = read_checked(place)
        if stored is not None:
            entry_point, _, text = stored.partition(b"\n")
            return Ptx(key, entry_point.decode(), text)
        made = Ptx(key, *compile_ptx(kernel, near))
        write_checked(place, made.entry_point.encode() + b"\n" + made.text)
        return made


def is_ptx_made(kernel: Kernel, near: Collection[str] = ()) -> bool:
    """Return whether the PTX is precompiled or cached, so that it can be loaded without numba-cuda."""
    return is_shipped(kernel, PTX, near) or read_checked(f"ptx/{ptx_key(kernel, near)}") is not None


def ptx_compiler_problem() -> str | None:
    """Return why kernels cannot be compiled for NVIDIA GPUs; None if the compiler is installed."""
    return None if version_of(PTX_COMPILER) else f"{PTX_COMPILER} is not installed: {cuda_hint()}"


def ptx_key(kernel: Kernel, near: Collection[str]) -> str:
    """Return what determines the PTX: the kernel, versions of the compiler, and sources of the target."""
    versions = [f"{name} {version_of(name)}" for name in PTX_COMPILERS]
    sources = digest_of((__name__, "syclade.kernels.target.cuda.compiler"))
    return kernel.key([*versions, sources, *(f"near {name}" for name in near)])


def compile_ptx(kernel: Kernel, near: Collection[str]) -> tuple[str, bytes]:
    """Compile a kernel; return its entry point and the PTX.

    Raises:
        DeviceError: numba-cuda is not installed, does not import, or cannot compile the kernel.
    """
    problem = ptx_compiler_problem()
    if problem is not None:
        raise DeviceError(f"the kernel {kernel.name} has to be compiled, and {problem}")
    require_current_folder()
    _cuda_logger.info("compiling the kernel for %s: about 10 s, %s", kernel.size or kernel.name, how_often())
    _cuda_logger.debug("%s with %s", kernel.name, dict(kernel.constants))
    try:
        from syclade.kernels.target.cuda.compiler import FlatArray, compile_kernel
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise DeviceError(f"{PTX_COMPILER} does not import: {error}", hint=cuda_hint()) from error
    grid = kernel.group == "grid"
    arguments = [
        FlatArray(
            one.name,
            one.dtype,
            "teams" in one.shape if grid else bool(near) and "slots" in one.shape,
            one.name in near,
        )
        for one in kernel.arguments
    ]
    try:
        entry_point, text = compile_kernel(
            kernel.body(), kernel.name, arguments, kernel.record_types(), kernel.lanes, grid
        )
    except Exception as error:  # numba's own errors, and those of NVVM
        raise DeviceError(f"{PTX_COMPILER} cannot compile {kernel.name}: {error}") from error
    return entry_point, _UNUSED_GLOBALS.sub(b"", text)
