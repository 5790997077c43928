"""Operations of `kernels/target/blocks.py` on NVIDIA GPUs: a team is a block, a slot a row of the grid.

All blocks of a launch run at once (a cooperative launch), so they can wait for each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.extending import intrinsic

from syclade.kernels.target.cuda.operations import operations_for
from syclade.kernels.target.cuda.traits import TRAITS
from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.integers import control

__all__ = ["BLOCK_OPERATIONS"]

_ALL = np.uint32(0xFFFFFFFF)
_STEPS = TRAITS.lanes.bit_length() - 1
_LANES = control(TRAITS.lanes)
_PARITY = np.uint32(0x80000000)
_WORD = ir.IntType(64)


def _call(builder: Any, text: str, result: Any, given: list[Any], letters: str) -> Any:
    """Call one instruction, before and after which all memory is up to date."""
    kind = ir.FunctionType(result, [one.type for one in given])
    return builder.call(ir.InlineAsm(kind, text, f"{letters},~{{memory}}", side_effect=True), given)


def _letter(number: Any) -> str:
    return "l" if number.bitwidth == 64 else "r"


def _place(builder: Any, arguments: Any) -> Any:
    """Return the address of an element."""
    return builder.ptrtoint(builder.gep(arguments[0], [arguments[1]]), _WORD)


def _update_by(name: str) -> Any:
    """Return the function (array, index, value) that updates an element by one instruction."""

    @intrinsic
    def update(_context: Any, array: Any, _at: Any, _value: Any) -> Any:
        kind = array.dtype

        def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            text = f"red.relaxed.gpu.{name}.s{kind.bitwidth} [$0], $1;"
            given = [_place(builder, arguments), arguments[2]]
            _call(builder, text, ir.VoidType(), given, f"l,{_letter(kind)}")
            return target.get_dummy_value()

        return types.void(array, types.int64, kind), generate

    return update


_add, _raise, _lower = (_update_by(name) for name in ("add", "max", "min"))


@intrinsic
def _read(_context: Any, array: Any, _at: Any) -> Any:
    """Return an element as all blocks see it."""
    kind = array.dtype

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        text = f"ld.relaxed.gpu.s{kind.bitwidth} $0, [$1];"
        result = ir.IntType(kind.bitwidth)
        return _call(builder, text, result, [_place(builder, arguments)], f"={_letter(kind)},l")

    return kind(array, types.int64), generate


@intrinsic
def _arrive(_context: Any, array: Any, _at: Any, _value: Any) -> Any:
    """Add to a counter, after everything before; return what it was."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        given = [_place(builder, arguments), arguments[2]]
        return _call(builder, "atom.release.gpu.add.u32 $0, [$1], $2;", ir.IntType(32), given, "=r,l,r")

    return types.uint32(array, types.int64, types.uint32), generate


@intrinsic
def _arrived(_context: Any, array: Any, _at: Any) -> Any:
    """Return a counter, before everything after."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place = [_place(builder, arguments)]
        return _call(builder, "ld.acquire.gpu.u32 $0, [$1];", ir.IntType(32), place, "=r,l")

    return types.uint32(array, types.int64), generate


@DeviceFunction
def _thread() -> Any:
    return np.int64(cuda.threadIdx.x)


@DeviceFunction
def _threads() -> Any:
    return np.int64(cuda.blockDim.x)


@DeviceFunction
def _team() -> Any:
    return np.int64(cuda.blockIdx.y)


@DeviceFunction
def _teams() -> Any:
    return np.int64(cuda.gridDim.y)


@DeviceFunction
def _lanes() -> Any:
    return _LANES


@DeviceFunction
def _own_part(_number: Any, _team: Any, _teams: Any) -> Any:
    """Return 0: the entry point moves the arrays of teams to the block's part."""
    return control(0)


@DeviceFunction
def _meet() -> Any:
    cuda.syncthreads()
    return control(0)


@DeviceFunction
def _meet_warp() -> Any:
    cuda.syncwarp()
    return control(0)


@DeviceFunction
def _meet_all(arrivals: Any, at: Any, team: Any, teams: Any) -> Any:
    """See `blocks.meet_all`: the last block to arrive turns the counter's highest bit."""
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and teams > 1:
        step = np.uint32(1)
        if team == 0:
            step = np.uint32(_PARITY - np.uint32(teams - 1))
        before = np.uint32(_arrive(arrivals, at, step))
        while np.uint32((before ^ _arrived(arrivals, at)) & _PARITY) == np.uint32(0):
            pass
    cuda.syncthreads()
    return control(0)


@DeviceFunction
def _read_fresh(array: Any, at: Any) -> Any:
    return _read(array, np.int64(at))


@DeviceFunction
def _add_to(array: Any, at: Any, value: Any) -> Any:
    _add(array, np.int64(at), value)


@DeviceFunction
def _raise_to(array: Any, at: Any, value: Any) -> Any:
    _raise(array, np.int64(at), value)


@DeviceFunction
def _lower_to(array: Any, at: Any, value: Any) -> Any:
    _lower(array, np.int64(at), value)


@DeviceFunction
def _warp_maximum(value: Any) -> Any:
    for step in range(_STEPS):
        value = max(value, cuda.shfl_xor_sync(_ALL, value, 1 << step))
    return value


BLOCK_OPERATIONS: dict[str, Any] = {
    "thread": _thread,
    "threads": _threads,
    "team": _team,
    "teams": _teams,
    "lanes": _lanes,
    "own_part": _own_part,
    "meet": _meet,
    "meet_warp": _meet_warp,
    "meet_all": _meet_all,
    "read_fresh": _read_fresh,
    "add_to": _add_to,
    "raise_to": _raise_to,
    "lower_to": _lower_to,
    "warp_sum": operations_for(TRAITS.lanes)["lane_count"],
    "warp_prefix": operations_for(TRAITS.lanes)["lane_rank"],
    "warp_maximum": _warp_maximum,
}
"""The operations by name."""
