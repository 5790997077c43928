"""Compile a kernel's body to PTX by numba-cuda. Neither a GPU nor its driver is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba.cuda.compiler as numba_compiler
import numba.cuda.dispatcher as numba_dispatcher
import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.descriptor import cuda_target
from numba.cuda.extending import intrinsic
from numba.cuda.typing.typeof import typeof, typeof_impl

from syclade.kernels.target.blocks import OPERATIONS_OF_BLOCKS
from syclade.kernels.target.constants import SpecialisationConstant
from syclade.kernels.target.cuda.blocks import BLOCK_OPERATIONS
from syclade.kernels.target.cuda.operations import operations_for
from syclade.kernels.target.cuda.traits import CAPABILITY, THREADS
from syclade.kernels.target.device_function import DeviceFunction, Operation

__all__ = ["FlatArray", "compile_kernel"]

_ENTRY = re.compile(r"\.entry\s+(\w+)\(")
_SHARED = 3
"""NVVM's address space of a block's shared memory."""

_compiled: dict[tuple[int, DeviceFunction], Any] = {}
_lanes: ContextVar[int] = ContextVar("_lanes")


@typeof_impl.register(DeviceFunction)
def _type_of_device_function(value: DeviceFunction, context: Any) -> Any:
    """Return numba-cuda's type of the compiled form of a device function."""
    if isinstance(value, SpecialisationConstant):
        raise TypeError("a specialisation constant has a value on SYCL devices only")
    lanes = _lanes.get()
    value = BLOCK_OPERATIONS.get(OPERATIONS_OF_BLOCKS.get(value, ""), value)
    if isinstance(value, Operation):
        own = operations_for(lanes).get(value.__name__)
        if own is None:
            raise TypeError(f"{value.__name__} is of a whole warp, and slots have {lanes} lanes")
        if not isinstance(own, DeviceFunction):
            return cuda_target.typing_context.resolve_value_type(own)
        value = own
    if (lanes, value) not in _compiled:
        _compiled[lanes, value] = cuda.jit(device=True, forceinline=True)(value.function)
    return typeof(_compiled[lanes, value], context.purpose)


class FlatArray(NamedTuple):
    """An argument of a kernel.

    Attributes:
        name: its name.
        dtype: numpy's name of the element type.
        of_slot: whether the body gets the slot's part of it, and is slot 0 there; of all such arguments or
            of none. In a grid, whether it gets the block's part.
        near: whether a launch keeps that part in shared memory; in a grid, it is not copied there or back.
    """

    name: str
    dtype: str
    of_slot: bool
    near: bool


def compile_kernel(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[FlatArray],
    records: Sequence[tuple[type, Sequence[str]]],
    lanes: int,
    grid: bool = False,
) -> tuple[str, bytes]:
    """Compile a kernel to PTX.

    Args:
        body: device function of (slot, lane, one record per part).
        name: name of the kernel.
        arguments: its arguments.
        records: types of the records that the body takes, each with the names of its arguments.
        lanes: lanes per slot: 1, 32, or a part of 32 if they work alone.
        grid: whether a slot is a row of blocks (`kernels/target/blocks.py`).

    Returns:
        The entry point of (number of slots, length of a slot's part of each argument `of_slot`, one address
        per argument), which takes blocks of THREADS threads, or for a grid of any number, and the PTX.
    """
    lengths = [types.int64 for one in arguments if one.of_slot]
    pointers = [types.CPointer(getattr(types, one.dtype)) for one in arguments]
    token = _lanes.set(lanes)
    try:
        with _without_gpu():
            text, _ = numba_compiler.compile(
                (_grid_entry if grid else _entry)(body, name, arguments, records, lanes),
                types.void(types.int64, *lengths, *pointers),
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
    arguments: Sequence[FlatArray],
    records: Sequence[tuple[type, Sequence[str]]],
    lanes: int,
) -> Any:
    """Return the kernel's function, compiled from text, since its list of arguments is not fixed."""
    of_slot = [one.name for one in arguments if one.of_slot]
    near = [one for one in arguments if one.near]
    given = ["slots", *(f"length_{one}" for one in of_slot), *(one.name for one in arguments)]
    made = ", ".join(f"record_{at}({', '.join(fields)})" for at, (_, fields) in enumerate(records))
    sizes = [f"np.int64({np.dtype(one.dtype).itemsize})" for one in near]
    rooms = [f"room_{one.name}" for one in near]
    lines = [
        f"thread = np.int64(cuda.threadIdx.x) // np.int64({lanes})",
        f"lane = np.int64(cuda.threadIdx.x) % np.int64({lanes})",
        f"slot = np.int64(cuda.blockIdx.x) * np.int64({THREADS // lanes}) + thread",
        "if slot >= slots:",
        "    return",
        *(f"{one} = moved({one}, slot * length_{one})" for one in of_slot),
        *(
            f"{room} = (length_{one.name} * {size} + np.int64(7)) // np.int64(8) * np.int64(8)"
            for one, size, room in zip(near, sizes, rooms, strict=True)
        ),
        *([f"place = thread * ({' + '.join(rooms)})"] if near else []),
    ]
    for one, room in zip(near, rooms, strict=True):
        lines += [f"far_{one.name} = {one.name}", f"{one.name} = in_shared({one.name}, place)"]
        lines += [*_copy(one.name, f"far_{one.name}", one.name, lanes), f"place += {room}"]
    together = ["cuda.syncwarp()"] if near else []
    number = "0" if of_slot else "slot"
    lines += [*together, f"body(np.uint64({number}), np.uint64(lane), {made})", *together]
    for one in near:
        lines += _copy(one.name, one.name, f"far_{one.name}", lanes)
    return _defined(name, given, lines, body, records)


def _grid_entry(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[FlatArray],
    records: Sequence[tuple[type, Sequence[str]]],
    _lanes: int,
) -> Any:
    """Return the kernel's function for a grid of (slots, blocks per slot)."""
    of_block = [one for one in arguments if one.of_slot]
    given = ["slots", *(f"length_{one.name}" for one in of_block), *(one.name for one in arguments)]
    lines = [
        "block = np.int64(cuda.blockIdx.x) * np.int64(cuda.gridDim.y) + np.int64(cuda.blockIdx.y)",
        "place = np.int64(0)",
    ]
    for one in of_block:
        length = f"length_{one.name}"
        if one.near:
            size = np.dtype(one.dtype).itemsize
            lines += [f"{one.name} = in_shared({one.name}, place)"]
            lines += [f"place += ({length} * np.int64({size}) + np.int64(7)) // np.int64(8) * np.int64(8)"]
        else:
            lines += [f"{one.name} = moved({one.name}, block * {length})"]
    made = ", ".join(f"record_{at}({', '.join(fields)})" for at, (_, fields) in enumerate(records))
    lines += [f"body(np.uint64(cuda.blockIdx.x), np.uint64(0), {made})"]
    return _defined(name, given, lines, body, records)


def _defined(
    name: str,
    given: Sequence[str],
    lines: Sequence[str],
    body: DeviceFunction,
    records: Sequence[tuple[type, Sequence[str]]],
) -> Any:
    """Return the function of a kernel's lines."""
    text = f"def {name}({', '.join(given)}):\n" + "".join(f"    {line}\n" for line in lines)
    scope: dict[str, Any] = {"np": np, "cuda": cuda, "body": body, "moved": _moved, "in_shared": _in_shared}
    scope |= {f"record_{at}": record for at, (record, _) in enumerate(records)}
    exec(compile(text, f"<kernel {name}>", "exec"), scope)
    return scope[name]


def _copy(name: str, source: str, target: str, lanes: int) -> list[str]:
    """Return the lines by which the lanes copy an argument."""
    return [f"for at in range(lane, length_{name}, {lanes}):", f"    {target}[at] = {source}[at]"]


@intrinsic
def _moved(_context: Any, pointer: Any, items: Any) -> Any:
    """Return a pointer so many items on."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), generate


@intrinsic
def _in_shared(_context: Any, like: Any, place: Any) -> Any:
    """Return a pointer, of the type of another one, to this byte of the launch's shared memory."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer, byte = arguments[0].type, ir.IntType(8)
        found = builder.module.globals.get("slot_memory")
        if found is None:
            kind = ir.ArrayType(ir.IntType(64), 0)
            found = ir.GlobalVariable(builder.module, kind, "slot_memory", addrspace=_SHARED)
            found.linkage = "external"
            found.align = 16
        start = builder.bitcast(found, byte.as_pointer(_SHARED))
        return builder.addrspacecast(
            builder.bitcast(builder.gep(start, [arguments[1]]), pointer.pointee.as_pointer(_SHARED)), pointer
        )

    return like(like, types.int64), generate


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
