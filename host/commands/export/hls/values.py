"""Values of device code during translation: numbers with their C text, arrays, and records of both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = [
    "C_TYPES",
    "Array",
    "Number",
    "Record",
    "UntypedError",
    "Value",
    "binary",
    "cast",
    "compare",
    "constant",
    "leaves",
    "operand",
    "shape_of",
    "unary",
]

C_TYPES = {"int32": "i32", "int64": "i64", "uint64": "u64", "float64": "f64", "bool": "bool"}
"""Names in C of the types of numbers; the projects define them."""


class UntypedError(Exception):
    """An operation mixes types, or has no counterpart in C; the generator adds file and line."""


@dataclass(frozen=True)
class Number:
    """A number.

    Attributes:
        text: C expression.
        dtype: numpy's name of the type.
        value: the number, where it is known.
        symbol: whether the text has names of sizes, which a project may change: it is never simplified.
        operator: outermost operator of the text; empty for a name, a literal or a call.
        stable: whether the text means the same number until the end of the function.
        absent: whether it is the slot, the lane, or an offset that follows from them: known to be 0, since a
            stage in C has one state and one lane, and not passed to functions.
    """

    text: str
    dtype: str
    value: int | float | None = None
    symbol: bool = False
    operator: str = ""
    stable: bool = False
    absent: bool = False

    @property
    def plain(self) -> int | None:
        """The integer where it is known, and no size."""
        return None if self.symbol or self.dtype == "float64" else self.integer

    @property
    def integer(self) -> int | None:
        """The number where it is known, as an integer; None for a number with a fraction."""
        return None if self.value is None or self.dtype == "float64" else int(self.value)


@dataclass(frozen=True)
class Array:
    """An array of numbers; `text` is its name in C."""

    text: str
    dtype: str


@dataclass(frozen=True)
class Record:
    """A tuple, named or not.

    Attributes:
        type: the class of a named tuple, or `tuple`.
        items: the values.
        struct: name of the C variable that has all of them; empty if there is none.
    """

    type: type
    items: tuple[Any, ...]
    struct: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        own: tuple[str, ...] = getattr(self.type, "_fields", ())
        return own or tuple(f"item_{at}" for at in range(len(self.items)))


Value = Number | Array | Record | None


def leaves(value: Value) -> Iterator[Number | Array]:
    """Yield the numbers and arrays of a value, in order."""
    if isinstance(value, Record):
        for item in value.items:
            yield from leaves(item)
    elif value is not None:
        yield value


def shape_of(value: Value) -> Any:
    """Return what of a value its function depends on: types, and which numbers are absent."""
    if isinstance(value, Record):
        return (value.type, *map(shape_of, value.items))
    if isinstance(value, Number):
        return (value.dtype, value.absent)
    return None if value is None else ("array", value.dtype)


def constant(value: Any) -> Number:
    """Return a known number as a literal; a number of Python is an int64, as for numba."""
    dtype = "bool" if isinstance(value, (bool, np.bool_)) else getattr(value, "dtype", np.dtype("int64")).name
    if dtype not in C_TYPES:
        raise UntypedError(f"{dtype} is no type of these stages")
    if dtype == "float64":
        return _real(float(value))
    return _literal(int(value), dtype)


def _real(value: float) -> Number:
    """Return a real number as the shortest decimal that means it."""
    if not math.isfinite(value):
        raise UntypedError(f"{value} has no literal")
    return Number(repr(value), "float64", value, stable=True, operator="-" if value < 0 else "")


def _literal(value: int, dtype: str) -> Number:
    if dtype != "bool":
        value = int(np.array(value & (1 << 64) - 1, dtype=np.uint64).astype(dtype))
    small = -(1 << 31) < value < 1 << 31
    text = str(value) if small else f"{value:#x}UL" if dtype == "uint64" else f"{value}L"
    return Number(text, dtype, value, stable=True, operator="-" if value < 0 else "")


_STRENGTH = ("*", "/", "+", "-", "<<", ">>", "&", "^", "|")
_OF_REALS = ("*", "/", "+", "-")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_FOLD = {
    "*": lambda a, b: a * b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
}


def binary(operator: str, a: Number, b: Number) -> Number:
    """Return a number computed from two; operations on known numbers, 0 or 1 are simplified.

    Raises:
        UntypedError: the types differ, or C has no such operator.
    """
    if operator not in _STRENGTH:
        raise UntypedError(f"the operator {operator} is not translated")
    dtype = _common(operator, a, b)
    if dtype == "float64":
        return _binary_of_reals(operator, a, b)
    known = _simplified(operator, a, b)
    if known is not None:
        return replace(known, dtype=dtype)
    value = None
    if a.integer is not None and b.integer is not None:
        folded = _literal(_FOLD[operator](a.integer, b.integer), dtype)
        if not a.symbol and not b.symbol:
            return folded
        value = folded.integer
    text = f"{operand(_widened(operator, a, dtype), operator)} {operator} {operand(b, operator, right=True)}"
    stable = a.stable and b.stable
    return Number(text, dtype, value, value is not None, operator, stable)


def _binary_of_reals(operator: str, a: Number, b: Number) -> Number:
    """Return an operation as it stands, since each one is rounded; its order is that of the source."""
    left = operand(a, operator)
    first = operator in ("+", "-") and b.operator in ("*", "/")
    right = (
        b.text if first else f"({b.text})" if b.operator in _STRENGTH else operand(b, operator, right=True)
    )
    return Number(f"{left} {operator} {right}", "float64", operator=operator, stable=a.stable and b.stable)


def _common(operator: str, a: Number, b: Number) -> str:
    kinds = {a.dtype, b.dtype}
    if kinds == {"float64"} and operator in _OF_REALS:
        return "float64"
    if "float64" in kinds or operator == "/":
        raise UntypedError(f"{a.dtype} {operator} {b.dtype} is not translated")
    if kinds == {"bool"} and operator in "&|^":
        return "bool"
    if "bool" in kinds:
        raise UntypedError(f"{operator} of a comparison: make a number of it first")
    if kinds == {"uint64"}:
        return "uint64"
    if "uint64" in kinds:
        raise UntypedError(f"{operator} of uint64 and {(kinds - {'uint64'}).pop()}: convert one of them")
    return "int64"


def _simplified(operator: str, a: Number, b: Number) -> Number | None:
    """Return one of the two numbers, or 0, if that is what the operation gives whatever the other is."""
    left, right = a.plain, b.plain
    if operator in "*&" and 0 in (left, right):
        zero = a if left == 0 else b
        return zero
    if operator == "*" and 1 in (left, right):
        return b if left == 1 else a
    if operator in "+|^" and left == 0:
        return replace(b, absent=b.absent and a.absent)
    if operator in ("<<", ">>") and left == 0:
        return a
    if operator in ("+", "-", "|", "^", "<<", ">>") and right == 0:
        return replace(a, absent=a.absent and (b.absent or operator in ("<<", ">>")))
    return None


def _widened(operator: str, a: Number, dtype: str) -> Number:
    """Return the left operand so that C computes in the operation's type, and not in int."""
    narrow = a.dtype == "int32" or (operator == "<<" and a.value is not None)
    return Number(f"({C_TYPES[dtype]}){operand(a, 'cast')}", dtype, operator="cast") if narrow else a


def operand(number: Number, operator: str, *, right: bool = False) -> str:
    """Return the text of an operand, in parentheses where a reader or C needs them."""
    inner = number.operator
    if inner in ("", "cast") or (inner == "unary" and operator in _STRENGTH and not right):
        return number.text
    if inner == "unary" and number.text.startswith("~") and operator in _STRENGTH:
        return number.text
    if operator in _STRENGTH and inner in _STRENGTH:
        same = inner == operator and (not right or operator in "+*&|^") and operator not in ("<<", ">>")
        arithmetic = operator in ("+", "-") and inner in ("*", "/")
        chain = operator in ("+", "-") and inner in ("+", "-") and not right
        if same or arithmetic or chain:
            return number.text
    if operator in _COMPARISONS and inner in ("+", "-", "*", "/"):
        return number.text
    if operator in ("&&", "||", "?") and inner in _COMPARISONS:
        return number.text
    if operator == "?" and inner == "unary":
        return number.text
    return f"({number.text})"


def compare(operator: str, a: Number, b: Number) -> Number:
    """Return a comparison.

    Raises:
        UntypedError: a signed and an unsigned number are compared, or an integer and a real one.
    """
    if a.dtype != b.dtype and {"uint64", "float64"} & {a.dtype, b.dtype}:
        raise UntypedError(f"comparison of {a.dtype} and {b.dtype}: convert one of them")
    text = f"{operand(a, operator)} {operator} {operand(b, operator)}"
    return Number(text, "bool", operator=operator, stable=a.stable and b.stable)


def unary(operator: str, a: Number) -> Number:
    """Return -a or ~a."""
    if a.dtype == "bool":
        raise UntypedError(f"{operator} of a comparison: make a number of it first")
    if a.dtype == "float64" and operator == "~":
        raise UntypedError("~ of a real number")
    dtype = a.dtype if a.dtype in ("uint64", "float64") else "int64"
    if a.plain is not None:
        return _literal(-a.plain if operator == "-" else ~a.plain, dtype)
    text = _widened("", a, dtype) if a.dtype == "int32" else a
    inner = text.text if text.operator in ("", "cast") else f"({text.text})"
    return Number(f"{operator}{inner}", dtype, operator="unary", stable=a.stable)


def cast(dtype: str, a: Number) -> Number:
    """Return the number as another type; sizes stay as they are, for they fit in each."""
    if a.dtype == dtype:
        return a
    if a.plain is not None and dtype != "float64":
        return replace(_literal(a.plain, dtype), absent=a.absent)
    if a.symbol and dtype != "float64":
        return replace(a, dtype=dtype)
    return Number(f"({C_TYPES[dtype]}){operand(a, 'cast')}", dtype, operator="cast", stable=a.stable)
