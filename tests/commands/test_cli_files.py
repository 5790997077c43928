"""Command line without chains: help, score, simulate, and error messages."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import syclade
from syclade.host.commands import main as main_module
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.treefile import read_tree
from tests.conftest import ROOT
from tests.golden.commands import call

EXAMPLE = ROOT / "host" / "data" / "example"
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
SIMULATE = ["simulate", "--cells", "6", "--mutations", "5", *RATES, "--missing", "0.1", "--seed", "7"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(argument) for argument in arguments])
        assert isinstance(caught.value.code, int)
        return (caught.value.code, *capsys.readouterr())

    return run


def in_a_process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from syclade.__main__ import main; main()", *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False, **options)


# ---- help and version


def test_help_lists_the_commands_and_imports_little() -> None:
    code = (
        "import sys; from syclade.host.commands.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: print(end.code, *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    for name in ("infer", "score", "simulate", "bench", "devices", "--version"):
        assert name in done.stdout
    status, *modules = done.stdout.splitlines()[-1].split()
    assert status == "0"
    assert {"numpy", "networkx", "dpctl", "numba", "rich"}.isdisjoint(modules)


def test_version(run: Any) -> None:
    assert run("--version") == (0, f"syclade {syclade.__version__}\n", "")


@pytest.mark.parametrize("name", ["score", "simulate"])
def test_help_of_commands(run: Any, name: str) -> None:
    status, out, _ = run(name, "--help")
    assert status == 0
    assert "--fp-rate" in out


def test_summaries_are_those_of_the_commands() -> None:
    for name in ("score", "simulate"):
        command = main_module.cli.get_command(click.Context(main_module.cli), name)
        assert command is not None
        assert command.name == name


# ---- score


def test_score_of_the_example(run: Any) -> None:
    data, names, tree = (EXAMPLE / name for name in ("matrix.csv", "matrix.geneNames", "true_tree.newick"))
    files = [data, tree, "--names", names]
    matrix = read_matrix(data, names)
    score = log_likelihood(matrix, Rates(0.001, 0.2), read_tree(tree, matrix.mutations))
    assert run("score", *files, *RATES) == (0, f"{score!r}\n", "")
    status, out, _ = run("score", *files, *RATES, "--json")
    report = json.loads(out)
    assert status == 0
    assert report["log_likelihood"] == score
    assert (report["n_mutations"], report["n_cells"]) == (20, 40)
    assert sum(sum(counts.values()) for counts in report["event_counts"].values()) == 800


def test_score_takes_the_folder_of_a_result(run: Any, tmp_path: Path) -> None:
    """Its most likely tree is taken, by the command and in Python; a folder of anything else is refused."""
    data, out = EXAMPLE / "matrix.csv", tmp_path / "out"
    result = syclade.infer(data, fp_rate=0.001, fn_rate=0.2, device="native", support="none")
    result.write(out)
    status, printed, _ = run("score", data, out, *RATES)
    assert status == 0
    assert float(printed) == pytest.approx(result.log_likelihood, abs=1e-6)
    assert syclade.score(data, out, fp_rate=0.001, fn_rate=0.2) == float(printed)
    for words, message in (
        ((data, tmp_path, *RATES), f"{tmp_path}: the folder has no summary.json, so it is no result"),
        ((data, out, *RATES, "--tree", "leaf"), f"{out}: the result has a tree of mutations, not of cells"),
    ):
        status, _, err = run("score", *words)
        assert status == 2
        assert message in err


@pytest.mark.shared
def test_score_of_scites_files(run: Any, shared_dir: Path) -> None:
    folder = shared_dir / "reference" / "tost64"
    for tree in ("01_ml0.newick", "01_ml0.gv"):
        rates = ["--fp-rate", "1e-6", "--fn-rate", "0.25"]
        status, out, err = run("score", folder / "inputs" / "01.csv", folder / "scite" / tree, *rates)
        assert (status, err) == (0, "")
        assert float(out) == pytest.approx(-268.58709792592026, abs=1e-6)


@pytest.mark.shared
def test_scores_error_in_the_real_data(run: Any, shared_dir: Path) -> None:
    path = shared_dir / "data" / "dataHou18.csv"
    status, out, err = run("score", path, EXAMPLE / "true_tree.newick", *RATES)
    assert (status, out) == (2, "")
    names, first, second = err.splitlines()
    assert names == f"syclade: names of the mutations: {path.with_suffix('.geneNames')}"
    assert first.startswith(f"syclade: error: {path}:2: row 2, cell 2 is 2")
    assert second.startswith("hint: ")


@pytest.mark.parametrize(
    ("fp_rate", "fn_rate", "words"),
    [
        ("0", "0.1", "'--fp-rate': 0 is not between 0 and 1"),
        ("0.1", "nan", "'--fn-rate': nan is not between 0 and 1"),
        ("x", "0.1", "'x' is not a number"),
        ("0.5", "0.5", "syclade: error: --fp-rate 0.5"),
    ],
)
def test_rates_refused(run: Any, fp_rate: str, fn_rate: str, words: str) -> None:
    files = [EXAMPLE / "matrix.csv", EXAMPLE / "true_tree.newick"]
    status, out, err = run("score", *files, "--fp-rate", fp_rate, "--fn-rate", fn_rate)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


# ---- simulate


def test_simulate_and_score_again(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "made"
    assert run(*SIMULATE, "--out", out) == (0, "", "")
    report = json.loads((out / "simulation.json").read_text())
    assert report["seed"] == 7
    assert report["version"] == syclade.__version__
    matrix = read_matrix(out / "matrix.csv", out / "matrix.geneNames")
    assert matrix.values.shape == (5, 6)
    for name in ("true_tree.newick", "true_tree.gv"):
        assert read_tree(out / name, matrix.mutations).tolist() == report["parents"]
        status, text, _ = run(
            "score", out / "matrix.csv", out / name, "--names", out / "matrix.geneNames", *RATES
        )
        assert (status, float(text)) == (0, report["log_likelihood"])


def test_simulate_replaces_only_when_forced(run: Any, tmp_path: Path) -> None:
    assert run(*SIMULATE, "--out", tmp_path)[0] == 0
    before = (tmp_path / "matrix.csv").read_bytes()
    status, _, err = run(*SIMULATE, "--seed", "8", "--out", tmp_path)
    assert status == 2
    assert "already has matrix.csv, matrix.geneNames" in err
    assert "--force" in err
    assert (tmp_path / "matrix.csv").read_bytes() == before
    assert run(*SIMULATE, "--seed", "8", "--out", tmp_path, "--force")[0] == 0
    assert (tmp_path / "matrix.csv").read_bytes() != before


@pytest.mark.parametrize(
    "change",
    [["--cells", "0"], ["--seed", "-1"], ["--missing", "2"], ["--mutations", "x"], ["--cells", "9" * 20]],
)
def test_simulate_refuses(run: Any, tmp_path: Path, change: list[str]) -> None:
    status, _, err = run(*SIMULATE, *change, "--out", tmp_path / "new")
    assert status == 2
    assert change[0] in err
    assert "Traceback" not in err


def test_the_example_is_what_its_readme_says(run: Any, tmp_path: Path) -> None:
    lines = (EXAMPLE / "README.md").read_text().splitlines()
    (command,) = [line for line in lines if line.startswith("syclade simulate")]
    assert run(*command.removesuffix("DIR").split()[1:], tmp_path)[0] == 0
    for name in ("matrix.csv", "matrix.geneNames", "true_tree.newick"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes()


# ---- exit status and error messages


def fail_with(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    def fail() -> None:
        raise problem

    command = click.Command("devices", callback=fail)
    monkeypatch.setattr(main_module.cli, "get_command", lambda *_: command)


@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (
            syclade.SycladeError("no such thing", hint="make one"),
            2,
            "syclade: error: no such thing\nhint: make one\n",
        ),
        (KeyboardInterrupt(), 130, "syclade: interrupted\n"),
        (MemoryError(), 2, "syclade: error: out of memory\n"),
    ],
)
def test_errors_are_told_without_a_traceback(
    run: Any, monkeypatch: pytest.MonkeyPatch, problem: BaseException, status: int, words: str
) -> None:
    fail_with(monkeypatch, problem)
    ended, out, err = run("devices")
    assert (ended, out) == (status, "")
    assert err.lstrip("\n") == words


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main_module.main(["devices"])


def test_unknown_command() -> None:
    done = in_a_process("infre")
    assert done.returncode == 2
    assert "no such command 'infre'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_reader_that_went_away() -> None:
    program = "import sys; sys.argv[1:] = ['--help']; from syclade.__main__ import main; main()"
    script = f'"{sys.executable}" -c "{program}" | true; echo ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True)
    assert done.stdout.strip() in ("0", "1")
    assert done.stderr == ""


def test_the_public_names_of_these_modules() -> None:
    made = syclade.simulate(3, 2, 0.1, 0.1, 0.0, 1)
    assert isinstance(made.parents, np.ndarray)
    assert syclade.read_matrix(EXAMPLE / "matrix.csv").n_cells == 40


COMMANDS = {
    "infer": "infer {} --fp-rate 0.1 --fn-rate 0.1",
    "convert": "convert {} --out out",
    "bootstrap": "bootstrap {} --resample cells --out out",
    "scite": "scite -i {} -n 2 -m 2 -r 1 -l 9 -fd 0.1 -ad 0.1",
    "folder": "batch m.csv --support none --out {}",
    "reference": "call -f {} -o x.vcf m.csv",
    "reads": f"call -f {ROOT / 'host/calls/example/reference.fa'} -o x.vcf {{}}",
    "h5ad": "infer {} --format h5ad",
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("path", "reason"),
    [("locked/x.csv", "Permission denied|no such file"), ("x" * 300, "File name too long")],
)
def test_paths_that_cannot_even_be_looked_at(
    path: str, reason: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's `Path.is_file` and others raise for them; a command says why it cannot use them."""
    look, make = os.stat, os.mkdir

    def refuse(place: Any, *more: Any, **named: Any) -> Any:
        if "locked/" in str(place):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        return look(place, *more, **named)

    def refuse_to_make(place: Any, *more: Any, **named: Any) -> None:
        if "locked/" in str(place):
            raise PermissionError(errno.EACCES, "Permission denied", str(place))
        make(place, *more, **named)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.csv").write_text("0 1\n1 0\n")
    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setattr(os, "mkdir", refuse_to_make)
    called = call(words.format(path).split())
    assert called.status == 2
    assert re.search(reason, called.messages)
