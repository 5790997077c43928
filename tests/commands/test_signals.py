"""A signal at any moment, also while the result is written: complete files, and no temporary ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
INFER = ["infer", str(MATRIX), *RATES, "--device", "numpy", "--chains", "2", "--steps", "40"]
INFER += ["--samples", "5", "--report"]
SCITE = f"scite -i {MATRIX} -n 20 -m 40 -r 2 -l 40 -fd 0.001 -ad 0.2 --device numpy".split()
CONVERT = ["convert", str(MATRIX)]

# Sends itself signals when a function is called for the first time: number/seconds after the one before.
PROGRAM = """
import importlib, os, sys, time
from pathlib import Path
place, signals, *arguments = sys.argv[1:]
module, _, name = place.partition(":")
def watch():
    owner = importlib.import_module(module)
    *outer, last = name.split(".")
    for one in outer:
        owner = getattr(owner, one)
    found = getattr(owner, last)
    def interrupted(*given, **named):
        setattr(owner, last, found)
        for one in signals.split(","):
            number, _, wait = one.partition("/")
            time.sleep(float(wait))
            os.kill(os.getpid(), int(number))
        return found(*given, **named)
    setattr(owner, last, interrupted)
from syclade.host.commands.process import handle_interrupts
handle_interrupts()
watch()
sys.argv = ["syclade", *arguments]
from syclade.__main__ import main
main()
"""
BEFORE = "syclade.host.data.input.read_matrix:read_matrix"
JUDGED = "syclade.host.answer.run:best_tree_of"
REPORT = "syclade.host.answer.report.page:report_of"
WRITTEN = "os:fsync"
MOVED = "syclade.host.ground.atomic:TemporaryFiles.move"
PRINTED = "syclade.host.commands.infer:_pace"
SAMPLED = "syclade.host.findings.support.starts:spread_out"


def interrupted(
    place: str, signals: str, command: list[str], *more: object, ignored: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run the program with signals at a moment."""
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, place, signals, *command, *map(str, more)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        # A shell's background jobs ignore SIGINT, and so would their children.
        preexec_fn=lambda: [signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)],
    )


def assert_complete(out: Path) -> None:
    """Check that the files are those of the record, and no others."""
    assert {path.name for path in out.iterdir()} == {*json.loads((out / "run.json").read_text())["files"]}


NAMES = {"INT": "2/0", "TERM": "15/0", "timeout": "15/0,15/0.01"}


def at(name: str, place: str) -> Any:
    """Return a parameter of the test below; `make test` has each signal and each place."""
    brief = name == "TERM" or place in (JUDGED, MOVED)
    marks = [] if brief else [pytest.mark.verification]
    return pytest.param(NAMES[name], place, id=f"{name}-{place}", marks=marks)


@pytest.mark.parametrize(
    ("signals", "place"),
    [at(name, place) for name in NAMES for place in (JUDGED, REPORT, WRITTEN, MOVED, PRINTED)],
)
def test_the_first_signal_loses_nothing(tmp_path: Path, signals: str, place: str) -> None:
    """GNU timeout sends its signal twice within a moment, which counts as one."""
    out = tmp_path / "out"
    done = interrupted(place, signals, INFER, "--out", out)
    assert done.returncode == 128 + int(signals.split("/")[0]), done.stderr
    assert done.stderr.count("once more stops at once") == 1
    assert "Traceback" not in done.stderr
    assert "log-likelihood " in done.stdout
    assert_complete(out)
    assert {"report.html", "tree.samples"} < {path.name for path in out.iterdir()}
    assert json.loads((out / "summary.json").read_text())["interrupted"] is False


@pytest.mark.parametrize("place", [JUDGED, SAMPLED])
def test_a_signal_before_the_support_is_reported(tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    search = ["infer", str(MATRIX), *RATES, "--device", "native", "--report", "--json"]
    done = interrupted(place, "15/0", search, "--out", out)
    assert done.returncode == 143, done.stderr
    lacks = "stopped before the end: the tree is complete, but has no support"
    assert f"syclade: warning: {lacks}\n" in done.stderr
    assert_complete(out)
    for output in (json.loads((out / "summary.json").read_text()), json.loads(done.stdout)["summary"]):
        assert (output["interrupted"], output["stopped_in"]) == (True, "support")
        assert "support" not in output
        assert output["converged"] is True
    assert lacks.capitalize() in (out / "report.html").read_text()
    assert not (out / "support.tsv").exists()


@pytest.mark.parametrize("place", [REPORT, WRITTEN, MOVED])
def test_a_second_signal_leaves_all_files_or_none(tmp_path: Path, place: str) -> None:
    out = tmp_path / "out"
    done = interrupted(place, "15/0,15/0.7", INFER, "--out", out)
    assert done.returncode == 143, done.stderr
    assert "Traceback" not in done.stderr
    if place == MOVED:
        assert_complete(out)
        assert "nothing was written" not in done.stderr
    else:
        assert list(tmp_path.iterdir()) == []
        assert f"syclade: nothing was written to {out}\n" in done.stderr


@pytest.mark.parametrize("signals", ["2/0", "15/0", "15/0,15/0.01"])
def test_before_the_first_step_there_is_nothing(tmp_path: Path, signals: str) -> None:
    out = tmp_path / "new" / "out"
    done = interrupted(BEFORE, signals, INFER, "--out", out)
    assert (done.returncode, done.stdout) == (128 + int(signals.split("/")[0]), "")
    assert f"syclade: nothing was written to {out}\n" in done.stderr
    assert "checkpoint" not in done.stderr
    assert done.stderr.endswith("syclade: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_before_the_first_checkpoint_the_command_starts_again(tmp_path: Path) -> None:
    done = interrupted(BEFORE, "2/0", INFER, "--out", tmp_path / "out", "--checkpoint", tmp_path / "kept")
    assert done.returncode == 130, done.stderr
    said = "syclade: no checkpoint was written yet: start again with the same command\n"
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", [WRITTEN, MOVED])
def test_files_of_scites_runs_are_complete(tmp_path: Path, place: str) -> None:
    done = interrupted(place, "15/0", SCITE, "-o", tmp_path / "x", "-max_treelist_size", 1)
    assert done.returncode == 143, done.stderr
    assert "best log score for tree" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"x_ml0.gv", "x_ml0.newick", "x.samples"}


@pytest.mark.parametrize("place", [WRITTEN, MOVED])
@pytest.mark.parametrize("number", [2, 15])
def test_other_commands_leave_no_temporary_files(tmp_path: Path, place: str, number: int) -> None:
    done = interrupted(place, f"{number}/0", CONVERT, "--out", tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (128 + number, "syclade: interrupted")
    files = {"matrix.csv", "matrix.geneNames", "matrix.cellNames"} if place == MOVED else set()
    assert {path.name for path in tmp_path.iterdir()} == files


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    done = interrupted(JUDGED, "15/0,2/0.6", INFER, "--out", tmp_path / "out", ignored=True)
    assert done.returncode == 0, done.stderr
    assert_complete(tmp_path / "out")
