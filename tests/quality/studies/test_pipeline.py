"""The study `pipeline`: projects of small trees by the command, and what makes it fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.host.ground.errors import OptionError
from syclade.quality.studies.__main__ import run
from syclade.quality.studies.pipeline.projects import Project
from syclade.quality.studies.pipeline.result import Built, Pipelines
from tests.commands.export.hls.projects import needs_compiler


def built(**changes: object) -> Built:
    """Return a project whose runs with 6 states are faster than those with one, in turns."""
    given = {"flavour": "vitis", "nodes": 16, "build_seconds": 1.0, "as_expected": True, "as_chains": True}
    rates = {1: (10.0, 20.0, 20.0), 6: (20.0, 30.0, 60.0)}
    at_once = {1: (1.0, 1), 6: (1.2, 3)}
    return Built(**{**given, "steps": 5, "rates": rates, "at_once": at_once, **changes})  # type: ignore[arg-type]


def test_ratios_are_of_runs_of_the_same_turn() -> None:
    assert built().ratio(6) == (1.5, 2.0, 3.0)


def test_it_holds_only_if_all_is_as_expected() -> None:
    ended, noticed = {"vitis": 64}, {"vitis": True}
    assert Pipelines((built(),), ended, noticed, {}, {}).holds
    for wrong in (
        Pipelines((built(), built(as_expected=False)), ended, noticed, {}, {}),
        Pipelines((built(as_chains=False),), ended, noticed, {}, {}),
        Pipelines((built(),), {"vitis": 63}, noticed, {}, {}),
        Pipelines((built(),), ended, {"vitis": False}, {}, {}),
    ):
        assert not wrong.holds


def test_no_headers_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syclade.quality.studies.pipeline.projects._STAND_INS", tmp_path / "none")
    with pytest.raises(OptionError, match="there are no headers in"):
        Project.exported("oneapi", tmp_path / "p", cells=6, mutations=5)
    assert not (tmp_path / "p").exists()


@needs_compiler
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--nodes=6", "--flavour=vitis", "--steps=10", "--turns=2"]
    with pytest.raises(SystemExit) as ended:
        run("pipeline", *given, f"--out={tmp_path}")
    assert ended.value.code == 0
    told = json.loads((tmp_path / "pipeline.json").read_text())
    (project,) = told["built"]
    assert (project["nodes"], project["as_expected"], project["as_chains"]) == (6, True, True)
    assert project["steps"] == 48 * 10 * 3 * 3
    assert [len(project["rates"][states]) for states in ("1", "6", "24")] == [2, 2, 2]
    assert project["at_once"]["1"] == [1.0, 1]
    assert (told["ended"], told["noticed"]) == ({"vitis": 64}, {"vitis": True})
    assert (tmp_path / "pipeline.png").read_bytes().startswith(b"\x89PNG")
    assert "1 to 64 states in flight end as expected: vitis 64 of 64" in capsys.readouterr().out
