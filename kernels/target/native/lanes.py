"""Types of values that differ between lanes, for numba on a CPU: the lanes of a slot are one LLVM vector.

A value that is the same in all lanes is a number, as usual in numba. A value that differs between lanes is of
type `Lanes`, a vector with one element per lane. The lane's own number is a `LaneIndex`: consecutive numbers,
stored as the first one. If a number is added, the sums are consecutive again, so array elements at these
indices are read or written as one vector.
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
"""Lanes per slot."""

I32, I64 = ir.IntType(32), ir.IntType(64)


class Lanes(types.Type):  # type: ignore[misc]
    """One number per lane."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")

    def can_convert_from(self, _typing: Any, other: Any) -> Any:
        """Allow the conversion of a number that is the same in all lanes."""
        return Conversion.safe if isinstance(other, (types.Integer, types.Boolean)) else None

    def unify(self, _typing: Any, other: Any) -> Any:
        """Return this type if the other one is that of a number that is the same in all lanes."""
        return self if isinstance(other, (types.Integer, types.Boolean)) else None


class LaneIndex(types.Type):  # type: ignore[misc]
    """Consecutive numbers, one per lane, uint64; stored as that of the first lane."""

    dtype = types.uint64

    def __init__(self) -> None:
        super().__init__(name="LaneIndex")


class PrivateLanes(types.Type):  # type: ignore[misc]
    """Array of numbers private to each lane."""

    def __init__(self, dtype: Any, length: int) -> None:
        self.dtype, self.length = dtype, length
        super().__init__(name=f"PrivateLanes({dtype} x {length})")


def element(dtype: Any) -> Any:
    """Return LLVM's type of one number."""
    return ir.IntType(1 if isinstance(dtype, types.Boolean) else dtype.bitwidth)


def vector(dtype: Any) -> Any:
    """Return LLVM's type of one number per lane."""
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
    """Return whether values of this type may differ between lanes."""
    return isinstance(kind, (Lanes, LaneIndex))


def number_of(kind: Any) -> Any:
    """Return the type of one lane's number."""
    return kind.dtype if varies(kind) else types.unliteral(kind)


def splat(builder: Any, value: Any) -> Any:
    """Return a vector with the same number in every lane."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    one = builder.insert_element(empty, value, I32(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, LANES), [I32(0)] * LANES))


def cast(builder: Any, value: Any, old: Any, new: Any) -> Any:
    """Convert a number, or a vector of numbers, to another type."""
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
    """Convert a value of any kind to a vector of numbers of one type."""
    if isinstance(kind, Lanes):
        return cast(builder, value, kind.dtype, dtype)
    if isinstance(kind, LaneIndex):
        steps = ir.Constant(vector(types.uint64), [I64(lane) for lane in range(LANES)])
        return cast(builder, builder.add(splat(builder, value), steps), types.uint64, dtype)
    return splat(builder, cast(builder, value, types.unliteral(kind), dtype))
