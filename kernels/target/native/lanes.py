"""Types of what differs between lanes, for numba on a CPU: the lanes of a slot are one vector of LLVM.

A value that lanes share is a number, as in all of numba. What differs between them is of type `Lanes`, a
vector with a number a lane. The lane's own number is a `LaneIndex`, of which the first lane's is known: what
comes of it by addition is neighbours again, so that what is read and written there is one vector.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import register_default
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typeconv import Conversion

from syclade.kernels.target.native.traits import TRAITS

LANES = TRAITS.lanes
"""Of a slot."""

I32, I64 = ir.IntType(32), ir.IntType(64)


class Lanes(types.Type):  # type: ignore[misc]
    """A number a lane."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")

    def can_convert_from(self, _typing: Any, other: Any) -> Any:
        """A number that lanes share may stand where each has its own."""
        return Conversion.safe if isinstance(other, (types.Integer, types.Boolean)) else None

    def unify(self, _typing: Any, other: Any) -> Any:
        """Of a number that lanes share and one of each, both are numbers of each."""
        return self if isinstance(other, (types.Integer, types.Boolean)) else None


class LaneIndex(types.Type):  # type: ignore[misc]
    """Neighbouring numbers, uint64: that of the first lane is known."""

    dtype = types.uint64

    def __init__(self) -> None:
        super().__init__(name="LaneIndex")


class PrivateLanes(types.Type):  # type: ignore[misc]
    """An array of numbers of each lane's own."""

    def __init__(self, dtype: Any, length: int) -> None:
        self.dtype, self.length = dtype, length
        super().__init__(name=f"PrivateLanes({dtype} x {length})")


def element(dtype: Any) -> Any:
    """LLVM's type of one number."""
    return ir.IntType(1 if isinstance(dtype, types.Boolean) else dtype.bitwidth)


def vector(dtype: Any) -> Any:
    """LLVM's type of a number a lane."""
    return ir.VectorType(element(dtype), LANES)


@register_default(Lanes)
class _LanesModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, vector(kind.dtype))


@register_default(LaneIndex)
class _LaneIndexModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, I64)


@register_default(PrivateLanes)
class _PrivateModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.ArrayType(vector(kind.dtype), kind.length).as_pointer())


def varies(kind: Any) -> bool:
    """May values of this type differ between lanes?"""
    return isinstance(kind, (Lanes, LaneIndex))


def number_of(kind: Any) -> Any:
    """The type of one lane's number."""
    return kind.dtype if varies(kind) else types.unliteral(kind)


def splat(builder: Any, value: Any) -> Any:
    """The same number in every lane."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    one = builder.insert_element(empty, value, I32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, LANES), [I32(0)] * LANES))


def cast(builder: Any, value: Any, old: Any, new: Any) -> Any:
    """A number, or a vector of them, as numbers of another type."""
    wanted = element(new)
    if isinstance(value.type, ir.VectorType):
        wanted = ir.VectorType(wanted, LANES)
    if isinstance(new, types.Boolean):
        if isinstance(old, types.Boolean):
            return value
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, None))
    bits = 1 if isinstance(old, types.Boolean) else old.bitwidth
    if bits == new.bitwidth:
        return value
    if bits > new.bitwidth:
        return builder.trunc(value, wanted)
    signed = isinstance(old, types.Integer) and old.signed
    return builder.sext(value, wanted) if signed else builder.zext(value, wanted)


def as_lanes(builder: Any, value: Any, kind: Any, dtype: Any) -> Any:
    """A value of any kind as a vector of numbers of a type."""
    if isinstance(kind, Lanes):
        return cast(builder, value, kind.dtype, dtype)
    if isinstance(kind, LaneIndex):
        steps = ir.Constant(vector(types.uint64), [I64(lane) for lane in range(LANES)])
        return cast(builder, builder.add(splat(builder, value), steps), types.uint64, dtype)
    return splat(builder, cast(builder, value, types.unliteral(kind), dtype))
