"""Warnings and errors of the host, found in its sources: their texts with … for what varies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

ENTRIES = re.compile(r"(warnings|warnings_of|\w+_warnings|doubt_of)$")
"""Functions whose texts are warnings, and with them those of the same module that they use."""

FEWEST_WORDS = 3
"""Texts with fewer words are parts of a message, such as a unit."""


class Message(NamedTuple):
    """Text of a message, with … for what varies, and where it is in the sources."""

    text: str
    where: str


def text_of(node: ast.expr) -> str | None:
    """Return the text of a string, an f-string or a sum of these; None for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else _value(one)
            for one in node.values
        )
    return None


def _value(node: ast.expr) -> str:
    """Return what stands for a value in a text: the flag that `flag_of` gives, or …"""
    if isinstance(node, ast.FormattedValue) and isinstance(call := node.value, ast.Call):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        first = text_of(call.args[0]) if call.args else None
        if name == "flag_of" and first is not None and "…" not in first:
            second = text_of(call.args[1]) if len(call.args) > 1 else ""
            flag = "--" + first.replace("_", "-")
            return f"{flag} {second or '…'}" if len(call.args) > 1 else flag
    return "…"


def plain(text: str) -> str:
    """Return a text with … for the places of values in %-formats, without line ends."""
    return re.sub(r"\s+", " ", re.sub(r"%(\.\d+)?[sdf]", "…", text).replace("%%", "%")).strip()


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield name and syntax tree of each module of the host."""
    for path in sorted((ROOT / "host").rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))


def _functions(tree: ast.Module) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def _used(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function uses of its module or of itself."""
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def _texts(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield the longest strings of a function with their lines, without its docstring."""
    docstring = function.body[0].value if isinstance(function.body[0], ast.Expr) else None

    def walk(node: ast.AST) -> Iterator[tuple[str, int]]:
        if node is docstring:
            return
        if isinstance(node, ast.expr) and (text := text_of(node)) is not None:
            yield text, node.lineno
            return
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    for statement in function.body:
        yield from walk(statement)


def _is_logged(call: ast.Call) -> bool:
    """Return whether a call logs a warning, or adds one to a list of warnings."""
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    of = call.func.value
    return call.func.attr == "warning" or (
        call.func.attr == "append" and isinstance(of, ast.Attribute) and of.attr == "warnings"
    )


def warnings() -> list[Message]:
    """Return the texts of warnings: those that are logged, and those of results."""
    found: dict[str, Message] = {}

    def add(text: str, where: str, least: int = FEWEST_WORDS) -> None:
        text = plain(text)
        if len(re.findall(r"[a-z]{2,}", text)) >= least:
            found.setdefault(text, Message(text, where))

    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_logged(node) and (text := text_of(node.args[0])):
                add(text, f"{name}:{node.lineno}", least=2)
            if (
                isinstance(node, ast.Call)
                and node.args
                and (text := text_of(node.args[0]))
                and "warning: " in text
            ):
                add(text.partition("warning: ")[2], f"{name}:{node.lineno}")
        functions = _functions(tree)
        names = [one for one in functions if ENTRIES.match(one)]
        for one in names:  # grows while it is read
            for function in functions[one]:
                names += [other for other in _used(function) if other in functions and other not in names]
                for text, line in _texts(function):
                    add(text, f"{name}:{line}")
    return sorted(found.values(), key=lambda message: message.where)


class Error(NamedTuple):
    """Error: its type, text, hint and place in the sources."""

    kind: str
    text: str
    hint: str
    where: str


def errors() -> list[Error]:
    """Return all errors that are made with a text in the sources."""
    found = []
    for name, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            kind = node.func.id if isinstance(node.func, ast.Name) else ""
            text = text_of(node.args[0]) if node.args else None
            if not kind.endswith("Error") or text is None:
                continue
            hints = [one.value for one in node.keywords if one.arg == "hint"]
            hint = (text_of(hints[0]) if hints else "") or ("…" if hints else "")
            found.append(Error(kind, plain(text), plain(hint), f"{name}:{node.lineno}"))
    return found
