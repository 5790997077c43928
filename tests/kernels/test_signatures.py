"""Device functions say what their arguments are: shape and direction, one argument per line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import syclade.kernels

ROOT = Path(syclade.kernels.__file__).parent
UNEXPLAINED = 3
"""Number of arguments that a device function may have without a comment on each."""

DIRECTION = re.compile(r"# (IN|OUT|IN OUT)\b")


def device_functions(text: str) -> Iterator[ast.FunctionDef]:
    """Yield the device functions of a module, at any depth."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(one, ast.Name) and one.id == "device_function" for one in node.decorator_list
        ):
            yield node


def unexplained(text: str) -> list[str]:
    """Return the device functions of a module with an argument that has no direction on a line of its own."""
    lines = text.splitlines()
    found = []
    for function in device_functions(text):
        arguments = function.args.args
        at = [argument.lineno for argument in arguments]
        report = all(DIRECTION.search(lines[number - 1]) for number in at) and len(set(at)) == len(at)
        if len(arguments) > UNEXPLAINED and not report:
            found.append(function.name)
    return found


def test_every_argument_has_a_direction() -> None:
    found = {str(path.relative_to(ROOT)): unexplained(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}
    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}


def test_an_argument_without_a_direction_is_found() -> None:
    whole = "@device_function\ndef f(\n    a,  # IN\n    b,  # OUT\n    c,  # IN OUT\n    d,  # IN\n): ...\n"
    assert unexplained(whole) == []
    assert unexplained(whole.replace("# OUT", "# result")) == ["f"]
    assert unexplained("@device_function\ndef f(a, b, c, d): ...  # IN\n") == ["f"]


def test_a_slot_is_one_record() -> None:
    """The arguments and where a slot's parts of them start are passed together."""
    for path in ROOT.rglob("*.py"):
        for function in device_functions(path.read_text("utf-8")):
            names = [argument.arg for argument in function.args.args]
            assert not {"given", "here"} <= set(names), f"{path.name}: {function.name}"
