"""Whole commands give the recorded files; on numpy if the package has no precompiled kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.inputs import Inputs
from tests.golden.record import compare, read_digests
from tests.golden.run import DEVICES, Run
from tests.golden.tables import RUNS


@pytest.mark.parametrize(
    "run", [pytest.param(run, marks=run.marks(run.usual), id=run.name) for run in RUNS.values()]
)
def test_run(run: Run, inputs: Inputs, tmp_path: Path) -> None:
    assert compare(run, run.usual, tmp_path / "run", inputs, read_digests()) == []


def test_every_run_is_recorded_and_no_other() -> None:
    assert list(read_digests()["runs"]) == sorted(RUNS)


def test_names_are_unique_and_the_table_is_large() -> None:
    known: dict[str, Any] = read_digests()["runs"]
    assert len(known) >= 60
    for name, run in RUNS.items():
        assert {run.usual, *run.also} <= set(run.devices) <= set(DEVICES), name
