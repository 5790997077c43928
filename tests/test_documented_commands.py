"""Commands in the documentation print what it says: every `$ ` command of a fenced block, and its output.

All others have commands and options that exist.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate
from tests.conftest import ROOT

PUBLISHED = "its matrices were published and do not come with the package"

NOT_RUN = {
    "syclade batch cohort.tsv": f"{PUBLISHED}; two minutes of CPU time",
    "syclade bootstrap pat_2.csv": f"{PUBLISHED}; 101 inferences",
}
"""Begins of the first commands of blocks that are not run, and why."""

PROGRAMS = ("python", "make")
"""Other programs that blocks run, in a shell; nothing that they say on standard error is compared."""

HEADERS = ROOT / "tests" / "commands" / "export" / "hls" / "stubs" / "vitis"
"""Stand-ins for the headers of Vitis HLS, which `make` takes from the environment."""

INPUTS = {"simulated/*.csv": 10, "simulated/*/matrix.csv": 3}
"""Matrices that blocks expect: a pattern of their paths, and how many there are."""


class Step(NamedTuple):
    """A command, and the text below it."""

    command: str
    printed: str


class Block(NamedTuple):
    """A fenced block with commands."""

    where: str
    steps: list[Step]


def blocks() -> list[Block]:
    """Return all blocks of the documentation in which a line begins with `$ `."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            steps = [
                Step(*step.split("\n", 1)) for step in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]
            ]
            if steps:
                line = text[: block.start()].count("\n") + 1
                found.append(Block(f"{page.relative_to(ROOT)}:{line}", steps))
    return found


BLOCKS = blocks()


def comparable(printed: str) -> str:
    """Return an output without seconds, the only numbers in it that differ between machines."""
    return re.sub(r"\b\d+\.\d+ s\b", "N s", printed)


def marks_of(block: Block) -> list[pytest.MarkDecorator]:
    """Return the marks of a block's test: what the machine must have, and whether it is for `make verify`.

    Blocks that build a project are: the tests of `tests/commands/export/hls/` build smaller ones.
    """
    emulated = any("run_pipeline.py" in step.command for step in block.steps)
    built = emulated or any(step.command.startswith("make ") for step in block.steps)
    marks = [pytest.mark.sycl, pytest.mark.emulator] if emulated else []
    return [*marks, pytest.mark.verification] if built else marks


def run_in_shell(command: str) -> str:
    """Run a command that is none of ours, and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "HEADERS": str(HEADERS)}
    made = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{command}: {made.stdout}{made.stderr}"
    return made.stdout


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(one, id=one.where, marks=marks_of(one))
        for one in BLOCKS
        if not one.steps[0].command.startswith(tuple(NOT_RUN))
    ],
)
def test_output_of_commands(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host").symlink_to(ROOT / "host")
    for pattern, number in INPUTS.items():
        if any(pattern in step.command for step in block.steps):
            for one in range(number):
                path = Path(pattern.replace("*", str(one)))
                path.parent.mkdir(parents=True, exist_ok=True)
                np.savetxt(path, simulate(20, 8, 0.01, 0.2, 0.0, seed=one).matrix.values, fmt="%d")
    for step in block.steps:
        program, *arguments = shlex.split(step.command)
        if program in PROGRAMS or " | " in step.command:
            assert run_in_shell(step.command) == step.printed, f"{block.where}: {step.command}"
            continue
        assert program == "syclade", f"{block.where}: add the block to NOT_RUN, with the reason"
        result = CliRunner().invoke(cli, arguments)
        assert result.exception is None, f"{step.command}: {result.output}"
        assert comparable(result.output) == comparable(step.printed), f"{block.where}: {step.command}"


def test_blocks_are_found_and_reasons_are_in_use() -> None:
    assert {"README.md", "docs/many.md"} <= {block.where.partition(":")[0] for block in BLOCKS}
    first = [block.steps[0].command for block in BLOCKS]
    assert all(any(command.startswith(begin) for command in first) for begin in NOT_RUN)
    assert comparable("7 of 20 edges (0.55 s)") == comparable("7 of 20 edges (1.20 s)")
    assert comparable("7 of 20 edges (0.55 s)") != comparable("5 of 20 edges (0.55 s)")


FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def mentioned_in(page: str) -> list[str]:
    """Return the commands of ours on a page, in lines of code and in fenced blocks."""
    blocks = "".join(FENCED.findall(page)).replace("\\\n", " ")
    return [
        *re.findall(r"`(syclade [a-z][^`]*)`", FENCED.sub("", page)),
        *re.findall(r"^(?:\$ )?(syclade [a-z].*)$", blocks, re.MULTILINE),
    ]


def unknown_options(mentioned: str) -> list[str]:
    """Return the options of a command that it does not have; of other programs' arguments, none."""
    words = re.split(r"\s+", re.split(r" [|>;&]", mentioned)[0])[1:]
    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command = command.get_command(click.Context(command), words.pop(0).strip(","))
    if command is None:
        return [mentioned]
    if command.name in ("scite", "infscite"):
        return []
    known = {"-h", "--help", *(name for one in command.params for name in (*one.opts, *one.secondary_opts))}
    given = (match[0] for word in words if (match := re.match(r"--?[a-z][a-z-]*", word)))
    return [name for name in given if name not in known]


def test_mentioned_options_exist() -> None:
    pages = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    texts = [(page, text) for page in pages for text in mentioned_in(page.read_text("utf-8"))]
    assert len(texts) > 250
    assert not [(page.name, text, wrong) for page, text in texts if (wrong := unknown_options(text))]
    assert unknown_options("syclade infer x --evidence reads --nonsense 3 | tail -n 2") == ["--nonsense"]
    assert unknown_options("syclade inver x")
