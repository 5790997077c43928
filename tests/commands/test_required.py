"""Each command names a required option or argument that is missing: one message, status 2, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest

from syclade.host.commands.main import cli
from tests.support.commands import printed_by

Given = tuple[str, ...]


def _commands(group: click.Group, path: Given = ()) -> Iterator[tuple[Given, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _words(parameter: click.Parameter) -> list[str]:
    """Return words that give a parameter a valid value."""
    kind: Any = parameter.type
    value = {"integer range": "2", "choice": "", "text": "x"}.get(kind.name, "0.1")
    if kind.name == "choice":
        value = str(kind.choices[0])
    flag = [parameter.opts[-1]] if parameter.param_type_name == "option" else []
    return [*flag, *([value] * max(1, parameter.nargs))]


def _cases() -> Iterator[tuple[Given, str, str]]:
    """Yield command lines without one required parameter, the command's name, and the parameter's name."""
    for path, command in _commands(cli):
        required = [one for one in command.params if one.required]
        arguments = [one for one in required if one.param_type_name == "argument"]
        for missing in required:
            # without an argument, those after it are left out, too: they would take its place
            left_out = arguments[arguments.index(missing) :] if missing in arguments else [missing]
            words = [word for one in required if one not in left_out for word in _words(one)]
            name = missing.human_readable_name if missing in arguments else missing.opts[-1]
            yield (*path, *words), " ".join(path), name
    scite = {"-i": "x", "-n": "2", "-m": "2", "-r": "1", "-l": "10", "-fd": "0.1", "-ad": "0.1"}
    for command_name in ("scite", "infscite"):
        for flag in scite:
            words = [word for one in scite.items() if one[0] != flag for word in one]
            yield (command_name, *words), command_name, flag


CASES = list(_cases())


def test_every_required_parameter_is_a_case() -> None:
    assert ("call", "--ref") in {(command, name) for _, command, name in CASES}
    assert len(CASES) >= 50


@pytest.mark.parametrize(("words", "command", "name"), CASES, ids=lambda one: str(one))
def test_a_missing_parameter_is_named(
    words: Given, command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed, said = printed_by(capsys, *words)
    assert status == 2
    assert printed == []
    assert "Traceback" not in said
    (line,) = [one for one in said.splitlines() if one.startswith("syclade: error: ")]
    assert name.lower() in line.lower()


def test_every_output_has_the_same_letter() -> None:
    """Where a command has --out, -o is the same; nothing else is -o."""
    found = {
        path: [one for one in command.params if {"-o", "--out"} & set(one.opts)]
        for path, command in _commands(cli)
    }
    assert all(one.opts == ["-o", "--out"] for options in found.values() for one in options)
    without = {path[0] for path, options in found.items() if not options}
    assert not without & {"infer", "batch", "bootstrap", "plot", "consensus", "call", "filter", "convert"}
    assert not without & {"join", "simulate"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("convert", "x", "--names", "1"), "no such option '--names': did you mean '--name-by'?\nhint: "),
        (("infer", "x", "--sede", "1"), "no such option '--sede' (did you mean one of: '"),
        (
            ("infer", "x", "--seed", "a"),
            "invalid value for '--seed': 'a' is not a valid integer range\nhint: ",
        ),
        (
            ("infer", "x", "y"),
            "got unexpected extra argument (y)\n"
            "hint: join the files of one tumour with syclade join; give several to syclade batch",
        ),
        (("infre",), "no such command 'infre' (did you mean infer or infscite?)\nhint: syclade --help has"),
        (("zzz",), "no such command 'zzz'\nhint: "),
        (
            ("quality", "tist"),
            "no such command 'tist' (did you mean tost?)\nhint: syclade quality --help has",
        ),
    ],
)
def test_errors_of_usage_look_as_others(words: Given, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed, shown = printed_by(capsys, *words)
    assert (status, printed) == (2, [])
    assert shown.startswith(f"syclade: error: {said}")


def test_a_group_without_a_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, printed, shown = printed_by(capsys, "quality")
    assert (status, printed) == (2, [])
    assert shown.startswith("Usage: syclade quality")
