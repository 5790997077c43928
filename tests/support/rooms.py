"""Sizes of the rooms of `host/`, as in docs/architecture.md; `python -m tests.support.rooms` prints them."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import NamedTuple

import syclade.host

__all__ = ["Size", "size_of", "table"]

ROOMS = ("commands", "answer", "findings", "chains", "calls", "data", "device", "ground")

_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


class Size(NamedTuple):
    """Size of some modules.

    Attributes:
        modules: number of modules; an `__init__` counts in its lines alone.
        lines: all lines.
        code: lines with code: no blank ones, comments or docstrings.
        imports: lines of imports.
    """

    modules: int
    lines: int
    code: int
    imports: int


def size_of(text: str, modules: int = 1) -> Size:
    """Return the size of a module."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*_NO_CODE, tokenize.ENDMARKER):
            code.update(range(token.start[0], token.end[0] + 1))
    imports = 0
    for node in ast.walk(ast.parse(text)):
        lines = range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports += len(lines)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            code.difference_update(lines)  # a docstring
    return Size(modules, len(text.splitlines()), len(code), imports)


def table() -> str:
    """Return the table: a line for each room, and one for all of them."""
    host = Path(str(syclade.host.__file__)).parent
    sizes = {
        room: [
            size_of(path.read_text(encoding="utf-8"), path.name != "__init__.py")
            for path in sorted((host / room).rglob("*.py"))
        ]
        for room in ROOMS
    }
    sizes["all"] = [one for of in sizes.values() for one in of]
    rows = ["| room | modules | lines | code | imports |", "|---|---|---|---|---|"]
    for room, of in sizes.items():
        found = Size(*map(sum, zip(*of, strict=True)))
        share = f"{found.imports:,} ({found.imports / found.lines:.1%})"
        rows.append(f"| {room} | {found.modules} | {found.lines:,} | {found.code:,} | {share} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
