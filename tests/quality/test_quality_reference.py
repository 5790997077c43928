"""`syclade quality reference` with a stand-in for SCITE: its arguments, resuming, and failures."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from syclade.host.commands import main as main_module
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rates import Rates
from syclade.quality.reference.folder import ReferenceFolderError, read_reference
from syclade.quality.reference.scite_log import logged_score
from syclade.quality.reference.scite_program import SciteError, SciteSettings, find_scite
from syclade.quality.reference.scores import ScoredInput, largest_discrepancy, score_reference
from tests.support.scite_stand_in import make_stand_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")

RATES = Rates(0.01, 0.2)


def close(scored: Sequence[ScoredInput]) -> bool:
    """Return whether our scores are those of the logs, which there are."""
    largest = largest_discrepancy(scored)
    return largest is not None and largest < 1e-9


@pytest.fixture
def scite(tmp_path: Path) -> Path:
    return make_stand_in(tmp_path / "bin")


@pytest.fixture
def make(scite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command, by default on three simulated inputs."""

    def make(*changes: object, program: object = scite, inputs: object = None) -> tuple[int, str]:
        source = ["--inputs", inputs] if inputs else ["--simulate", 3, "--cells", 7, "--mutations", 5]
        rates = ["--fp-rate", RATES.fp_rate, "--fn-rate", RATES.fn_rate]
        fixed = ["quality", "reference", "--scite", program, *source, *rates, "--out", tmp_path / "made"]
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(each) for each in [*fixed, *changes]])
        assert isinstance(caught.value.code, int)
        streams = capsys.readouterr()
        return caught.value.code, streams.out + streams.err

    return make


def calls(scite: Path) -> list[str]:
    path = scite.with_name("scite.calls")
    made = path.read_text().splitlines() if path.exists() else []
    path.write_text("")
    return made


def test_what_is_made_can_be_read(make: Any, scite: Path, tmp_path: Path) -> None:
    assert make("--steps", 50, "--chains", 2) == (
        0,
        f"3 inputs in {tmp_path / 'made'}, 0 of them done before\n",
    )
    folder = read_reference(tmp_path / "made")
    assert [each.name for each in folder.inputs] == ["01", "02", "03"]
    scored = score_reference(folder.inputs, RATES)
    assert close(scored)
    assert folder.settings["chains"] == 2
    assert folder.settings["steps"] == 50
    assert folder.settings["origin"] == {
        **{"kind": "simulation", "count": 3, "cells": 7, "mutations": 5, "missing": 0.25, "seed": 1}
    }
    assert len(folder.settings["scite"]["sha256"]) == 64
    assert folder.rate("fp_rate", None, 0.5) == RATES.fp_rate
    with pytest.raises(ReferenceFolderError, match=r"--fp-rate is 0\.3"):
        folder.rate("fp_rate", 0.3, 0.5)


def test_how_scite_is_called(make: Any, scite: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    make("--steps", 50, "--chains", 2, "--processes", 1)
    assert calls(scite)[1] == (
        f"-i {made}/inputs/02.csv -n 5 -m 7 -r 2 -l 50 -fd 0.01 -ad 0.2 -e 0 -move_probs 0.55 0.4 0.05 "
        f"-max_treelist_size 1 -seed 2 -o {made}/scite/02"
    )


def test_rates_for_zygosity(make: Any, scite: Path, tmp_path: Path) -> None:
    """The rates reach the simulation, SCITE, reference.json and thus the scores of the trees."""
    made = tmp_path / "made"
    rates = Rates(RATES.fp_rate, RATES.fn_rate, 0.3, 0.02)
    assert make("--fn-rate-hom", 0.3, "--hom-rate", 0.02, "--steps", 50)[0] == 0
    assert "-fd 0.01 -ad 0.2 0.3 -cc 0.02 -e 0" in calls(scite)[1]
    folder = read_reference(made)
    assert any((read_matrix(each.matrix).values == 2).any() for each in folder.inputs)
    assert folder.rate("hom_rate", None, None) == 0.02
    assert folder.rate("fn_rate_hom", 0.3, None) == 0.3
    assert close(score_reference(folder.inputs, rates))


def test_goes_on_where_it_stopped(make: Any, scite: Path, tmp_path: Path) -> None:
    wrong = scite.with_name("scite.wrong")
    wrong.write_text("crash")
    status, said = make("--processes", 1)
    assert status == 2
    assert "SCITE failed with exit status 3" in said
    assert "-seed 3" in said
    assert "cannot go on" in said
    assert len(calls(scite)) == 3
    with pytest.raises(ReferenceFolderError, match=r"no scite/03_ml0.newick, scite/03.log"):
        read_reference(tmp_path / "made")
    wrong.unlink()
    status, said = make()
    assert (status, len(calls(scite))) == (0, 1)
    assert "2 of them done before" in said
    assert not [path for path in (tmp_path / "made" / "scite").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("wrong", "words"), [("no tree", "wrote no 01_ml0.newick"), ("no score", "printed no score")]
)
def test_runs_that_leave_nothing_fail(make: Any, scite: Path, tmp_path: Path, wrong: str, words: str) -> None:
    scite.with_name("scite.wrong").write_text(wrong)
    status, said = make("--processes", 1)
    assert status == 2
    assert words in said
    assert not (tmp_path / "made" / "scite" / "01.log").exists()


def test_other_settings_need_force(make: Any, scite: Path, tmp_path: Path) -> None:
    make("--steps", 50)
    log = tmp_path / "made" / "scite" / "01.log"
    calls(scite)
    status, said = make("--steps", 60)
    assert (status, calls(scite)) == (2, [])
    assert "was made with another steps" in said
    assert log.exists()
    assert make("--steps", 60, "--force")[0] == 0
    assert len(calls(scite)) == 3
    settings = json.loads((tmp_path / "made" / "reference.json").read_text())
    assert settings["steps"] == 60


def test_another_matrix_needs_force(make: Any, scite: Path, tmp_path: Path) -> None:
    make()
    calls(scite)
    place = tmp_path / "made" / "inputs" / "02.csv"
    right = place.read_text()
    place.write_text("0 1\n1 0\n")
    status, said = make()
    assert status == 2
    assert f"{place} is another matrix" in said
    assert make("--force")[0] == 0
    assert place.read_text() == right
    assert [call.split()[1] for call in calls(scite)] == [str(place)]


def test_inputs_of_the_users_own(make: Any, scite: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for name in ("7", "b"):
        (own / f"{name}.csv").write_text("0 1 3\n1 1 0\n")
    assert make("--processes", 1, inputs=own)[0] == 0
    seeds = [call.split("-seed ")[1].split()[0] for call in calls(scite)]
    assert seeds == ["7", "2"]  # a number is its own seed; other names take their position in the list
    assert read_matrix(tmp_path / "made" / "inputs" / "b.csv").values.shape == (2, 3)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no *.csv" in make(inputs=empty)[1]


def test_programs_that_are_none(make: Any, tmp_path: Path) -> None:
    status, said = make(program=tmp_path / "nothing")
    assert status == 2
    assert f"there is no program {tmp_path / 'nothing'}" in said
    text = tmp_path / "text"
    text.write_text("hello")
    assert f"{text} is not executable" in make(program=text)[1]
    text.chmod(0o755)
    text.write_bytes(b"\x7fELF and no more")
    status, said = make(program=text)
    assert status == 2
    assert f"{text} does not start" in said
    assert "Traceback" not in said


def test_one_of_inputs_and_simulate(make: Any, tmp_path: Path) -> None:
    status, said = make("--inputs", tmp_path)
    assert status == 2
    assert "either --inputs or --simulate" in said


def test_a_run_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    stop = threading.Event()
    stop.set()
    program = find_scite(sleeper)
    arguments = program.arguments(SciteSettings(RATES, 1, 1), tmp_path / "x.csv", (1, 1), 1, tmp_path / "01")
    program.run(arguments, tmp_path / "01.log", tmp_path / "01_ml0.newick", stop)
    assert list(tmp_path.iterdir()) == [sleeper]


# ---- reading


def test_digits_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("best log score for tree:\t-5\nbest log score for tree:\t-268.587\n1 opt trees\n")
    assert logged_score(log).value == -268.587
    assert logged_score(log).half_unit == pytest.approx(5e-4)
    log.write_text("best log score for tree:\t-1.2e+03\n")
    assert (logged_score(log).value, logged_score(log).half_unit) == (-1200, 50)
    log.write_text("best log score for tree:\tnan\n")
    with pytest.raises(ReferenceFolderError, match="SCITE did not finish"):
        logged_score(log)
    with pytest.raises(ReferenceFolderError, match="cannot be read"):
        logged_score(tmp_path / "nothing")


def test_folders_that_are_none(make: Any, tmp_path: Path) -> None:
    with pytest.raises(ReferenceFolderError, match=r"has no inputs/\*.csv"):
        read_reference(tmp_path)
    make()
    settings = tmp_path / "made" / "reference.json"
    for text in ("{", "[]"):
        settings.write_text(text)
        with pytest.raises(ReferenceFolderError, match=r"reference\.json"):
            read_reference(tmp_path / "made")


def test_a_score_that_is_not_the_logged_one_is_refused(make: Any, tmp_path: Path) -> None:
    make()
    folder = read_reference(tmp_path / "made")
    with pytest.raises(ReferenceFolderError, match="input 01: SCITE's tree has the log-likelihood"):
        score_reference(folder.inputs, Rates(0.01, 0.21))
    log = folder.inputs[1].log
    assert log is not None
    exact = logged_score(log).value
    log.write_text(f"best log score for tree:\t{exact:.2f}\n")
    score_reference(folder.inputs, RATES)
    log.write_text(f"best log score for tree:\t{exact + 0.01:.2f}\n")
    with pytest.raises(ReferenceFolderError, match="input 02"):
        score_reference(folder.inputs, RATES)


def test_errors_of_scite_have_their_type(tmp_path: Path) -> None:
    with pytest.raises(SciteError, match="there is no program"):
        find_scite(tmp_path / "nothing")


@pytest.mark.shared
def test_logs_of_the_reference_have_our_scores(shared_dir: Path) -> None:
    folder = read_reference(shared_dir / "reference" / "tost64")
    scored = score_reference(folder.inputs, Rates(1e-6, 0.25))
    assert len(scored) == 64
    assert close(scored)
