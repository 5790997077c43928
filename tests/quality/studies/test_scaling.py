"""The study `scaling`: the model, the published tables, and a tiny measurement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.quality.studies.arithmetic.visits import Visits
from syclade.quality.studies.scaling import runs
from syclade.quality.studies.scaling.api import scaling
from syclade.quality.studies.scaling.model import (
    BANDWIDTH,
    CACHE,
    Model,
    bytes_per_step,
    serial_share,
    slot_bytes,
)
from syclade.quality.studies.scaling.published import published, stored_speeds
from syclade.quality.studies.scaling.runs import CASES, Case


def test_published_tables() -> None:
    phi, epyc = published()
    assert phi.best == (61.3, 64, 256)
    assert epyc.best == (28.2, 8, 64)
    assert phi.row(1) == (1.0, 1.7, 2.7, 3.8, 4.7, 5.4, 5.8)
    assert epyc.row(32) == (*[None] * 10, 8.0, 9.9)
    assert all(len(table.row(tasks)) == len(table.cores) for table in (phi, epyc) for tasks in table.tasks)


def test_stored_speeds_are_of_measured_sizes() -> None:
    assert {one.input for one in stored_speeds()} <= {case.name for case in CASES}
    assert all(0 < one.steps[0] <= one.steps[1] for one in stored_speeds())


def test_serial_share() -> None:
    assert serial_share(10.0, 5.0) == 0.0
    assert serial_share(10.0, 10.0) == 1.0
    assert serial_share(10.0, 6.0) == pytest.approx(0.2)
    assert serial_share(10.0, 4.0) == 0.0


def test_model_is_amdahls_without_contention() -> None:
    model = Model(0.0, 0.2, 1e9, 1000)
    assert [model.slots(n) for n in (1, 2, 64)] == [1.0, 2.0, 64.0]
    assert model.divided(1) == 1.0
    assert model.divided(4) == pytest.approx(1 / (0.2 + 0.8 / 4))


def test_contention_is_that_of_two_cores() -> None:
    model = Model(0.25, 0.0, 1e9, 1000)
    assert model.slots(2) == pytest.approx(2 / 1.25)
    assert model.divided(2) == pytest.approx(2 / 1.25)


def test_bandwidth_limits_what_does_not_fit_into_the_cache() -> None:
    model = Model(0.0, 0.0, BANDWIDTH / 8, CACHE // 16)
    assert model.slots(16) == 16.0
    assert model.slots(32) == pytest.approx(8.0)
    assert model.divided(32) == 32.0
    assert Model(0.0, 0.0, BANDWIDTH / 8, 2 * CACHE).divided(32) == pytest.approx(8.0)


def test_bytes() -> None:
    assert bytes_per_step(Visits(path=3.0, children=5.0), 10) == 10 * (16 * 5 + 17 * 3)
    assert slot_bytes(99, 10) == 2 * 16 * 100 * 10


def measured_here(command: Sequence[str], threads: int) -> dict[str, Any]:
    """Run the command of a measurement in this process: each process begins by a second of imports."""
    done = CliRunner().invoke(cli, list(command[command.index("syclade") + 1 :]))
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_study_of_a_tiny_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "measured_in_subprocess", measured_here)
    found = scaling(cases=(Case("pat_2", 4, 32, 2),), seconds=0.02, repeats=1, device="numpy")
    report = json.loads(json.dumps(found.to_dict()))
    each = report["cases"][0]
    assert [speed["run"]["slots"] for speed in each["speeds"]] == [
        2 * count for count in range(1, 1 + len(each["speeds"]))
    ]
    assert each["speedups"][0] == each["efficiencies"][0] == 1.0
    assert each["half"]["run"]["cells"] == 16
    assert any("MODEL" in line for line in found.lines())
    assert any("| pat_2 | fixed rate" in line for line in found.lines())
    assert found.plot().axes
