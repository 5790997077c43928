"""C program of device functions: each is translated once for the types that it is called with."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from syclade.host.commands.export.hls.values import (
    C_TYPES,
    Array,
    Number,
    Record,
    UntypedError,
    Value,
    constant,
    leaves,
)
from syclade.host.ground.errors import SourceError
from syclade.kernels.target.device_function import DeviceFunction

__all__ = ["Function", "Loop", "Program", "Source", "numbers_and_arrays", "read_source"]

_RESERVED = frozenset((
    "abs", "channel", "char", "class", "constant", "delete", "dot", "double", "exp", "float", "global",
    "half", "int", "kernel", "length", "local", "log", "log1p", "long", "max", "min", "mix", "new", "pipe",
    "popcount", "private", "select", "short", "sign", "signed", "step", "template", "this", "union",
    "unsigned",
))  # fmt: skip
"""Names that C, C++ or OpenCL C have."""

_FOLDERS = ("kernels", "fallback", "host", "tests")


@dataclass(frozen=True)
class Loop:
    """A loop for which a project chooses pragmas.

    Attributes:
        function: C name of the function.
        variable: the loop's variable.
        trips: C text of the number of trips.
        has_rows: whether a loop over rows or columns is inside.
    """

    function: str
    variable: str
    trips: str
    has_rows: bool

    @property
    def label(self) -> str:
        """Its name in reports."""
        return f"{self.function}_{self.variable}"


@dataclass(frozen=True)
class Source:
    """The Python source of a function.

    Attributes:
        path: the file.
        line: the line before the text's first one.
        definition: its syntax tree.
        comments: the comment beside each parameter, if there is one.
        lines: the text.
    """

    path: str
    line: int
    definition: ast.FunctionDef
    comments: dict[str, str]
    lines: tuple[str, ...]

    def remarks(self, node: ast.stmt) -> list[str]:
        """Return the lines of comments that stand before a statement."""
        first = node.lineno - 1
        while first and self.lines[first - 1].strip().startswith("#"):
            first -= 1
        return [line.strip("# ").replace("*/", "* /") for line in self.lines[first : node.lineno - 1]]

    @property
    def origin(self) -> str:
        """The place as ``folder/file.py:line``, from the folder of the package."""
        parts = Path(self.path).parts
        first = max((at for at, part in enumerate(parts) if part in _FOLDERS), default=len(parts) - 1)
        return f"{'/'.join(parts[first:])}:{self.line + self.definition.lineno}"

    def error(self, message: str, node: ast.AST) -> SourceError:
        """Return the error that a place of the function cannot be translated."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return SourceError(
            message,
            path=self.path,
            line=self.line + line,
            column=column + 1,
            hint="write it with integers, loops over range(), and functions of syclade.kernels.target",
        )


def read_source(function: Callable[..., Any]) -> Source:
    """Return the source of a Python function.

    Raises:
        SourceError: it has none, or is no plain function.
    """
    path = function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise SourceError(f"{function.__name__} has no source text", path=path) from error
    text = textwrap.dedent("".join(lines))
    definition = ast.parse(text).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise SourceError(f"{function.__name__} is no function by def", path=path, line=first)
    comments = {}
    for argument in definition.args.args:
        found = re.search(r",\s*#\s*(.*)", text.splitlines()[argument.lineno - 1])
        if found:
            comments[argument.arg] = found[1]
    return Source(path, first - 1, definition, comments, tuple(text.splitlines()))


@dataclass
class Function:
    """A translated function.

    Attributes:
        name: in C.
        result: what it returns: numbers by type only.
        used: for each leaf of its arguments, whether the function has a parameter for it.
        written: for each leaf, whether it is an array that the function writes.
        text: the definition; empty if it has nothing to compute, and `result` is known.
        pipelined: its innermost loops that are not unrolled completely, also of functions that it calls.
    """

    name: str
    result: Value
    used: Sequence[bool]
    written: Sequence[bool]
    text: str
    pipelined: int = 0


@dataclass
class Program:
    """C text of device functions, with what they need.

    Attributes:
        sizes: class of the record whose fields are sizes of a project: they keep their names, in capitals.
        before_loop, in_loop: pragmas of a loop: lines before it, and at the start of its body.
        unrolled: by how much a loop is unrolled: "" for all trips, a number of trips, or None for not at all.
        fixed_trips: whether a loop whose trips depend on data is refused.
        remarks: comments on arrays, by name.
        functions: translated so far, callees first, by function and shape of the arguments.
        loops: labels of the innermost loops that are not unrolled completely.
    """

    sizes: type
    before_loop: Callable[[Loop], Sequence[str]] = lambda _loop: ()
    in_loop: Callable[[Loop], Sequence[str]] = lambda _loop: ()
    remarks: Mapping[str, str] = field(default_factory=dict)
    functions: dict[Any, Function] = field(default_factory=dict)
    unrolled: Callable[[Loop], str | None] = lambda _loop: ""
    loops: list[str] = field(default_factory=list)
    fixed_trips: bool = True
    _names: set[str] = field(default_factory=set)
    _structs: dict[str, str] = field(default_factory=dict)
    _defined: dict[str, int | float] = field(default_factory=dict)

    def unique_name(self, device: DeviceFunction, wanted: str) -> str:
        """Return a name in C that no other function has."""
        own = wanted or device.function.__name__.strip("_")
        module = device.__module__.rpartition(".")[2]
        choices = [own, f"{module}_{own}", *(f"{module}_{own}_{count}" for count in range(2, 1000))]
        name = next(one for one in choices if one not in self._names and one not in _RESERVED)
        self._names.add(name)
        return name

    def has_name(self, name: str) -> bool:
        """Return whether a function has a name, or the languages do."""
        return name in self._names or name in _RESERVED

    def struct(self, record: Record, owner: str) -> str:
        """Return the name of the C type for a record of numbers, which is defined if it is new."""
        own = owner if record.type is tuple else record.type.__name__
        fields = [(name, leaf) for name, leaf in zip(record.names, record.items, strict=True)]
        if not all(isinstance(leaf, Number) for _, leaf in fields):
            raise UntypedError(f"a function returns a {own} that has more than numbers")
        members = "".join(f"    {C_TYPES[leaf.dtype]} {name};\n" for name, leaf in fields)
        name = f"{own}_result" if record.type is tuple else own
        text = f"typedef struct {{\n{members}}} {name};\n"
        if self._structs.setdefault(name, text) != text:
            raise UntypedError(f"two kinds of {own} have different types")
        return name

    def value_of(self, name: str, value: Any) -> Value:
        """Return a value that a function finds around it, or in its module.

        Raises:
            UntypedError: it has no counterpart in C.
        """
        if isinstance(value, tuple):
            names = getattr(value, "_fields", ("",) * len(value))
            items = zip(names, value, strict=True)
            if isinstance(value, self.sizes):
                return Record(type(value), tuple(_size(field_name, one) for field_name, one in items))
            return Record(type(value), tuple(self.value_of(field_name, one) for field_name, one in items))
        if not isinstance(value, (int, np.integer, np.bool_, np.float64)):
            raise UntypedError(f"{name} is a {type(value).__name__}")
        made = constant(value)
        named = name.isupper() and not name.startswith("_") and len(name) > 1
        if named and made.value is not None and self._defined.setdefault(name, made.value) == made.value:
            return Number(name, made.dtype, made.value, stable=True)
        return made

    def text(self) -> str:
        """Return constants, types and functions, in an order that C accepts."""
        functions = [one.text for one in self.functions.values() if one.text]
        used = set(re.findall(r"\w+", "".join(functions)))
        defined = [
            f"#define {name} {_defined_text(value)}\n"
            for name, value in self._defined.items()
            if name in used
        ]
        return "\n".join(["".join(defined), *self._structs.values(), *functions])


def _defined_text(value: int | float) -> str:
    """Return the literal of a constant; a negative one in parentheses."""
    if isinstance(value, float):
        return f"({value!r})" if value < 0 else repr(value)
    return constant(np.uint64(value) if value > 0 else value).text


def _size(name: str, value: Any) -> Number:
    return Number(name.upper(), constant(value).dtype, int(value), symbol=True, stable=True)


def numbers_and_arrays(value: Value) -> list[Number | Array]:
    """Return the leaves of a value that a function may have parameters for."""
    return [leaf for leaf in leaves(value) if not (isinstance(leaf, Number) and leaf.absent)]
