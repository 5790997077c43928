"""Commands on the pages about FPGAs: options exist; predictions, Python, and blocks without placeholders run.

`tests/test_documented_commands.py` runs those whose output the pages show.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate
from syclade.quality.design.reader import preset_names
from tests.conftest import ROOT
from tests.support.searches import shorten_support

PAGES = ("fpga.md", "fpga-model.md", "thesis.md")
PLACEHOLDER = re.compile(r"[A-Z]+(\.\w+)?|…|\[.*|[\w.]*\|.*")
"""Words that stand for something else, such as FILE, MINE.toml, NAME|FILE.toml."""


class Command(NamedTuple):
    """A command of syclade on a page."""

    page: str
    words: tuple[str, ...]


def commands() -> Iterator[Command]:
    """Yield the commands in code spans and fenced blocks; rows of tables leave out `syclade design`."""
    for page in PAGES:
        text = (ROOT / "docs" / page).read_text("utf-8").replace("\\\n", " ")
        spans = re.findall(r"`((?:syclade )[^`]+)`", text)
        lines = re.findall(r"^(?:\$ )?(syclade .*)$", text, re.MULTILINE)
        rows = [
            f"syclade design {row}"
            for row in re.findall(rf"`((?:{'|'.join(preset_names())}) --[^`]+)`", text)
        ]
        for one in {*spans, *lines, *rows}:
            words = shlex.split(re.sub(r" \|.*", "", one.replace("'", "")), comments=True)
            yield Command(page, tuple(words[1:]))


COMMANDS = sorted(set(commands()))


def named(words: tuple[str, ...]) -> tuple[click.Command, list[str]]:
    """Return the command that words name, and the rest of them."""
    command: click.Command = cli
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(click.Context(command), rest[0])
        assert found is not None, f"there is no command {' '.join(words)}"
        command, rest = found, rest[1:]
    return command, rest


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: f"{one.page}: {' '.join(one.words)}")
def test_options_exist(command: Command) -> None:
    """Each option is one of the command, and has one of its values where it has few."""
    found, rest = named(command.words)
    options = {name: param for param in found.params for name in (*param.opts, *param.secondary_opts)}
    for word, value in zip(rest, [*rest, ""][1:], strict=True):
        if not word.startswith("--"):
            continue
        assert word in options, f"{command.page}: {word} of {found.name}"
        kind = options[word].type
        if isinstance(kind, click.Choice) and not PLACEHOLDER.fullmatch(value):
            assert value in kind.choices, f"{command.page}: {word} {value}"


PREDICTIONS = sorted(
    {
        one.words
        for one in COMMANDS
        if one.words[:1] == ("design",)
        and not any(PLACEHOLDER.fullmatch(word) for word in one.words)
        and not {"--plot", "--csv", "--measured"} & {*one.words}
    }
)


@pytest.mark.parametrize("words", PREDICTIONS, ids=" ".join)
def test_predictions_run(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, words)
    assert result.exception is None, result.output
    assert result.output


def blocks() -> list[list[list[str]]]:
    """Return the blocks of commands without placeholders, in the order of docs/fpga.md."""
    text = (ROOT / "docs" / "fpga.md").read_text("utf-8").replace("\\\n", " ")
    found = []
    for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = block.splitlines()
        if not all(line.startswith("syclade ") for line in lines):
            continue
        words = [shlex.split(line, comments=True)[1:] for line in lines]
        if not any(PLACEHOLDER.fullmatch(word) for line in words for word in line):
            found.append(words)
    return found


@pytest.mark.sycl
@pytest.mark.compiler
@pytest.mark.emulator
def test_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each needs what those before it wrote; runs are shorter than on the page."""
    shorten_support(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("host").symlink_to(ROOT / "host")
    programs = [words for block in blocks() for words in block]
    assert [words[0] for words in programs] == ["infer", "export", "infer", "infer", "export", "infer"]
    for words in programs:
        result = CliRunner().invoke(cli, ["500" if word == "20000" else word for word in words])
        assert result.exception is None, result.output
        folder = Path(words[1] if words[0] == "export" else words[words.index("--out") + 1])
        assert any(folder.iterdir())


@pytest.mark.sycl
@pytest.mark.compiler
@pytest.mark.emulator
def test_python_runs(tmp_path: Path) -> None:
    """The blocks of Python, one after another, in a process of its own that has the kernels of the tests."""
    text = (ROOT / "docs" / "fpga.md").read_text("utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 3
    np.savetxt(tmp_path / "matrix.csv", simulate(20, 12, 0.01, 0.2, 0.1, seed=1).matrix.values, fmt="%d")
    begin = """
import numpy as np
import syclade
from syclade.host.findings.support import plan
from syclade.host.findings.support.budget import Budget
plan.budget_for = lambda *_, **__: Budget(128, 256, 1)  # as `shorten_support`
syclade.bench.__kwdefaults__ |= {"seconds": 0.1, "repeats": 2}
matrix = np.loadtxt("matrix.csv", dtype=int)
"""
    end = (
        "assert (problem.arrays['step'] == 1).all()\nassert arrays['step'].sycl_device.has_aspect_accelerator"
    )
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([begin, *found, end])],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "SYCLADE_CACHE": os.environ["SYCLADE_CACHE"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "in parameters int64 (3,)" in done.stdout
    assert (tmp_path / "pipeline" / "pipeline.cl").is_file()


def test_commands_are_found() -> None:
    """A page without commands would be one whose commands were not recognised."""
    assert {one.page for one in COMMANDS} == set(PAGES)
    assert len(PREDICTIONS) > 20
    with pytest.raises(AssertionError):
        test_options_exist(Command("no page", ("infer", "FILE", "--stages", "apart")))
    with pytest.raises(AssertionError):
        test_options_exist(Command("no page", ("export", "DIR", "--stage")))
