"""Compile a kernel's body to PTX by numba-cuda. Neither a GPU nor its driver is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import numba.cuda.compiler as numba_compiler
import numba.cuda.dispatcher as numba_dispatcher
import numpy as np
from numba import cuda
from numba.cuda import types
from numba.cuda.descriptor import cuda_target
from numba.cuda.typing.typeof import typeof, typeof_impl

from syclade.kernels.target.constants import SpecialisationConstant
from syclade.kernels.target.cuda.operations import operations_for
from syclade.kernels.target.cuda.traits import CAPABILITY, THREADS
from syclade.kernels.target.device_function import DeviceFunction, Operation

__all__ = ["compile_kernel"]

_ENTRY = re.compile(r"\.entry\s+(\w+)\(")

_compiled: dict[tuple[int, DeviceFunction], Any] = {}
_lanes: ContextVar[int] = ContextVar("_lanes")


@typeof_impl.register(DeviceFunction)
def _type_of_device_function(value: DeviceFunction, context: Any) -> Any:
    """Return numba-cuda's type of the compiled form of a device function."""
    if isinstance(value, SpecialisationConstant):
        raise TypeError("a specialisation constant has a value on SYCL devices only")
    lanes = _lanes.get()
    if isinstance(value, Operation):
        own = operations_for(lanes)[value.__name__]
        if not isinstance(own, DeviceFunction):
            return cuda_target.typing_context.resolve_value_type(own)
        value = own
    if (lanes, value) not in _compiled:
        _compiled[lanes, value] = cuda.jit(device=True, forceinline=True)(value.function)
    return typeof(_compiled[lanes, value], context.purpose)


def compile_kernel(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[tuple[str, str]],
    records: Sequence[tuple[type, Sequence[str]]],
    lanes: int,
) -> tuple[str, bytes]:
    """Compile a kernel to PTX.

    Args:
        body: device function of (slot, lane, one record per part).
        name: name of the kernel.
        arguments: name and type of each argument; all are flat arrays.
        records: types of the records that the body takes, each with the names of its arguments.
        lanes: lanes per slot, 1 or 32.

    Returns:
        The entry point of (number of slots, one address per argument), which takes blocks of THREADS threads,
        and the PTX.
    """
    pointers = [types.CPointer(getattr(types, dtype)) for _, dtype in arguments]
    token = _lanes.set(lanes)
    try:
        with _without_gpu():
            text, _ = numba_compiler.compile(
                _entry(body, name, [one for one, _ in arguments], records, lanes),
                types.void(types.int64, *pointers),
                device=False,
                cc=CAPABILITY,
                output="ptx",
                abi="numba",
            )
    finally:
        _lanes.reset(token)
    ptx = text if isinstance(text, str) else text.decode()
    found = _ENTRY.search(ptx)
    assert found is not None, "numba-cuda writes one entry point"
    return name, ptx.replace(found.group(1), name).encode()


def _entry(
    body: DeviceFunction,
    name: str,
    names: Sequence[str],
    records: Sequence[tuple[type, Sequence[str]]],
    lanes: int,
) -> Any:
    """Return the kernel's function, compiled from text, since its list of arguments is not fixed."""
    made = ", ".join(f"record_{at}({', '.join(fields)})" for at, (_, fields) in enumerate(records))
    text = (
        f"def {name}(slots, {', '.join(names)}):\n"
        f"    thread = np.uint64(cuda.blockIdx.x) * np.uint64({THREADS}) + np.uint64(cuda.threadIdx.x)\n"
        f"    slot = thread // np.uint64({lanes})\n"
        f"    if slot < np.uint64(slots):\n"
        f"        body(slot, thread % np.uint64({lanes}), {made})\n"
    )
    scope: dict[str, Any] = {"np": np, "cuda": cuda, "body": body}
    scope |= {f"record_{at}": record for at, (record, _) in enumerate(records)}
    exec(compile(text, f"<kernel {name}>", "exec"), scope)
    return scope[name]


@contextmanager
def _without_gpu() -> Iterator[None]:
    """Compile for CAPABILITY whatever this machine has, and fuse no product with a sum.

    numba-cuda 0.30 asks the current device for the capability of device functions that it compiles, and NVVM
    fuses by default; every target has the bits of separate roundings.
    """
    device, compile_cuda = numba_dispatcher.get_current_device, numba_compiler.compile_cuda

    def without_fusion(*given: Any, **options: Any) -> Any:
        options["nvvm_options"] = {**(options.get("nvvm_options") or {}), "fma": False}
        return compile_cuda(*given, **options)

    numba_dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=CAPABILITY)
    numba_compiler.compile_cuda = without_fusion
    try:
        yield
    finally:
        numba_dispatcher.get_current_device, numba_compiler.compile_cuda = device, compile_cuda
