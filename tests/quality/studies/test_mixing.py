"""The study `mixing`: the command with small inputs, and its numbers by definition."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from syclade.quality.studies import ChainsOnInputs
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.mixing.result import Mixed, MixingStudy

PLAIN = Mixed(1, False, 1000, 2.0, 50.0, 1.01, 0.02, 9, 5.0, 10.0, 40.0)
BETTER = replace(PLAIN, guided=True, seconds=4.0, ess=400.0, tenth=20.0)


def study(*guided: Mixed) -> MixingStudy:
    found = [one for other in guided for one in (PLAIN, other)]
    return MixingStudy(tuple(found), ChainsOnInputs(10, 10, 4, 250, "native", 1))


def test_gains_are_geometric_means() -> None:
    both = study(BETTER, replace(BETTER, ess=100.0))
    assert both.gain(lambda one: one.ess) == pytest.approx(4.0)
    assert both.to_dict()["gain"]["ess_per_second"] == pytest.approx(2.0)
    assert "2.00 times" in repr(both)


def test_it_holds_where_log_likelihood_and_pairs_gain() -> None:
    assert study(BETTER).holds
    assert not study(replace(BETTER, ess=49.0)).holds
    assert not study(replace(BETTER, tenth=9.0)).holds


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    sizes = ["--cells=20", "--mutations=10", "--inputs=2", "--steps=4000"]
    with pytest.raises(SystemExit) as ended:
        run("mixing", *sizes, "--device=native", f"--out={out}")
    report = json.loads((out / "mixing.json").read_text())
    assert ended.value.code == (0 if report["holds"] else 1)
    assert [one["guided"] for one in report["found"]] == [False, True] * 2
    assert all(one["steps"] == 4 * 2000 and one["pairs"] > 0 for one in report["found"])
    assert all(one["worst"] <= one["tenth"] <= one["median"] for one in report["found"])
    table = (out / "mixing.md").read_text()
    assert table in capsys.readouterr().out
    assert table.count("\n") == 2 + 4
