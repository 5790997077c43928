"""Projects of small inferences, and their testbenches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate


def export(folder: Path, *arguments: str) -> None:
    """Export a project into a folder."""
    result = CliRunner().invoke(cli, ["export", str(folder), *arguments])
    assert result.exception is None, result.output


def zygosity(folder: Path, mutations: int, cells: int) -> list[str]:
    """Write a matrix with homozygous mutations, and return the arguments that export it."""
    rates = (0.01, 0.2, 0.1, 3, 0.1, 0.05)
    np.savetxt(folder / "matrix.csv", simulate(cells, mutations, *rates).matrix.values, fmt="%d")
    return ["--matrix", str(folder / "matrix.csv"), "--fn-rate-hom", "0.1", "--hom-rate", "0.05"]


def run_opencl(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the testbench on the emulator; return its exit status, its report, and what it said on stderr.

    A variable of the driver allows one thread here; the testbench needs one for each kernel all the same.
    """
    command = [sys.executable, str(folder / "run_pipeline.py"), "--timeout", "120", *arguments]
    one_thread = {**os.environ, "DPCPP_CPU_NUM_CUS": "1"}
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    return made.returncode, json.loads(made.stdout) if made.stdout else {}, made.stderr


def replace(path: Path, old: str, new: str) -> None:
    """Change a text that occurs once in a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old} occurs {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")


def assert_counts(
    run: dict[str, Any], *, nodes: int, cells: int, unroll: int, words: int = 1, values: int = 2
) -> None:
    """Compare the iterations of all loops of a step with those that follow from the sizes."""
    matrix, packets = words * nodes, cells * nodes // unroll
    moves, tallies = 5, 10
    rows = nodes // unroll
    assert run["loops"] == {
        "io": {"receive": 2 * matrix + tallies + 5, "send": 2 * matrix + tallies + 8},
        "propose": {
            "receive": matrix + 3,
            "count_row": rows,
            "relations_select_other": rows,
            "send": matrix + moves + 3,
        },
        "find_parent": {"receive": matrix + moves, "send": matrix + moves + 2 * words},
        "tree_update": {
            "receive": matrix + moves + 2 * words,
            "tree_update_part": words * rows,
            "send": 2 * matrix + moves,
        },
        "score_mapping": {
            "receive": matrix + 1,
            "ancestor_score_mapping_part": packets,
            "send": matrix + packets,
        },
        "reduction": {
            "receive": 3 * matrix + packets + tallies + moves + 6,
            "share_of_node": packets,
            "take_rows_part": words * rows,
            "send": 2 * matrix + tallies + 4,
        },
    }
    longest = run["longest_transfer"]
    assert longest["propose"] == {"receive": matrix, "send": matrix}
    assert longest["reduction"] == {"receive": max(matrix, packets, tallies), "send": max(matrix, tallies)}


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")


class Simulation:
    """A project of C++ in which processes are threads, compiled by g++.

    Args:
        folder: the project.
        source: its source.
        headers: folder of headers.
        flags: further flags of the compiler.
    """

    def __init__(self, folder: Path, source: str, headers: Path, *flags: str) -> None:
        self.folder = folder
        self.report: dict[str, Any] = {}
        warnings = [
            "-Wall",
            "-Werror",
            "-Wno-unknown-pragmas",
            "-Wno-unused",
            "-Wno-attributes",
            "-Wno-maybe-uninitialized",
        ]
        command = ["g++", "-std=c++17", "-O1", "-pthread", *warnings, "-isystem", str(headers), *flags]
        made = subprocess.run(
            [*command, source, "-o", "simulation"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr[:3000]

    def run(self, *states: str, timeout: float = 120) -> tuple[int, dict[str, Any]]:
        """Run it with these numbers of states in flight; return its exit status and its report."""
        made = subprocess.run(
            ["./simulation", *states],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
        self.report = json.loads(made.stdout) if made.stdout else {"said": made.stderr}
        return made.returncode, self.report
