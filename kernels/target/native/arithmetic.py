"""Arithmetic and comparisons of values that differ between lanes; signed and unsigned numbers do not mix."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from numba.core import types
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.builtins import NumberClassAttribute
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from syclade.kernels.target.native.lanes import LaneIndex, Lanes, as_lanes, cast, number_of, varies

Make = Callable[[Any, Any, Any, Any], Any]
"""(builder, numba's type of the numbers, a, b) -> the instruction's result."""


def _common(kinds: Sequence[Any]) -> Any:
    """Return the type to compute in for numbers of these types, the widest one; None if there is none."""
    numbers = [number_of(kind) for kind in kinds]
    if not all(isinstance(one, (types.Integer, types.Boolean)) for one in numbers):
        return None
    integers = [one for one in numbers if isinstance(one, types.Integer)]
    if not integers:
        return types.boolean
    if len({one.signed for one in integers}) > 1:
        return None
    return max(integers, key=lambda one: one.bitwidth)


def _compare(how: str) -> Make:
    def make(builder: Any, kind: Any, a: Any, b: Any) -> Any:
        signed = isinstance(kind, types.Integer) and kind.signed
        return (builder.icmp_signed if signed else builder.icmp_unsigned)(how, a, b)

    return make


def _select(how: str) -> Make:
    better = _compare(how)

    def make(builder: Any, kind: Any, a: Any, b: Any) -> Any:
        return builder.select(better(builder, kind, a, b), a, b)

    return make


_ARITHMETIC: dict[Any, Make] = {
    operator.add: lambda builder, _, a, b: builder.add(a, b),
    operator.sub: lambda builder, _, a, b: builder.sub(a, b),
    operator.mul: lambda builder, _, a, b: builder.mul(a, b),
    operator.and_: lambda builder, _, a, b: builder.and_(a, b),
    operator.or_: lambda builder, _, a, b: builder.or_(a, b),
    operator.xor: lambda builder, _, a, b: builder.xor(a, b),
    operator.lshift: lambda builder, _, a, b: builder.shl(a, b),
    operator.rshift: lambda builder, kind, a, b: (builder.ashr if kind.signed else builder.lshr)(a, b),
    max: _select(">"),
    min: _select("<"),
}

_COMPARISONS: dict[Any, Make] = {
    operator.lt: _compare("<"),
    operator.le: _compare("<="),
    operator.gt: _compare(">"),
    operator.ge: _compare(">="),
    operator.eq: _compare("=="),
    operator.ne: _compare("!="),
}


def _binary(function: Any, make: Make, compares: bool) -> None:
    """Register with numba a function of two values, of which at least one differs between lanes."""

    @infer_global(function)
    class Typer(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) != 2 or not any(varies(kind) for kind in args):
                return None
            common = _common(args)
            if common is None:
                return None
            if function is operator.add and _is_shifted_index(args):
                return signature(LaneIndex(), *args)
            return signature(Lanes(types.boolean if compares else common), *args)

    def lower(_context: Any, builder: Any, sig: Any, args: Any) -> Any:
        common = _common(sig.args)
        if isinstance(sig.return_type, LaneIndex):
            a, b = (
                cast(builder, value, number_of(kind), common)
                for value, kind in zip(args, sig.args, strict=True)
            )
            return builder.add(a, b)
        a, b = (as_lanes(builder, value, kind, common) for value, kind in zip(args, sig.args, strict=True))
        return make(builder, common, a, b)

    kinds = (Lanes, LaneIndex, types.Integer, types.Boolean)
    for one in kinds:
        for other in kinds:
            if one in (Lanes, LaneIndex) or other in (Lanes, LaneIndex):
                lower_builtin(function, one, other)(lower)


def _is_shifted_index(kinds: Sequence[Any]) -> bool:
    """Return whether one type is LaneIndex and the other a number that is the same in all lanes."""
    return sum(isinstance(kind, LaneIndex) for kind in kinds) == 1 and not any(
        isinstance(kind, Lanes) for kind in kinds
    )


for _function, _make in _ARITHMETIC.items():
    _binary(_function, _make, compares=False)
for _function, _make in _COMPARISONS.items():
    _binary(_function, _make, compares=True)


def _unary(function: Any, make: Callable[[Any, Any], Any]) -> None:
    """Register with numba a function of one value that differs between lanes."""

    @infer_global(function)
    class Typer(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(args[0], *args) if len(args) == 1 and isinstance(args[0], Lanes) else None

    @lower_builtin(function, Lanes)
    def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return make(builder, args[0])


_unary(operator.neg, lambda builder, value: builder.neg(value))
_unary(operator.invert, lambda builder, value: builder.not_(value))


@lower_cast(Lanes, Lanes)
@lower_cast(LaneIndex, Lanes)
@lower_cast(types.Integer, Lanes)
@lower_cast(types.Boolean, Lanes)
def _lower_cast(_context: Any, builder: Any, old: Any, new: Any, value: Any) -> Any:
    return as_lanes(builder, value, old, new.dtype)


_resolve_number_class = NumberClassAttribute.resolve___call__


def _resolve_call(self: Any, number_class: Any) -> Any:
    """Type calls such as np.int32(...): for values that differ between lanes, the result is `Lanes`."""
    resolved = _resolve_number_class(self, number_class)
    scalar = resolved.templates[0].generic

    def generic(template: Any) -> Any:
        typer = scalar(template)
        return lambda val: Lanes(number_class.instance_type) if varies(val) else typer(val)

    return types.Function(type("LanesCall", (resolved.templates[0],), {"generic": generic}))


NumberClassAttribute.resolve___call__ = _resolve_call
