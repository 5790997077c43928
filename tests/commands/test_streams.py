"""Standard streams that fail or lack characters: the result is still printed, or stored with a message."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syclade.host.data.trees.treefile import read_tree
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
INFER = ["infer", str(MATRIX), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "numpy"]
INFER += ["--chains", "2", "--steps", "20"]
NAMES = tuple(MATRIX.with_suffix(".geneNames").read_text().split())


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Return a function that runs the program with streams redirected by a shell."""

    def run(redirected: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[bytes]:
        quoted = " ".join(f"'{word}'" for word in (sys.executable, "-m", "syclade", *arguments))
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), **variables}
        command = ["bash", "-c", f"{quoted} {redirected}"]
        return subprocess.run(command, capture_output=True, check=False, env=environment)

    return run


def kept_in(shown: bytes) -> Path:
    """Return the folder that a message names."""
    (folder,) = re.findall(r"^hint: the result is not lost: it is in (.*)$", shown.decode(), re.MULTILINE)
    return Path(folder)


@pytest.mark.parametrize(
    ("command", "redirected"),
    [
        *((INFER, redirected) for redirected in ("2>/dev/full", "2>&-", "<&- 2>&-")),
        *((command, "2>/dev/full") for command in ([*INFER, "--quiet"], ["devices"])),
        (["--help"], "<&- 2>&-"),
    ],
)
def test_standard_error_is_a_courtesy(run: Any, command: list[str], redirected: str) -> None:
    done = run(redirected, *command)
    assert done.returncode == 0
    assert done.stdout


@pytest.mark.parametrize(("redirected", "why"), [(">/dev/full", b"No space left"), (">&-", b"it is closed")])
def test_standard_output_that_cannot_be_written_to(run: Any, redirected: str, why: bytes) -> None:
    commands = (["--help"], ["--version"], ["devices"], ["devices", "--json"])
    for command in (*(commands if "full" in redirected else commands[:1]), INFER):
        done = run(redirected, *command)
        assert done.returncode == 2
        (shown,) = [line for line in done.stderr.splitlines() if b"error" in line]
        assert shown.startswith(b"syclade: error: cannot write to standard output: " + why)
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr
    parents = json.loads((kept_in(done.stderr) / "summary.json").read_text())["parents"]
    assert read_tree(kept_in(done.stderr) / "tree.newick", NAMES).tolist() == parents


def test_neither_can_be_written_to(run: Any, tmp_path: Path) -> None:
    assert run(">/dev/full 2>/dev/full", *INFER).returncode == 2
    assert len(list((tmp_path / "state" / "syclade" / "results").glob("*/tree.newick"))) == 1


def test_what_is_written_elsewhere_needs_no_standard_output(run: Any, tmp_path: Path) -> None:
    made = ["simulate", "--cells", 3, "--mutations", 2, "--fp-rate", 0.1, "--fn-rate", 0.1, "--out"]
    assert run(">&-", *made, tmp_path / "made").returncode == 0
    assert (tmp_path / "made" / "matrix.csv").exists()


def test_closed_streams_give_their_numbers_to_no_file(run: Any, tmp_path: Path) -> None:
    """A library that writes an error to descriptor 2 must not write into a result."""
    run("<&- >&- 2>&-", *INFER, "--out", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert read_tree(tmp_path / "out" / "tree.newick", NAMES).tolist() == summary["parents"]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_that_an_encoding_lacks(run: Any, tmp_path: Path, encoding: str) -> None:
    names = tmp_path / "names"
    lines = (f"g\u00e8ne{number}\u2192\n" for number, _ in enumerate(NAMES, 1))
    names.write_text("".join(lines), encoding="utf-8")
    done = run("", *INFER, "--names", names, PYTHONIOENCODING=encoding)
    assert done.returncode == 0
    newick = done.stdout.splitlines()[-1]
    if encoding == "latin-1":
        assert b"g\xe8ne20\\u2192" in newick
        assert b"names have signs that standard output lacks" in done.stderr
    else:
        assert "g\u00e8ne20\u2192" in newick.decode()
        assert b"names have signs" not in done.stderr


# ---- files that cannot be written after the run

LOSES = """
import os, sys
from pathlib import Path
from syclade.host.ground.output_folder import OutputFolder
out = Path(sys.argv[-1])
write = OutputFolder.write
def fails(folder, files):
    if folder.path == out and "FAILS" not in os.environ or "LOSES_ALL" in os.environ:
        from syclade.host.ground.errors import OutputError
        raise OutputError(f"cannot write {out}: the disk is full", hint="free some space")
    write(folder, files)
OutputFolder.write = fails
if "FAILS" in os.environ:
    from syclade.host.answer.report import page
    def report_of(*_, **__):
        raise ValueError("no such font")
    page.report_of = report_of
from syclade.__main__ import main
main()
"""


def loses(tmp_path: Path, *more: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run an inference whose folder can no longer be written to at the end."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), **variables}
    command = [sys.executable, "-c", LOSES, *INFER, *more, "--out", str(tmp_path / "out")]
    return subprocess.run(command, capture_output=True, check=False, env=environment)


def test_a_failed_write_does_not_lose_the_result(tmp_path: Path) -> None:
    done = loses(tmp_path)
    assert done.returncode == 2
    assert b"error: cannot write " in done.stderr
    (tmp_path / "printed").write_bytes(done.stdout.splitlines()[-1])
    summary = json.loads((kept_in(done.stderr) / "summary.json").read_text())
    assert read_tree(tmp_path / "printed", NAMES).tolist() == summary["parents"]
    assert f"log-likelihood {summary['log_likelihood']:.6f}".encode() in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_rescued_result_has_the_files_that_were_asked_for(tmp_path: Path) -> None:
    done = loses(tmp_path, "--report", "--multiqc", "--samples", "5", "--netcdf", "--max-trees", "2")
    folder = kept_in(done.stderr)
    found = {path.name for path in folder.iterdir()}
    assert {"report.html", "syclade_mqc.json", "samples.nc", "tree.samples", "tree_0.gv"} < found
    assert {*json.loads((folder / "run.json").read_text())["files"]} == found


def test_a_report_that_cannot_be_made_does_not_withhold_the_other_files(tmp_path: Path) -> None:
    done = loses(tmp_path, "--report", "--multiqc", FAILS="1")
    assert done.returncode == 2
    assert b"error: report.html cannot be made: ValueError: no such font" in done.stderr
    found = {path.name for path in (tmp_path / "out").iterdir()}
    names = {
        "tree.newick",
        "tree.gv",
        "attachments.tsv",
        "cells.tsv",
        "summary.json",
        "run.json",
        "syclade_mqc.json",
    }
    assert found == names
    assert {*json.loads((tmp_path / "out" / "run.json").read_text())["files"]} == found


def test_quiet_prints_one_number_when_writing_fails(tmp_path: Path) -> None:
    done = loses(tmp_path, "--quiet")
    summary = json.loads((kept_in(done.stderr) / "summary.json").read_text())
    assert done.stdout.decode() == f"{summary['log_likelihood']!r}\n"


def test_quiet_prints_the_tree_when_it_is_nowhere_else(tmp_path: Path) -> None:
    done = loses(tmp_path, "--quiet", LOSES_ALL="1")
    assert done.returncode == 2
    (tmp_path / "printed").write_bytes(done.stdout.splitlines()[-1])
    assert len(read_tree(tmp_path / "printed", NAMES)) == len(NAMES) + 1


def test_a_written_result_needs_no_rescue(run: Any, tmp_path: Path) -> None:
    done = run(">/dev/full", *INFER, "--out", tmp_path / "out")
    assert (done.returncode, kept_in(done.stderr)) == (2, tmp_path / "out")
    assert not (tmp_path / "state").exists()


def test_a_state_folder_that_cannot_be_written_either(run: Any, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, no folder")
    (tmp_path / "passing").mkdir()
    done = run(">/dev/full", *INFER, TMPDIR=str(tmp_path / "passing"))
    assert kept_in(done.stderr).parent == tmp_path / "passing"
