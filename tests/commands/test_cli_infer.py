"""``syclade infer``, end to end: files, rejected options, and the results of an interrupted run."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.convergence import StoppingRule
from syclade.host.commands import main as main_module
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.treefile import read_tree
from syclade.host.ground.errors import OptionError
from tests.conftest import ROOT
from tests.test_inference import RUN_FIELDS, SUMMARY_FIELDS

EXAMPLE = ROOT / "host" / "data" / "example"
MATRIX, NAMES = EXAMPLE / "matrix.csv", EXAMPLE / "matrix.geneNames"
RATES = ["--fp-rate", "0.001", "--fn-rate", "0.2"]
QUICK = [*RATES, "--chains", "2", "--steps", "60", "--device", "numpy", "--encoding", "ancestor"]
FILES = {"cells.tsv", "tree.newick", "tree.gv", "attachments.tsv", "summary.json", "run.json"}
PROGRAM = [sys.executable, "-c", "from syclade.__main__ import main; main()"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(argument) for argument in arguments])
        assert isinstance(caught.value.code, int)
        return (caught.value.code, *capsys.readouterr())

    return run


# ---- output files


@pytest.mark.parametrize(
    "device", ["numpy", *(pytest.param(name, marks=pytest.mark.sycl) for name in ("auto", "cpu", "fpga-emu"))]
)
def test_files(run: Any, tmp_path: Path, device: str) -> None:
    out = tmp_path / "new" / "folder"
    options = [*QUICK, "--names", NAMES, "--device", device, "--seed", 9, "--slots", 1, "--out", out]
    status, printed, _ = run("infer", MATRIX, *options)
    assert status == 0
    assert {path.name for path in out.iterdir()} == FILES
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary) == SUMMARY_FIELDS
    own = json.loads((out / "run.json").read_text())
    assert set(own) == RUN_FIELDS
    assert own["options"]["encoding"] == "ancestor"
    assert own["options"]["names"] == str(NAMES)
    assert (summary["chains"], summary["steps"], summary["seed"], own["slots"]) == (2, 60, 9, 1)
    assert summary["mutations"] == NAMES.read_text().split()
    assert (summary["n_mutations"], summary["n_cells"]) == (20, 40)
    assert own["device_name"] in printed
    assert f"log-likelihood {summary['log_likelihood']:.6f}" in printed
    assert len((out / "attachments.tsv").read_text().splitlines()) == 1 + 40
    assert "40 cells at " in printed
    parents = np.array(summary["parents"], np.int32)
    for name in ("tree.newick", "tree.gv"):
        assert name in printed
        np.testing.assert_array_equal(read_tree(out / name, tuple(summary["mutations"])), parents)
    for name in ("tree.newick", "tree.gv"):
        status, printed, _ = run("score", MATRIX, out / name, "--names", NAMES, *RATES)
        assert (status, float(printed)) == (0, summary["log_likelihood"])


def test_names_of_several_words(run: Any, tmp_path: Path) -> None:
    """Check that every file has the names unchanged, and that they can be read back."""
    named = [f"{name} p.{'ab, c;'[number % 6]}" for number, name in enumerate(NAMES.read_text().split())]
    names, out = tmp_path / "names", tmp_path / "out"
    names.write_text("\n".join(named) + "\n")
    assert run("infer", MATRIX, *QUICK, "--names", names, "--out", out)[0] == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["mutations"] == [name.strip() for name in named]
    for name in ("tree.newick", "tree.gv"):
        status, score, _ = run("score", MATRIX, out / name, "--names", names, *RATES)
        assert (status, float(score)) == (0, summary["log_likelihood"])
    with (out / "attachments.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {row["node"] for row in rows} <= {*summary["mutations"], "root"}


def test_the_settings_reach_the_chain(run: Any, tmp_path: Path) -> None:
    more = ["--gamma", "2.5", "--move-probs", "0", "1", "0", "--out", tmp_path]
    assert run("infer", MATRIX, *QUICK, *more)[0] == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    expected = syclade.infer(
        MATRIX,
        fp_rate=0.001,
        fn_rate=0.2,
        chains=2,
        steps=60,
        gamma=2.5,
        move_probabilities=(0, 1, 0),
        device="numpy",
    )
    assert summary["parents"] == expected.parents.tolist()
    assert summary["gamma"] == 2.5
    assert set(summary["moves"]) == {"swap labels"}


def test_without_a_folder_the_tree_is_printed(run: Any, tmp_path: Path) -> None:
    status, printed, _ = run("infer", MATRIX, *QUICK)
    assert status == 0
    newick = printed.splitlines()[-1]
    (tmp_path / "tree.newick").write_text(newick)
    status, score, _ = run("score", MATRIX, tmp_path / "tree.newick", *RATES)
    assert status == 0
    assert f"log-likelihood {float(score):.6f}" in printed


def test_quiet_prints_one_number(run: Any, tmp_path: Path) -> None:
    status, printed, report = run("infer", MATRIX, *QUICK, "--quiet", "--out", tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (status, printed) == (0, f"{summary['log_likelihood']!r}\n")
    assert [line for line in report.splitlines() if "warning: " not in line] == []


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["--chains", 1], "warning: one chain cannot show"),
        (["--chains", 4, "--steps", 3], "warning: the chains do not agree"),
        (["--chains", 4, "--steps", 3, "--samples", 1, "--burn-in", 0], "warning: the chains do not agree"),
    ],
)
def test_doubts_are_told_on_standard_error(
    run: Any, monkeypatch: pytest.MonkeyPatch, quiet: list[str], settings: list[object], words: str
) -> None:
    """Cover also a single chain that stops by itself."""
    soon = partial(StoppingRule, round_steps=20, least_steps=40)
    monkeypatch.setattr("syclade.host.chains.convergence.StoppingRule", soon)
    options = [*RATES, "--device", "native", *settings, *quiet]
    status, printed, report = run("infer", MATRIX, *options)
    assert status == 0
    assert words in report
    assert "warning" not in printed


def test_chains_that_agree_are_not_doubted(run: Any, tmp_path: Path) -> None:
    tiny = tmp_path / "tiny.csv"
    tiny.write_text("1 1 0\n0 1 1\n")
    options = [*RATES, "--device", "numpy", "--chains", 4, "--steps", 60, "--out", tmp_path]
    _, _, report = run("infer", tiny, *options, "--quiet")
    assert report == ""
    assert json.loads((tmp_path / "summary.json").read_text())["converged"] is True


@pytest.mark.sycl
def test_the_choice_of_device_is_told(run: Any) -> None:
    _, _, report = run("infer", MATRIX, *QUICK, "--device", "auto")
    assert "the best usable kind is cpu" in report
    _, _, report = run("infer", MATRIX, *QUICK, "--device", "auto", "--quiet")
    assert "device" not in report


def test_files_are_replaced_only_when_forced(run: Any, tmp_path: Path) -> None:
    assert run("infer", MATRIX, *QUICK, "--out", tmp_path)[0] == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    started = time.perf_counter()
    status, _, report = run("infer", MATRIX, *QUICK, "--steps", 10**9, "--out", tmp_path)
    assert time.perf_counter() - started < 5, "refused before the work, not after it"
    assert status == 2
    assert "already has tree.newick, tree.gv, attachments.tsv, summary.json, run.json, cells.tsv" in report
    assert "--force" in report
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert run("infer", MATRIX, *QUICK, "--seed", 5, "--out", tmp_path, "--force")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert (tmp_path / "summary.json").read_bytes() != before["summary.json"]


# ---- rejected options and inputs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--fp-rate", "0"], "'--fp-rate': 0 is not between 0 and 1"),
        (["--fn-rate", "1"], "'--fn-rate': 1 is not between 0 and 1"),
        (["--fp-rate", "0.6", "--fn-rate", "0.6"], "add up to 1 or more"),
        (["--fp-rate", "0.4999999", "--fn-rate", "0.5"], "add up to nearly 1"),
        (["--chains", "0"], "'--chains'"),
        (["--steps", "many"], "'--steps'"),
        (["--slots", "0"], "'--slots'"),
        (["--seed", "18446744073709551616"], "'--seed'"),
        (["--gamma", "0"], "'--gamma': 0.0 is not in the range"),
        (["--move-probs", "0", "0", "0"], "all move probabilities are 0"),
        (["--move-probs", "1", "-1", "1"], "are not 3 numbers >= 0"),
        (["--names", "no-such-file"], "no-such-file"),
        (["--names", str(MATRIX)], "names"),
        (["--device", "nonsense"], "there is no device 'nonsense'"),
        (["--device", "fpga"], "there is no device 'fpga'"),
        (["--out", str(MATRIX)], "is a file, not a directory"),
        (["--out", ""], "'--out': the name is empty"),
        (["--names", ""], "'--names': the name is empty"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_refused_settings(run: Any, change: list[str], words: str) -> None:
    status, printed, report = run("infer", MATRIX, *QUICK, *change)
    assert (status, printed) == (2, "")
    assert words in report
    assert "Traceback" not in report
    errors = [line for line in report.splitlines() if "rror: " in line]
    assert len(errors) == 1


@pytest.mark.parametrize(
    ("given", "keywords", "words"),
    [
        (["--chains", "2", "--support", "quick"], {"chains": 2, "support": "quick"}, "--support quick"),
        (
            ["--fn-rate-hom", "0.1", "--hom-rate", "0.01", "--dropout", "per-mutation"],
            {"fn_rate_hom": 0.1, "hom_rate": 0.01, "dropout": "per-mutation"},
            "--dropout per-mutation",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_alike(
    run: Any, tmp_path: Path, given: list[str], keywords: dict[str, Any], words: str
) -> None:
    """In Python as by the command, which leaves no folder."""
    out = tmp_path / "out"
    status, _, err = run("infer", MATRIX, *RATES, *given, "--out", out)
    assert (status, out.exists()) == (2, False)
    assert words in err
    with pytest.raises(OptionError, match=words):
        syclade.infer(MATRIX, fp_rate=0.001, fn_rate=0.2, **keywords)


def test_unknown_choices_are_refused() -> None:
    """An option is checked even where the run would not use it."""
    for name in ("dropout", "support", "start", "stages"):
        keywords: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "support": "none", name: "other"}
        with pytest.raises(OptionError, match=f"--{name} is 'other'"):
            syclade.infer(MATRIX, **keywords)


def test_given_rates_that_the_matrix_contradicts(run: Any, tmp_path: Path) -> None:
    made = simulate(60, 20, 0.06, 0.3, 0.1, seed=1)
    place = tmp_path / "matrix.csv"
    np.savetxt(place, made.matrix.values, fmt="%d")
    words = ("infer", place, "--device=native", "--support=none", "--fn-rate", "0.3", "--fp-rate")
    assert "the matrix contradicts --fp-rate 0.001: --fp-rate 0.0" in run(*words, "0.001")[2]
    assert "contradicts" not in run(*words, "0.06")[2]


def test_a_missing_matrix(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "absent.csv"
    status, printed, report = run("infer", path, *QUICK, "--out", tmp_path / "out")
    assert (status, printed) == (2, "")
    assert report.startswith(f"syclade: error: {path}: ")


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("0 1\n2 1\n", ":2: ", "--merge-homozygous"),
        ("0 -2\n", ":1:3: ", "3"),
        ("0 1\n0\n", ":2", ""),
        ("", "", ""),
    ],
)
def test_bad_matrices(run: Any, tmp_path: Path, text: str, place: str, hint: str) -> None:
    path = tmp_path / "matrix.csv"
    path.write_text(text)
    status, printed, report = run("infer", path, *QUICK)
    assert (status, printed) == (2, "")
    error, *hints = report.splitlines()
    assert error.startswith(f"syclade: error: {path}{place}")
    assert hint in "\n".join(hints)


# ---- interrupted


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, sends SIGINT")
@pytest.mark.parametrize("device", ["numpy", pytest.param("cpu", marks=pytest.mark.sycl)])
def test_an_interruption_leaves_the_best_tree_so_far(run: Any, tmp_path: Path, device: str) -> None:
    warm = [*QUICK, "--device", device, "--quiet"]
    assert run("infer", MATRIX, *warm)[0] == 0
    out, kept = tmp_path / "out", tmp_path / "kept"
    command = [*PROGRAM, "infer", str(MATRIX), *QUICK, "--device", device, "--steps", "1000000000"]
    command += ["--checkpoint", str(kept), "--checkpoint-every", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "--out", str(out)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background jobs ignore SIGINT, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        deadline = time.monotonic() + 60
        while not kept.exists() and time.monotonic() < deadline:  # until the chains run
            time.sleep(0.05)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        interrupted = time.monotonic()
        printed, report = process.communicate(timeout=20)
        assert time.monotonic() - interrupted < 10
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "stopping with the best tree so far" in report
    assert "Traceback" not in report
    assert "log-likelihood " in printed
    assert {path.name for path in out.iterdir()} == FILES
    assert json.loads((out / "summary.json").read_text())["interrupted"] is True


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "syclade", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"syclade {syclade.__version__}\n")


def test_the_last_line_has_the_time_of_all_parts(run: Any, tmp_path: Path) -> None:
    options = [*RATES, "--device", "native", "--genotypes", "--out", tmp_path]
    _, _, report = run("infer", MATRIX, *options)
    last = report.splitlines()[-1]
    total, *parts = (float(seconds) for seconds in re.findall(r"(\d+\.\d+) s\b", last))
    names = ("preparation", "tree", "support", "consensus", "genotypes", "files", "other")
    assert all(f"{name} " in last for name in names)
    assert len(parts) == len(names)
    assert sum(parts) == pytest.approx(total, abs=0.04)
    assert parts[-1] < 0.1 * total
    stages = json.loads((tmp_path / "run.json").read_text())["stages"]
    assert [f"{seconds:.2f}" for seconds in stages.values()] == [f"{one:.2f}" for one in parts[:5]]
