"""`syclade quality all`, which `make quality` runs: its files, its table and its exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from syclade.host.commands import main as main_module
from syclade.quality.check_all import FILES
from tests.conftest import ROOT

FEW = ("--limit", 2, "--mutations", 3, "--samples", 6000)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    def run(*arguments: object) -> tuple[int, str]:
        given = ["quality", "all", "--device", "native", "--out", tmp_path / "out", *arguments]
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(each) for each in given])
        assert isinstance(caught.value.code, int)
        streams = capsys.readouterr()
        return caught.value.code, streams.out + streams.err

    return run


@pytest.mark.slow
def test_all_checks_hold(run: Any, tmp_path: Path) -> None:
    status, said = run(*FEW)
    assert status == 0, said
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    assert "all checks hold" in said
    for name in ("chain", "search"):
        report = json.loads((tmp_path / "out" / f"tost-{name}.json").read_text())
        assert (report["settings"]["method"], report["result"]["inputs"]) == (name, 2)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["holds"] is True
    assert [row["check"] for row in summary["checks"]] == [
        "best trees, 6 chains", "best trees, search", "posterior, 3 mutations"
    ]  # fmt: skip
    assert all(row["work"] == {"native": 1.0} for row in summary["checks"])
    assert run(*FEW)[0] == 2  # the files exist already


@pytest.mark.slow
def test_a_check_that_fails_shows_in_the_status_and_the_table(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: chains far too short to reach SCITE's trees."""
    monkeypatch.setattr("syclade.quality.figures.write_figure", lambda *_: None)
    status, said = run(*FEW, "--steps", 300)
    assert status == 1
    rows = [line.split("|")[1:-1] for line in said.splitlines() if line.startswith("| best")]
    assert [row[1].strip() for row in rows] == ["0 equal, 0 better, 2 worse", "2 equal, 0 better, 0 worse"]
    assert [row[-1].strip() for row in rows] == ["NOT SHOWN TO BE EQUIVALENT", "equivalent to SCITE"]
    assert "NOT ALL CHECKS HOLD" in said
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["holds"] is False


def test_make_quality_runs_it_and_git_ignores_its_folder() -> None:
    recipe = re.search(r"^quality:.*\n\t(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "$(BIN)/syclade quality all --out quality-out --force"
    assert "/quality-out/" in (ROOT / ".gitignore").read_text().splitlines()
