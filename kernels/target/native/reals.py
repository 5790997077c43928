"""Vectors of eight float64 on a CPU: the reads of a block, one in each lane.

`Lanes` of this target hold integers only. A kernel of real numbers takes this module's `REALS` as a part,
whose device functions read, write and choose whole vectors; sums and products of vectors are plain Python
operators. Rounding is that of IEEE 754: no operation is fused or reordered, so the results are those of one
read at a time.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import register_default
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.reals import Reals

WIDTH = 8
"""Numbers of a vector: one register of AVX-512, or several narrower ones."""

_DOUBLE, _BYTE, _I32 = ir.DoubleType(), ir.IntType(8), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)


class _Vector(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="RealVector")


VECTOR = _Vector()


@register_default(_Vector)
class _VectorModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, _I32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_I32, WIDTH), [_I32(0)] * WIDTH))


def _as_vector(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    if isinstance(kind, _Vector):
        return value
    return _splat(builder, context.cast(builder, value, kind, types.float64))


_ARITHMETIC = {
    operator.add: lambda builder, a, b: builder.fadd(a, b),
    operator.sub: lambda builder, a, b: builder.fsub(a, b),
    operator.mul: lambda builder, a, b: builder.fmul(a, b),
    operator.truediv: lambda builder, a, b: builder.fdiv(a, b),
}


def _binary(function: Any, make: Any) -> None:
    """Register an operator of two vectors, or of a vector and a number."""

    @infer_global(function)
    class Typer(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != 2 or not any(isinstance(kind, _Vector) for kind in args):
                return None
            return signature(VECTOR, *args)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_as_vector(context, builder, *pair) for pair in zip(args, sig.args, strict=True))
        return make(builder, a, b)

    for one, other in ((_Vector, _Vector), (_Vector, types.Float), (types.Float, _Vector)):
        lower_builtin(function, one, other)(lower)


for _function, _make in _ARITHMETIC.items():
    _binary(_function, _make)


def _place(context: Any, builder: Any, args: Any, kind: Any, of: Any) -> Any:
    at = context.cast(builder, args[1], kind, types.int64)
    return builder.bitcast(builder.gep(args[0], [at]), ir.VectorType(of, WIDTH).as_pointer())


@intrinsic
def _read(_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_place(context, builder, args, sig.args[1], _DOUBLE), align=8)

    return VECTOR(array, at), generate


@intrinsic
def _read_bytes(_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        numbers = builder.load(_place(context, builder, args, sig.args[1], _BYTE), align=1)
        return builder.uitofp(numbers, _VECTOR)

    return VECTOR(array, at), generate


@intrinsic
def _write(_context: Any, array: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = _as_vector(context, builder, args[2], sig.args[2])
        builder.store(value, _place(context, builder, args, sig.args[1], _DOUBLE), align=8)
        return context.get_dummy_value()

    return types.none(array, at, value), generate


@intrinsic
def _all(_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _as_vector(context, builder, args[0], sig.args[0])

    return VECTOR(value), generate


def _chooser(how: str) -> Any:
    @intrinsic
    def choose(_context: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            a, b, yes, no = (_as_vector(context, builder, *one) for one in zip(args, sig.args, strict=True))
            return builder.select(builder.fcmp_ordered(how, a, b), yes, no)

        return VECTOR(a, b, yes, no), generate

    return choose


_if_greater, _if_equal = _chooser(">"), _chooser("==")


REALS = Reals(
    width=WIDTH,
    first=DeviceFunction(lambda lane: 0),
    read=DeviceFunction(lambda array, at: _read(array, at)),
    read_bytes=DeviceFunction(lambda array, at: _read_bytes(array, at)),
    write=DeviceFunction(lambda array, at, value: _write(array, at, value)),
    all=DeviceFunction(lambda value: _all(value)),
    if_greater=DeviceFunction(lambda a, b, yes, no: _if_greater(a, b, yes, no)),
    if_equal=DeviceFunction(lambda a, b, yes, no: _if_equal(a, b, yes, no)),
)
