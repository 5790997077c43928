"""Translation of one device function to C: its statements, and the text of its definition."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from syclade.host.commands.export.hls.expressions import Expressions
from syclade.host.commands.export.hls.program import (
    Function,
    Loop,
    Program,
    Source,
    numbers_and_arrays,
    read_source,
)
from syclade.host.commands.export.hls.values import (
    C_TYPES,
    Array,
    Number,
    Record,
    UntypedError,
    Value,
    operand,
    shape_of,
)
from syclade.kernels.target.device_function import DeviceFunction

__all__ = ["translated"]

_ROWS = ("NODES", "CELLS")
"""Trips of loops over the rows or the columns of a matrix."""


def translated(
    program: Program, device: DeviceFunction, arguments: Sequence[Value], name: str = ""
) -> Function:
    """Translate a device function for arguments of these types, after the functions that it calls.

    Args:
        program: what is translated so far; the function is added.
        device: the function.
        arguments: values; their texts do not matter.
        name: its name in C; by default that of the Python function.

    Raises:
        SourceError: something in it has no counterpart in C.
    """
    key = (device.function, *map(shape_of, arguments))
    if key in program.functions:
        return program.functions[key]
    source = read_source(device.function)
    body = Body(program, device, arguments, source, program.unique_name(device, name))
    body.block(source.definition.body)
    given = [leaf for each in body.leaves for leaf in each]
    tokens = set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", "\n".join(body.lines)))
    used = [leaf.text in tokens for leaf in given]
    written = [leaf.text in body.touched for leaf in given]
    text = "" if body.known else body.text(used)
    made = program.functions[key] = Function(body.name, body.result, used, written, text, body.pipelined)
    return made


class Body(Expressions):
    """A device function while it is translated.

    Attributes:
        result: value of its return statements.
        leaves: numbers and arrays of each parameter.
        pipelined: innermost loops so far that are not unrolled completely, also of functions that it calls.

    Args:
        program, device, source: as for `Expressions`.
        arguments: values of the types it is called with.
        name: its name in C.
    """

    def __init__(
        self, program: Program, device: DeviceFunction, arguments: Sequence[Value], source: Source, name: str
    ) -> None:
        super().__init__(program, device, source)
        self.name = name
        self.result: Value = None
        self.pipelined = self._row_loops = 0
        self._returned = False
        self._assigned, self._inner = _assignments(source.definition)
        self._parameters = [argument.arg for argument in source.definition.args.args]
        self.leaves: list[list[Number | Array]] = []
        for parameter, argument in zip(self._parameters, arguments, strict=True):
            self.variables[parameter] = self._as_parameter(parameter, argument, "")
            self.leaves.append(numbers_and_arrays(self.variables[parameter]))
        self._declared = {name for name in self._parameters if self._assigned[name]}

    def translated(self, device: DeviceFunction, values: Sequence[Value]) -> Function:
        """See `Expressions.translated`."""
        made = translated(self.program, device, values)
        self.pipelined += made.pipelined
        return made

    def _as_parameter(self, name: str, value: Value, owner: str) -> Value:
        """Return a value of the same type whose leaves are named as parameters in C."""
        if isinstance(value, Record):
            items = zip(value.names, value.items, strict=True)
            return Record(value.type, tuple(self._as_parameter(field, one, name) for field, one in items))
        if value is None or (isinstance(value, Number) and value.absent):
            return value
        own = f"{owner}_{name}" if owner and (isinstance(value, Number) or name in self.names) else name
        self.names.add(own)
        if isinstance(value, Array):
            return Array(own, value.dtype)
        return Number(own, value.dtype, stable=bool(owner) or not self._assigned[name])

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Translate statements, with the comments before them.

        Raises:
            SourceError: something has no counterpart in C.
        """
        for statement in statements:
            for remark in self.source.remarks(statement):
                self.emit(f"/* {remark} */")
            try:
                self._statement(statement)
            except UntypedError as error:
                raise self.source.error(str(error), statement) from error

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as value):
                self.value(value)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.Return(value=value):
                self._return(None if value is None else self.value(value))
            case ast.For(iter=ast.Call(func=ast.Name(id="range")), orelse=[]):
                self._loop(node)
            case ast.While(orelse=[]):
                self._repeat(node)
            case ast.If():
                self._branch(node)
            case _:
                raise UntypedError(f"a statement of kind {type(node).__name__} is not translated")

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Open a block: variables that it declares end with it."""
        outside, declared = dict(self.variables), set(self._declared)
        self.depth += 1
        yield
        self.depth -= 1
        self.variables, self._declared = outside, declared

    def _loop(self, node: ast.For) -> None:
        """Translate a loop over a range of fixed length."""
        assert isinstance(node.iter, ast.Call)
        if not isinstance(node.target, ast.Name) or len(node.iter.args) != 1:
            raise UntypedError("a loop has one variable, and its range one bound")
        trips = self.number(node.iter.args[0])
        if trips.value is None and self.program.fixed_trips:
            raise UntypedError("the number of trips of a loop depends on data")
        name = self.local_name(node.target.id.strip("_") or "trip")
        rows, pipelined, start = self._row_loops, self.pipelined, len(self.lines)
        self.emit(f"for (i64 {name} = 0; {name} < {operand(trips, '<')}; {name}++) {{")
        with self._inside():
            self.variables[node.target.id] = Number(name, "int64", stable=True)
            self.emit("TRIP();")
            self.block(node.body)
        self.emit("}")
        described = Loop(self.name, name, trips.text, self._row_loops > rows)
        self._row_loops += trips.text in _ROWS
        factor = self.program.unrolled(described)
        counted = []
        if factor != "" and self.pipelined == pipelined:
            self.pipelined += 1
            self.program.loops.append(described.label)
            counted = [f"ITERATION({described.label}, {name}, {factor or 1});"]
        indent = "    " * self.depth
        inner = [*self.program.in_loop(described), "TRIP();", *counted]
        self.lines[start + 1 : start + 2] = [f"{indent}    {line}" for line in inner]
        self.lines[start:start] = [indent + line for line in self.program.before_loop(described)]

    def _repeat(self, node: ast.While) -> None:
        """Translate a loop that ends by a condition, which is computed anew before each trip."""
        if self.program.fixed_trips:
            raise UntypedError("the number of trips of a loop by while depends on data")
        before = len(self.lines)
        test = self.number(node.test).text
        if len(self.lines) > before:
            raise UntypedError("the condition of a loop calls a function that returns several values")
        self.emit(f"while ({test}) {{")
        with self._inside():
            self.emit("TRIP();")
            self.block(node.body)
        self.emit("}")

    def _branch(self, node: ast.If) -> None:
        """Translate an if statement."""
        self.emit(f"if ({self.number(node.test).text}) {{")
        with self._inside():
            self.block(node.body)
        if node.orelse:
            self.emit("} else {")
            with self._inside():
                self.block(node.orelse)
        self.emit("}")

    def _return(self, made: Value) -> None:
        """Translate a return statement."""
        if self._returned and _types(made) != _types(self.result):
            raise UntypedError(f"{self.device.__name__} returns values of different types")
        self._returned, self.result = True, made
        if made is None:
            self.emit("return;")
        elif isinstance(made, Array):
            raise UntypedError("a function returns an array")
        elif isinstance(made, Number):
            self.emit(f"return {made.text};")
        elif made.struct and made.type is not tuple:
            self.emit(f"return {made.struct};")
        elif not self.known:
            kind = self.program.struct(made, self.name)
            result = self.new_name("result")
            self.emit(f"const {kind} {result} = {{{', '.join(leaf.text for leaf in made.items)}}};")
            self.emit(f"return {result};")

    def _assign(self, target: ast.expr, node: ast.expr) -> None:
        """Translate an assignment to a name, an element, or several of them."""
        if not isinstance(target, ast.Tuple):
            hint = target.id if isinstance(target, ast.Name) else "made"
            self._store(target, self.value(node, hint))
            return
        named = [one.id if isinstance(one, ast.Name) else "" for one in target.elts]
        if isinstance(node, ast.Tuple) and len(node.elts) == len(named) and not self._declared & set(named):
            for one, value in zip(target.elts, node.elts, strict=True):
                self._assign(one, value)
            return
        made = self.value(node)
        if not isinstance(made, Record) or len(made.items) != len(named):
            raise UntypedError("the values are not as many as the names")
        for one, item in zip(target.elts, [self.held(item, "value") for item in made.items], strict=True):
            self._store(one, item)

    def _store(self, target: ast.expr, made: Value) -> None:
        """Store a value under a name, or in an element of an array."""
        if isinstance(target, ast.Subscript):
            array, at = self.element(target)
            if not isinstance(made, Number) or made.dtype != array.dtype:
                kind = made.dtype if isinstance(made, Number) else type(made).__name__
                raise UntypedError(f"{kind} is stored in an array of {array.dtype}: convert it")
            self.touched.add(array.text)
            self.emit(f"{array.text}[{at.text}] = {made.text};")
        elif not isinstance(target, ast.Name):
            raise UntypedError(f"an assignment to a {type(target).__name__} is not translated")
        elif isinstance(made, Number):
            self._store_number(target.id, made)
        elif target.id in self._inner and self._assigned[target.id] > 1:
            raise UntypedError(f"a branch or a loop changes {target.id}, which is no number")
        else:
            self.variables[target.id] = self.held(made, target.id)

    def _store_number(self, name: str, made: Number) -> None:
        """Store a number: as another name of it, as a constant, or in a variable."""
        once = self._assigned[name] == 1 and name not in self._parameters
        if made.stable and made.operator == "" and (once or name not in self._inner):
            self.variables[name] = made
            self._declared.discard(name)
            return
        own = self.local_name(name)
        if once:
            self.emit(f"const {C_TYPES[made.dtype]} {own} = {made.text};")
            self.variables[name] = Number(own, made.dtype, stable=True)
            return
        before = self.variables.get(name)
        if name not in self._declared or not isinstance(before, Number):
            self._declared.add(name)
            self.emit(f"{C_TYPES[made.dtype]} {own} = {made.text};")
            self.variables[name] = Number(own, made.dtype)
        elif before.dtype != made.dtype:
            raise UntypedError(f"{name} is {before.dtype}, then {made.dtype}: convert one of them")
        else:
            self.emit(f"{before.text} = {made.text};")

    @property
    def known(self) -> bool:
        """Known without a call: the result is sizes, or an offset that is 0."""
        if isinstance(self.result, Number):
            return self.result.absent
        return isinstance(self.result, Record) and all(
            isinstance(one, Number) and one.value is not None for one in self.result.items
        )

    def text(self, used: Sequence[bool]) -> str:
        """Return the definition, with its docstring and origin as a comment.

        Args:
            used: for each leaf of the arguments, whether the function has a parameter for it.
        """
        result = self.result
        kind = C_TYPES[result.dtype] if isinstance(result, Number) else "void"
        if isinstance(result, Record):
            kind = self.program.struct(result, self.name)
        document = (ast.get_docstring(self.source.definition) or "").replace("*/", "* /").splitlines()
        comment = "\n   ".join([*document, f"Source: {self.source.origin}"]).replace("\n   \n", "\n\n")
        parameters = list(self._parameter_texts(used))
        lines = [f"/* {comment} */", f"static {kind} {self.name}(" + ("" if parameters else "void)")]
        for at, (text, remark) in enumerate(parameters):
            end = ")" if at == len(parameters) - 1 else ","
            lines.append(f"    {text}{end}" + (f"  /* {remark} */" if remark else ""))
        return "\n".join([*lines, "{", *self.lines, "}", ""])

    def _parameter_texts(self, used: Sequence[bool]) -> Iterator[tuple[str, str]]:
        """Yield the declaration of each parameter, and the comment beside it in the source."""
        flags = iter(used)
        for parameter, each in zip(self._parameters, self.leaves, strict=True):
            remark = self.source.comments.get(parameter, "")
            for leaf in each:
                if not next(flags):
                    continue
                if isinstance(leaf, Array):
                    constant = "" if leaf.text in self.touched else "const "
                    own = self.program.remarks.get(leaf.text, "")
                    yield f"{constant}{C_TYPES[leaf.dtype]} *{leaf.text}", own or remark
                else:
                    yield f"{C_TYPES[leaf.dtype]} {leaf.text}", remark
                remark = ""


def _types(value: Value) -> object:
    if isinstance(value, Record):
        return (value.type, *map(_types, value.items))
    return None if value is None else value.dtype


def _assignments(definition: ast.FunctionDef) -> tuple[Counter[str], set[str]]:
    """Return how often each name is assigned, and the names that a branch or a loop assigns."""
    count: Counter[str] = Counter()
    inner: set[str] = set()

    def visit(statements: Sequence[ast.stmt], nested: bool) -> None:
        for statement in statements:
            targets = statement.targets if isinstance(statement, ast.Assign) else ()
            stored = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            names = [one.id for one in stored if isinstance(one.ctx, ast.Store)]
            count.update(names)
            inner.update(names if nested else ())
            for part in ("body", "orelse"):
                visit(getattr(statement, part, ()), True)

    visit(definition.body, False)
    return count, inner
