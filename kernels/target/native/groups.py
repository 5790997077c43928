"""Operations across lanes: reductions and scans of a vector. Lanes are always in step."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from syclade.kernels.target.native.lanes import I32, I64, LANES, LaneIndex, Lanes, as_lanes, element


def _reduction(dtype: Any, instruction: str) -> Any:
    """Return an intrinsic that reduces the numbers of all lanes to one."""

    @intrinsic
    def reduce(_context: Any, value: Any) -> Any:
        def generate(_context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            numbers = as_lanes(builder, arguments[0], sig.args[0], dtype)
            name = f"llvm.vector.reduce.{instruction}.v{LANES}{element(dtype)}"
            kind = ir.FunctionType(element(dtype), [numbers.type])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [numbers])

        return dtype(value), generate

    return reduce


lane_sum = _reduction(types.int64, "add")
lane_count = _reduction(types.int32, "add")
any_of_them = _reduction(types.boolean, "or")


@intrinsic
def lane_rank(_context: Any, value: Any) -> Any:
    """See `operations.lane_rank`; each of log2(lanes) steps adds numbers from lanes twice as far away."""

    def generate(_context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        total = as_lanes(builder, arguments[0], sig.args[0], types.int32)
        nothing = ir.Constant(total.type, [I32(0)] * LANES)
        step = 1
        while step < LANES:
            places = [I32(lane - step if lane >= step else LANES) for lane in range(LANES)]
            before = builder.shuffle_vector(total, nothing, ir.Constant(ir.VectorType(I32, LANES), places))
            total = builder.add(total, before)
            step *= 2
        return total

    return Lanes(types.int32)(value), generate


@intrinsic
def first_lane(_context: Any) -> Any:
    """Return the lanes' own numbers."""

    def generate(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return I64(0)

    return LaneIndex()(), generate
