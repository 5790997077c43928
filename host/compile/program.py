"""Compiled kernels: specialise, translate to SPIR-V once, keep it, and load it without numba.

The SPIR-V of a kernel is stored in the user's cache under a key of its sources, the versions of the compiler
and the specialisation, so that a later process imports neither numba nor numba-dpex. What the driver makes of
it is kept as well (`native_binary`).
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.compile.cache import read_checked, write_checked
from syclade.host.compile.native_binary import build_program
from syclade.host.compile.spirv import declare_group_size
from syclade.host.errors import DeviceError
from syclade.host.workarounds import dpnp_stand_in, register_numba_implementations
from syclade.kernels.arguments import Argument

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = [
    "KernelSpec",
    "Spirv",
    "compile_spirv",
    "compiler_versions",
    "load_kernel",
    "source_digest",
    "spirv_of",
]

logger = logging.getLogger("syclade.program")

_TRANSLATION = "**/spirv*.py"
"""Modules of the host that change what the compiler makes: spirv.py and the workarounds for its modules."""

_COMPILERS = ("numba-dpex", "numba", "llvmlite", "dpcpp-llvm-spirv")


@dataclass(frozen=True)
class KernelSpec:
    """Which kernel, with which constants and arguments.

    Attributes:
        factory: `module:function` that returns the kernel.
        constants: the factory's keyword arguments.
        arguments: the kernel's arguments; each becomes a flat array.
    """

    factory: str
    constants: Mapping[str, int]
    arguments: tuple[Argument, ...]

    def key(self) -> str:
        """Name of the compiled kernel in the cache."""
        content = json.dumps(
            [
                source_digest(),
                compiler_versions(),
                self.factory,
                sorted(self.constants.items()),
                [(argument.name, argument.dtype) for argument in self.arguments],
            ]
        )
        return hashlib.sha256(content.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Spirv:
    """A compiled kernel.

    Attributes:
        entry_point: name of the kernel in the module.
        module: the SPIR-V binary.
    """

    entry_point: str
    module: bytes


@cache
def source_digest() -> str:
    """Digest of all device code, and of ours that has a part in its translation."""
    import syclade.host
    import syclade.kernels

    digest = hashlib.sha256()
    for package, pattern in ((syclade.kernels, "**/*.py"), (syclade.host, _TRANSLATION)):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.glob(pattern)):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def compiler_versions() -> list[str]:
    """Name and version of everything that has a part in translating a kernel to SPIR-V."""
    versions = []
    for name in _COMPILERS:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} is absent")
    return versions


_built: dict[tuple[str, Any, Any], Any] = {}
"""Kernels that this process has built, by key, context and device: building takes half a second."""

_building = threading.Lock()
"""Threads that want the same kernel shall wait for the first of them, and numba is no place to meet."""


def load_kernel(queue: Any, spec: KernelSpec, image: Image | None = None) -> Any:
    """A `dpctl.program.SyclKernel` ready for `queue.submit`.

    Args:
        queue: of the device.
        spec: what to compile.
        image: take the kernel from here instead; it fits the spec (`Image.fit`).

    Raises:
        DeviceError: the kernel cannot be compiled, or the device's compiler refuses it, or the image.
    """
    with _building:
        place = (spec.key() if image is None else image.key, queue.sycl_context, queue.sycl_device)
        if place in _built:
            return _built[place]
        if image is not None:
            _built[place] = image.program(queue).get_sycl_kernel(image.entry_point)
            return _built[place]
        spirv = spirv_of(queue, spec)
        try:
            program = build_program(queue, spirv.module)
            if not program.has_sycl_kernel(spirv.entry_point):  # dpctl would give one that crashes
                raise ValueError(f"the module has no entry point {spirv.entry_point}")
            _built[place] = program.get_sycl_kernel(spirv.entry_point)
        except Exception as error:
            name = queue.sycl_device.name.strip()
            raise DeviceError(f"{name} cannot build the kernel {spec.factory}: {error}") from error
        return _built[place]


def spirv_of(queue: Any, spec: KernelSpec) -> Spirv:
    """The kernel's SPIR-V, from the cache or compiled now."""
    key = spec.key()
    stored = read_checked(f"spirv/{key}")
    if stored is not None:
        name, _, module = stored.partition(b"\n")
        return Spirv(name.decode(), module)
    spirv = compile_spirv(queue, spec)
    write_checked(f"spirv/{key}", spirv.entry_point.encode() + b"\n" + spirv.module)
    return spirv


def compile_spirv(queue: Any, spec: KernelSpec) -> Spirv:
    """Compile with numba-dpex, 3 to 6 s. The queue matters to its type checks only, not to the result."""
    logger.info("compiling %s for %s", spec.factory, dict(spec.constants))
    try:
        with dpnp_stand_in():
            import numba_dpex  # noqa: F401
            from numba.core import types
            from numba_dpex.core.types import DpctlSyclQueue, USMNdArray
            from numba_dpex.core.types.kernel_api.index_space_ids import NdItemType
    except ImportError as error:
        raise DeviceError(
            f"numba-dpex does not import: {error}",
            hint="install the SYCL stack: pip install 'syclade[sycl]' (Linux x86_64, Python 3.11)",
        ) from error
    module_name, _, function = spec.factory.partition(":")
    kernel = getattr(importlib.import_module(module_name), function)(**spec.constants)
    register_numba_implementations()
    queue_type = DpctlSyclQueue(queue)
    arrays = [
        USMNdArray(1, layout="C", dtype=getattr(types, argument.dtype), usm_type="device", queue=queue_type)
        for argument in spec.arguments
    ]
    result = kernel.get_compile_result(types.void(NdItemType(1), *arrays))
    compiled = result.kernel_device_ir_module
    module = bytes(compiled.kernel_bitcode)
    if "lanes" in spec.constants:
        module = declare_group_size(module, spec.constants["lanes"])
    return Spirv(compiled.kernel_name, module)
