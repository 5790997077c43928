"""Expressions of device code in C, from Python's syntax tree: values, calls, and operations of the target."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from syclade.host.commands.export.hls.program import Function, Program, Source, numbers_and_arrays
from syclade.host.commands.export.hls.values import (
    C_TYPES,
    Array,
    Number,
    Record,
    UntypedError,
    Value,
    binary,
    cast,
    compare,
    operand,
    unary,
)
from syclade.kernels.target.device_function import DeviceFunction, Operation

__all__ = ["Expressions"]

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MOST_SIGNS = 110


class Expressions(ABC):
    """Expressions of one function; what they need beforehand is written as lines.

    Attributes:
        variables: values of the function's names.
        names: names in C that no local variable may have.
        touched: names of the arrays that the function writes.

    Args:
        program: the functions translated so far, to which callees are added.
        device: the function.
        source: its source.
    """

    def __init__(self, program: Program, device: DeviceFunction, source: Source) -> None:
        self.program, self.device, self.source = program, device, source
        self.lines: list[str] = []
        self.depth = 1
        self.variables: dict[str, Value] = {}
        self.names: set[str] = set()
        self.touched: set[str] = set()
        self._temporaries: Counter[str] = Counter()

    @abstractmethod
    def translated(self, device: DeviceFunction, values: Sequence[Value]) -> Function:
        """Return the translation of another function for arguments of these types."""

    def emit(self, text: str) -> None:
        """Write a line; a long one is broken at commas."""
        indent = "    " * self.depth
        line = indent
        for part in text.split(", "):
            joined = part if line == indent else f", {part}"
            if line != indent and len(line + joined) > _MOST_SIGNS:
                self.lines.append(f"{line},")
                indent, joined = "    " * (self.depth + 1), part
                line = indent
            line += joined
        self.lines.append(line)

    def held(self, made: Value, name: str) -> Value:
        """Return a value that stays as it is: a number that may change becomes a constant with a name."""
        if isinstance(made, Record):
            items = zip(made.names, made.items, strict=True)
            return replace(made, items=tuple(self.held(one, f"{name}_{field}") for field, one in items))
        if not isinstance(made, Number) or (made.stable and made.operator == ""):
            return made
        own = self.new_name(name)
        self.emit(f"const {C_TYPES[made.dtype]} {own} = {made.text};")
        return Number(own, made.dtype, stable=True)

    def new_name(self, name: str) -> str:
        """Return a name for a local variable, which no other one has."""
        own = self.local_name(name)
        self._temporaries[own] += 1
        count = self._temporaries[own]
        return own if count == 1 and own not in self.variables else f"{own}_{count}"

    def local_name(self, name: str) -> str:
        """Return the name in C of a variable: its own, unless an array or a function has it."""
        taken = name in self.names or self.program.has_name(name)
        return f"own_{name}" if taken else name

    def number(self, node: ast.expr) -> Number:
        """Return an expression that is a number."""
        made = self.value(node)
        if not isinstance(made, Number):
            raise UntypedError(f"{ast.unparse(node)} is no number")
        return made

    def value(self, node: ast.expr, hint: str = "made") -> Value:
        """Return the value of an expression.

        Args:
            node: the expression.
            hint: name for the record that a call returns.

        Raises:
            UntypedError: it has no counterpart in C.
        """
        match node:
            case ast.Constant(value=bool() | int()):
                return self.program.value_of("", node.value)
            case ast.Name(id=name):
                known = name in self.variables
                return self.variables[name] if known else self.program.value_of(name, self.around(name))
            case ast.Attribute():
                return self._field(node)
            case ast.BinOp(left=left, op=op, right=right):
                sign = _BINARY.get(type(op), type(op).__name__)
                return binary(sign, self.number(left), self.number(right))
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=inner):
                return unary("-" if isinstance(node.op, ast.USub) else "~", self.number(inner))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return compare(_COMPARE[type(op)], self.number(left), self.number(right))
            case ast.BoolOp(op=op, values=values):
                sign = "&&" if isinstance(op, ast.And) else "||"
                parts = [operand(self.number(one), sign) for one in values]
                return Number(f" {sign} ".join(parts), "bool", operator=sign)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.either(self.number(test), self.number(body), self.number(other))
            case ast.Tuple(elts=items):
                return Record(tuple, tuple(self.value(item) for item in items))
            case ast.Subscript():
                array, at = self.element(node)
                return Number(f"{array.text}[{at.text}]", array.dtype)
            case ast.Call(func=called, args=given, keywords=[]):
                return self._call(called, given, hint)
            case _:
                raise UntypedError(f"an expression of kind {type(node).__name__} is not translated")

    def around(self, name: str) -> Any:
        """Return what a name means outside of the function."""
        function = self.device.function
        free = function.__code__.co_freevars
        if name in free:
            return (function.__closure__ or ())[free.index(name)].cell_contents
        if name in function.__globals__:
            return function.__globals__[name]
        raise UntypedError(f"{name} is not known on every way to this place")

    def _field(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if not isinstance(owner, Record) or node.attr not in owner.names:
            raise UntypedError(f"{ast.unparse(node)} is no field of a record")
        made: Value = owner.items[owner.names.index(node.attr)]
        return made

    def element(self, node: ast.Subscript) -> tuple[Array, Number]:
        """Return the array and the index of an element."""
        array, at = self.value(node.value), self.number(node.slice)
        if not isinstance(array, Array):
            raise UntypedError(f"{ast.unparse(node.value)} is no array")
        return array, at

    def either(self, test: Number, a: Number, b: Number) -> Number:
        """Return one of two numbers."""
        if a.dtype != b.dtype:
            raise UntypedError(f"a choice of {a.dtype} and {b.dtype}: convert one of them")
        text = f"{operand(test, '?')} ? {operand(a, '?')} : {operand(b, '?')}"
        return Number(text, a.dtype, operator="?")

    def _call(self, called: ast.expr, given: Sequence[ast.expr], hint: str) -> Value:
        """Return the value of a call: a conversion, a record, an operation of the target, or a function."""
        meant = self.meaning(called)
        if isinstance(meant, type) and issubclass(meant, np.generic):
            return cast(np.dtype(meant).name, self.number(given[0]))
        if isinstance(meant, type) and hasattr(meant, "_fields"):
            return Record(meant, tuple(self.value(one) for one in given))
        if isinstance(meant, Operation):
            operation = _OPERATIONS.get(meant.__name__)
            if operation is None:
                raise UntypedError(f"{meant.__name__}() has no counterpart in C")
            return operation(self, given)
        if isinstance(meant, DeviceFunction):
            return self._call_function(meant, [self.value(one) for one in given], hint)
        raise UntypedError(f"{ast.unparse(called)}() is no function of device code")

    def meaning(self, node: ast.expr) -> Any:
        """Return the Python object that an expression names; None if it names none."""
        if isinstance(node, ast.Name) and node.id not in self.variables:
            return self.around(node.id) if node.id not in _BUILTINS else None
        if isinstance(node, ast.Attribute):
            return getattr(self.meaning(node.value), node.attr, None)
        return None

    def _call_function(self, device: DeviceFunction, values: Sequence[Value], hint: str) -> Value:
        """Return the value of a call of a device function; a call that returns nothing is written at once."""
        function = self.translated(device, values)
        given = [leaf for value in values for leaf in numbers_and_arrays(value)]
        self.touched |= {
            leaf.text for leaf, is_written in zip(given, function.written, strict=True) if is_written
        }
        if not function.text:
            return function.result
        texts = ", ".join(leaf.text for leaf, is_used in zip(given, function.used, strict=True) if is_used)
        text = f"{function.name}({texts})"
        if isinstance(function.result, Number):
            return Number(text, function.result.dtype)
        if not isinstance(function.result, Record):
            self.emit(f"{text};")
            return None
        own = self.new_name(hint)
        self.emit(f"const {self.program.struct(function.result, function.name)} {own} = {text};")
        items = zip(function.result.names, function.result.items, strict=True)
        fields = tuple(Number(f"{own}.{name}", item.dtype, stable=True) for name, item in items)
        return Record(function.result.type, fields, own)


_BUILTINS = frozenset(("range", "len", "min", "max", "abs", "int", "float", "print", "sum"))

_Operation = Callable[[Expressions, Sequence[ast.expr]], Value]
"""An operation of kernels/target/operations.py, for one lane."""


def _same(body: Expressions, given: Sequence[ast.expr]) -> Value:
    return body.value(given[0])


def _greater(sign: str) -> _Operation:
    def choice(body: Expressions, given: Sequence[ast.expr]) -> Value:
        a, b = (body.number(one) for one in given)
        texts = [
            one if one.operator == "" and "(" not in one.text else body.held(one, "other") for one in (a, b)
        ]
        first, second = (one for one in texts if isinstance(one, Number))
        return body.either(compare(sign, first, second), first, second)

    return choice


def _mask(sign: str) -> _Operation:
    def mask(body: Expressions, given: Sequence[ast.expr]) -> Value:
        return unary("-", cast("int64", compare(sign, body.number(given[0]), body.number(given[1]))))

    return mask


def _any_lane(body: Expressions, given: Sequence[ast.expr]) -> Value:
    return unary("-", cast("int64", body.number(given[0])))


def _choose(body: Expressions, given: Sequence[ast.expr]) -> Value:
    mask, a, b = (body.number(one) for one in given)
    return body.either(mask, a, b)


def _private_array(body: Expressions, given: Sequence[ast.expr]) -> Value:
    length, dtype = body.number(given[0]), np.dtype(body.meaning(given[1])).name
    if length.value is None:
        raise UntypedError("the length of a private array depends on data")
    name = body.new_name("registers")
    body.emit(f"{C_TYPES[dtype]} {name}[{length.text}];")
    return Array(name, dtype)


_OPERATIONS: dict[str, _Operation] = {
    "any_lane": _any_lane,
    "apart_from": _same,
    "choose": _choose,
    "equal": _mask("=="),
    "in_step": _same,
    "lane_count": _same,
    "lane_rank": _same,
    "lane_sum": _same,
    "less": _mask("<"),
    "maximum": _greater(">"),
    "minimum": _greater("<"),
    "private_array": _private_array,
}
