"""Notebooks of the tutorials run in this process: their cells, what these print, and the stored outputs.

`python -m tests.support.notebooks` stores the outputs anew, after a change that is meant to change them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))

_COMMAND = "!syclade "


class SVG:
    """Stand-in for the class of IPython.display, which is no dependency of the tests."""

    def __init__(self, filename: str) -> None:
        self.text = Path(filename).read_text(encoding="utf-8")


def _display() -> dict[str, ModuleType]:
    module = ModuleType("IPython.display")
    module.SVG = SVG  # type: ignore[attr-defined]
    return {"IPython": ModuleType("IPython"), "IPython.display": module}


def _run_command(line: str) -> str:
    from syclade.host.commands.main import cli

    arguments = shlex.split(line.removeprefix(_COMMAND))
    result = CliRunner().invoke(cli, arguments, prog_name="syclade")
    assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
    return result.output


def _run_python(source: str, where: str, names: dict[str, Any]) -> object:
    """Run statements; return the value of the last one if it is an expression, else None."""
    body = ast.parse(source).body
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr):
        exec(compile(ast.Module(body, []), where, "exec"), names)
        return None
    exec(compile(ast.Module(body[:-1], []), where, "exec"), names)
    value: object = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return value


def _outputs(source: str, where: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    printed, value = io.StringIO(), None
    if source.startswith(_COMMAND):
        printed.write("".join(map(_run_command, source.splitlines())))
    else:
        sys.modules.update(_display())
        try:
            with contextlib.redirect_stdout(printed):
                value = _run_python(source, where, names)
        finally:
            for name in _display():
                del sys.modules[name]
        if source.rstrip().endswith(";"):
            value = None
    made: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        made.append({"name": "stdout", "output_type": "stream", "text": lines})
    if isinstance(value, SVG):
        data = {"image/svg+xml": value.text.splitlines(keepends=True)}
        made.append({"data": data, "metadata": {}, "output_type": "display_data"})
    elif value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        made.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return made


def run_notebook(path: Path, folder: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Run the code cells of a notebook in a folder; yield each cell with the outputs that it has now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            made = []
            if cell["cell_type"] == "code":
                made = _outputs("".join(cell["source"]), f"{path.name}, cell {number}", names)
            yield cell, made
    finally:
        os.chdir(before)


def without_times(outputs: list[dict[str, Any]]) -> str:
    """Return outputs as text, without what differs from run to run: seconds."""
    return re.sub(r"\d+(\.\d+)? m?s\b", "… s", json.dumps(outputs, ensure_ascii=False, indent=1))


def record(path: Path) -> None:
    """Store the outputs of a notebook anew."""
    report = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        report["cells"] = [
            {**cell, "outputs": made} if cell["cell_type"] == "code" else cell
            for cell, made in run_notebook(path, Path(folder))
        ]
    path.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for one in TUTORIALS:
        if not sys.argv[1:] or one.stem in sys.argv[1:]:
            record(one)
