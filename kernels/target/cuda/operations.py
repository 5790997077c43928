"""Operations of the threads of a warp, by name; see `kernels/target/operations.py`.

Slots of one lane share a warp and may be at different places, so `in_step` waits for no other thread there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.cudadecl import Cuda_local_array
from numba.cuda.cudadecl import registry as declarations
from numba.cuda.extending import intrinsic

from syclade.kernels.target.cuda.traits import TRAITS
from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.integers import control

__all__ = ["operations_for"]

# numba-cuda has types for attributes of `cuda`, but not for such a function as a global of its own.
declarations.register_global(cuda.local.array, types.Function(Cuda_local_array))

_ALL = np.uint32(0xFFFFFFFF)
_STEPS = TRAITS.lanes.bit_length() - 1


@intrinsic
def _sum_of_warp(_context: Any, value: Any) -> Any:
    """Return the sum of the int32 values of a warp by one instruction (compute capability 8.0)."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        text = "redux.sync.add.s32 $0, $1, 0xffffffff;"
        return builder.call(ir.InlineAsm(kind, text, "=r,r", side_effect=True), arguments)

    return types.int32(types.int32), generate


@DeviceFunction
def _maximum(a: Any, b: Any) -> Any:
    """See `operations.maximum`."""
    return max(a, b)


@DeviceFunction
def _minimum(a: Any, b: Any) -> Any:
    """See `operations.minimum`."""
    return min(a, b)


@DeviceFunction
def _lane_sum(value: Any) -> Any:
    """See `operations.lane_sum`; each step adds values of lanes twice as far away."""
    for step in range(_STEPS):
        value = value + cuda.shfl_xor_sync(_ALL, value, 1 << step)
    return value


@DeviceFunction
def _lane_count(value: Any) -> Any:
    """See `operations.lane_count`."""
    return _sum_of_warp(np.int32(value))


@DeviceFunction
def _lane_rank(value: Any) -> Any:
    """See `operations.lane_rank`; each step adds values of lanes twice as far away."""
    total = np.int32(value)
    for step in range(_STEPS):
        before = cuda.shfl_up_sync(_ALL, total, 1 << step)
        total = np.int32(total + (before if cuda.laneid >= (1 << step) else np.int32(0)))
    return total


@DeviceFunction
def _in_step(value: Any) -> Any:
    """See `operations.in_step`."""
    cuda.syncwarp()
    return value


@DeviceFunction
def _same(value: Any) -> Any:
    """Return the value: nothing has to be done."""
    return value


@DeviceFunction
def _any_lane(flag: Any) -> Any:
    """See `operations.any_lane`."""
    return -control(cuda.any_sync(_ALL, flag))


@DeviceFunction
def _any_of_one(flag: Any) -> Any:
    """See `operations.any_lane`, for one lane."""
    return -control(flag)


@DeviceFunction
def _less(a: Any, b: Any) -> Any:
    """See `operations.less`."""
    return -control(a < b)


@DeviceFunction
def _equal(a: Any, b: Any) -> Any:
    """See `operations.equal`."""
    return -control(a == b)


@DeviceFunction
def _choose(mask: Any, a: Any, b: Any) -> Any:
    """See `operations.choose`."""
    return a if mask != control(0) else b


_OF_ANY_SLOT: dict[str, Any] = {
    "private_array": cuda.local.array,
    "maximum": _maximum,
    "minimum": _minimum,
    "apart_from": _same,
    "less": _less,
    "equal": _equal,
    "choose": _choose,
}

_OF_A_WARP = {
    "lane_sum": _lane_sum,
    "lane_count": _lane_count,
    "lane_rank": _lane_rank,
    "in_step": _in_step,
    "any_lane": _any_lane,
}

_OF_A_THREAD = {
    "lane_sum": _same,
    "lane_count": _same,
    "lane_rank": _same,
    "in_step": _same,
    "any_lane": _any_of_one,
}


def operations_for(lanes: int) -> dict[str, Any]:
    """Return the operations by name: device functions, or functions that numba-cuda knows.

    Args:
        lanes: lanes per slot, a part of a warp. Lanes that are neither one nor a whole warp work alone: they
            have no operations over lanes.

    Raises:
        ValueError: a slot cannot have so many lanes.
    """
    if TRAITS.lanes % lanes:
        raise ValueError(f"the lanes of a slot divide {TRAITS.lanes} on NVIDIA GPUs, and {lanes} do not")
    return _OF_ANY_SLOT | {1: _OF_A_THREAD, TRAITS.lanes: _OF_A_WARP}.get(lanes, {})
