"""Memory access: consecutive elements are read and written as one vector, others are gathered and scattered.

Arrays are bare pointers, without reference counts and without checks.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

from syclade.kernels.target.native.lanes import (
    I32,
    I64,
    LANES,
    LaneIndex,
    Lanes,
    PrivateLanes,
    as_lanes,
    cast,
    varies,
    vector,
)


def _is_place(array: Any, at: Any) -> bool:
    """Return whether an array and an index of these types give one element per lane."""
    if isinstance(array, types.CPointer):
        return varies(at)
    return isinstance(array, PrivateLanes) and isinstance(at, types.Integer)


@infer_global(operator.getitem)
class _Read(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(Lanes(args[0].dtype), *args) if _is_place(*args) else None


@infer_global(operator.setitem)
class _Write(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.none, *args) if _is_place(*args[:2]) else None


def _neighbours(builder: Any, pointer: Any, first: Any, dtype: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [first]), vector(dtype).as_pointer())


@lower_builtin(operator.getitem, types.CPointer, LaneIndex)
def _read_neighbours(_context: Any, builder: Any, sig: Any, args: Any) -> Any:
    dtype = sig.args[0].dtype
    return builder.load(_neighbours(builder, args[0], args[1], dtype), align=dtype.bitwidth // 8)


@lower_builtin(operator.setitem, types.CPointer, LaneIndex, types.Any)
def _write_neighbours(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    dtype = sig.args[0].dtype
    value = as_lanes(builder, args[2], sig.args[2], dtype)
    builder.store(value, _neighbours(builder, args[0], args[1], dtype), align=dtype.bitwidth // 8)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, types.CPointer, Lanes)
def _gather(_context: Any, builder: Any, sig: Any, args: Any) -> Any:
    dtype = sig.args[0].dtype
    result = ir.Constant(vector(dtype), ir.Undefined)
    for lane in range(LANES):
        at = builder.extract_element(args[1], I32(lane))
        value = builder.load(builder.gep(args[0], [at]), align=dtype.bitwidth // 8)
        result = builder.insert_element(result, value, I32(lane))
    return result


@lower_builtin(operator.setitem, types.CPointer, Lanes, types.Any)
def _scatter(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    dtype = sig.args[0].dtype
    values = as_lanes(builder, args[2], sig.args[2], dtype)
    for lane in range(LANES):
        at = builder.extract_element(args[1], I32(lane))
        value = builder.extract_element(values, I32(lane))
        builder.store(value, builder.gep(args[0], [at]), align=dtype.bitwidth // 8)
    return context.get_dummy_value()


def _private_place(builder: Any, sig: Any, args: Any) -> Any:
    at = cast(builder, args[1], types.unliteral(sig.args[1]), types.int64)
    return builder.gep(args[0], [I64(0), at])


@lower_builtin(operator.getitem, PrivateLanes, types.Integer)
def _read_private(_context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_private_place(builder, sig, args))


@lower_builtin(operator.setitem, PrivateLanes, types.Integer, types.Any)
def _write_private(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value = as_lanes(builder, args[2], sig.args[2], sig.args[0].dtype)
    builder.store(value, _private_place(builder, sig, args))
    return context.get_dummy_value()


@intrinsic(prefer_literal=True)
def private_array(_context: Any, length: Any, dtype: Any) -> Any:
    """See `operations.private_array`."""
    number = dtype.dtype if isinstance(dtype, types.DType) else dtype.instance_type
    kind = PrivateLanes(number, length.literal_value)

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        return cgutils.alloca_once(builder, context.get_value_type(kind).pointee)

    return kind(length, dtype), generate
