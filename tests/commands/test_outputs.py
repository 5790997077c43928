"""Output folders of commands: inputs are never overwritten, and nothing of an earlier run is left."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import syclade
from syclade.host.commands.main import main
from syclade.host.ground.errors import OutputError
from syclade.host.ground.output_folder import output_folder
from tests.conftest import ROOT
from tests.support.commands import status_of

EXAMPLE = ROOT / "host" / "data" / "example"
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
QUICK = [*RATES, "--chains", "2", "--steps", "20", "--device", "numpy", "--force"]
SCITE = "-n 20 -m 40 -r 1 -l 20 -fd 0.001 -ad 0.2 --device numpy --force"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        return int(caught.value.code or 0), capsys.readouterr().err

    return run


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a matrix, its names, and a result with samples."""
    folder = tmp_path_factory.mktemp("result")
    for name in ("matrix.csv", "matrix.geneNames", "true_tree.newick"):
        shutil.copy(EXAMPLE / name, folder)
    assert status_of("infer", folder / "matrix.csv", *QUICK, "--samples", 5, "--out", folder) == 0
    return folder


@pytest.fixture
def place(result: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder with a result."""
    return shutil.copytree(result, tmp_path, dirs_exist_ok=True)


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


# ---- inputs


@pytest.mark.parametrize(
    "options",
    [
        "--true-tree {0}/tree.newick --out {0}",
        "--true-tree {0}/posterior.gv --out {0}",
        "--names {0}/run.json --out {0}",
        "--cell-names {0}/attachments.tsv --out {0}",
        "--resume {0}/summary.json --out {0}",
        "--image {0}/summary.json --out {0}",
        "--checkpoint {0}/matrix.csv",
        "--checkpoint {0}/link.csv",
        "--checkpoint {0}/matrix.geneNames --names {0}/matrix.geneNames",
        "--checkpoint {0}/true_tree.newick --true-tree {0}/true_tree.newick",
        "--checkpoint {0}/summary.json --out {0}",
        "--checkpoint {0}/c --out {0}",
        "--checkpoint {0}/new/summary.json --out {0}/new",
        "--checkpoint {0}/a.events --resume {0}/a",
        "--stages separate --encoding ancestor --trace {0}/matrix.csv",
        "--stages separate --encoding ancestor --trace {0}/new/tree.gv --out {0}/new",
        "--stages separate --encoding ancestor --trace {0}/x --checkpoint {0}/x",
    ],
)
def test_infer_refuses_an_output_that_is_another_file(run: Any, place: Path, options: str) -> None:
    (place / "link.csv").symlink_to("matrix.csv")
    (place / "c.events").symlink_to("run.json")  # samples of the checkpoint `c`
    before = contents(place)
    words = options.format(place).split()
    status, written = run("infer", place / "matrix.csv", *QUICK, *words)
    assert status == 2
    assert " is also " in written
    assert contents(place) == before
    assert not (place / "new").exists()


def test_the_matrix_is_not_overwritten(run: Any, place: Path) -> None:
    (place / "tree.gv").unlink()
    (place / "tree.gv").symlink_to("matrix.csv")
    status, written = run("infer", place / "matrix.csv", *QUICK, "--out", place)
    assert (status, "tree.gv is also MATRIX" in written) == (2, True)


@pytest.mark.parametrize("source", ["matrix.csv", "link.csv", "matrix.txt"])
def test_convert_keeps_its_input(run: Any, place: Path, source: str) -> None:
    """For `matrix.txt`, the file of names beside it would be overwritten."""
    (place / "link.csv").symlink_to("matrix.csv")
    shutil.copy(place / "matrix.csv", place / "matrix.txt")
    before = contents(place)
    status, written = run("convert", place / source, "--out", place, "--force")
    assert (status, " is also " in written) == (2, True)
    assert contents(place) == before


def test_convert_keeps_its_standard_input(place: Path) -> None:
    before = contents(place)
    command = [sys.executable, "-m", "syclade", "convert", "-", "--out", str(place), "--force"]
    with (place / "matrix.csv").open() as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, "matrix.csv is also MATRIX" in done.stderr) == (2, True)
    assert contents(place) == before


@pytest.mark.parametrize(
    "option",
    [
        "-i {0}/x_ml0.gv",
        "-i {0}/matrix.csv -names {0}/matrix.geneNames -t {0}/x_ml0.newick",
        "-i {0}/matrix.csv -names {0}/x.samples",
    ],
)
def test_scite_keeps_its_inputs(run: Any, place: Path, option: str) -> None:
    shutil.copy(place / "matrix.csv", place / "x_ml0.gv")
    shutil.copy(place / "true_tree.newick", place / "x_ml0.newick")
    shutil.copy(place / "matrix.geneNames", place / "x.samples")
    before = contents(place)
    words = option.format(place).split()
    status, written = run("scite", *words, *SCITE.split(), "-o", place / "x")
    assert (status, " is also -" in written) == (2, True)
    assert contents(place) == before


def test_export_keeps_its_matrix(run: Any, place: Path) -> None:
    shutil.copy(place / "matrix.csv", place / "manifest.json")
    status, written = run("export", place, "--matrix", place / "manifest.json", "--force")
    assert (status, "manifest.json is also MATRIX" in written) == (2, True)


def test_results_in_python_keep_the_inputs(place: Path) -> None:
    matrix, tree = place / "matrix.csv", place / "tree.newick"
    options: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "chains": 2, "steps": 20, "samples": 5}
    result = syclade.infer(matrix, true_tree=tree, device="numpy", **options)
    before = contents(place)
    for write in (
        lambda: result.write(place, force=True),
        lambda: result.to_netcdf(matrix, force=True),
        lambda: syclade.infer(syclade.read_matrix(matrix), **options, checkpoint=matrix, force=True),
    ):
        with pytest.raises(OutputError, match=" is also "):
            write()
    (place / "picture.png").symlink_to("matrix.csv")
    with pytest.raises(OutputError, match=" is also the matrix"):
        result.plot(place / "picture.png", force=True)
    assert contents(place) == before | {"picture.png": before["matrix.csv"]}


# ---- files of an earlier run


def test_force_leaves_nothing_of_the_earlier_run(run: Any, place: Path) -> None:
    inputs = {"matrix.csv", "matrix.geneNames", "true_tree.newick"}
    for more in (["--max-trees", 3, "--report"], ["--tree", "leaf", "--samples", 5], []):
        assert run("infer", place / "matrix.csv", *QUICK, *more, "--out", place)[0] == 0
        found = {path.name for path in place.iterdir()}
        assert found == {*json.loads((place / "run.json").read_text())["files"]} | inputs
    names = {"tree.newick", "tree.gv", "attachments.tsv", "cells.tsv", "summary.json", "run.json"}
    assert found == names | inputs


def test_scite_names_trees_of_an_earlier_run(run: Any, place: Path) -> None:
    given = ["scite", "-i", place / "matrix.csv", *SCITE.split(), "-o", place / "x"]
    (place / "x_ml7.newick").write_text("(1)2;\n")
    status, written = run(*given, "-max_treelist_size", 1)
    assert (status, "warning: x_ml7.newick: trees of an earlier run" in written) == (0, True)
    assert (place / "x_ml7.newick").exists()


# ---- two runs at once


@pytest.mark.parametrize("command", ["infer", "scite"])
def test_a_folder_in_use_is_refused_at_the_start(run: Any, place: Path, command: str) -> None:
    if command == "infer":
        key, given = "run.json", ["infer", place / "matrix.csv", *QUICK, "--out", place]
    else:
        key, given = "x.samples", ["scite", "-i", place / "matrix.csv", *SCITE.split(), "-o", place / "x"]
    before = contents(place)
    with output_folder(place, (), key=key, protected={}):
        status, written = run(*given)
    assert (status, "another run is writing to" in written) == (2, True)
    assert contents(place) == before


def test_a_failed_run_leaves_no_empty_folder(run: Any, tmp_path: Path) -> None:
    assert run("infer", tmp_path / "absent.csv", *QUICK, "--out", tmp_path / "new" / "out")[0] == 2
    assert list(tmp_path.iterdir()) == []
