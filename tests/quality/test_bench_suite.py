"""Suite and scaling of the benchmark: measurements and reports, on sizes that take no time."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import click
import pytest
from click.testing import CliRunner

from syclade.host.device.choice import choose_device
from syclade.host.device.device import NUMPY
from syclade.host.ground.errors import DeviceError, SycladeError
from syclade.quality import extras
from syclade.quality.bench import suite as bench_suite
from syclade.quality.bench.measure import measure
from syclade.quality.bench.suite import run_scaling, run_suite
from syclade.quality.bench.tables import scaling_figure, scaling_table, suite_table
from syclade.quality.cli.bench import command


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_suite, "SIZES", ((4, 3), (32, 31)))
    monkeypatch.setattr(bench_suite, "CELLS", (2, 4))
    monkeypatch.setattr(bench_suite, "MUTATIONS", (3,))
    monkeypatch.setattr(bench_suite, "SLOTS", (1, 2))


def test_the_suite_measures_every_size_and_encoding() -> None:
    written: list[dict[str, object]] = []
    reports = run_suite([NUMPY], seconds=0.01, repeats=1, done=written.append)
    assert reports == written
    assert [(report["cells"], report["encoding"]) for report in reports] == [
        (cells, encoding) for cells in (4, 32) for encoding in ("plain", "ancestor")
    ]
    assert [report["times_scite_core"] is None for report in reports] == [True, True, False, False]
    assert suite_table(reports).count("\n") == 1 + len(reports)


@pytest.mark.sycl
def test_a_device_is_measured_in_every_encoding() -> None:
    reports = run_suite([choose_device("cpu")], seconds=0.01, repeats=1, done=lambda _: None)
    measured = [(report["cells"], report["encoding"]) for report in reports]
    assert measured == [(cells, encoding) for cells in (4, 32) for encoding in ("preorder", "ancestor")]


def test_the_scaling_varies_one_thing_at_a_time() -> None:
    points = run_scaling(NUMPY, "auto", seconds=0.01, repeats=1, done=lambda _: None)
    axes = [(point.axis, point.value) for point in points if point.axis != "threads"]
    assert axes == [("cells", 2), ("cells", 4), ("mutations", 3), ("slots", 1), ("slots", 2)]
    assert next(point.value for point in points if point.axis == "threads") == 1
    assert all(point.report["steps_per_second"] > 0 for point in points)
    assert scaling_table(points).count("\n") == 1 + len(points)
    assert [axes.get_xlabel() for axes in scaling_figure(points).axes] == [
        "cells", "mutations", "slots", "threads"
    ]  # fmt: skip


def test_the_command_takes_one_of_them() -> None:
    result = CliRunner().invoke(command, ["--suite", "--scaling"])
    assert "one at a time" in str(result.exception)
    quick = ["--device", "numpy", "--seconds", "0.01", "--repeats", "1"]
    done = CliRunner().invoke(command, ["--suite", *quick])
    assert done.exit_code == 0
    assert "cells x mutations" in done.stdout


def test_a_plot_that_cannot_be_made_is_refused_before_all_measurements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*_: object, **__: object) -> None:
        raise AssertionError("measured before the plot was refused")

    def refusal(*options: str) -> str:
        done = CliRunner().invoke(command, ["--device", "numpy", "--plot", str(plot), *options])
        assert isinstance(done.exception, SycladeError)
        return str(done.exception)

    monkeypatch.setattr(bench_suite, "measure", measured)
    plot = tmp_path / "plot.png"
    assert "--plot is for --scaling" in refusal()
    plot.touch()
    assert "already has plot.png" in refusal("--scaling")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert "needs matplotlib" in refusal("--scaling", "--force")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processors cannot be chosen here")
def test_a_measurement_that_fails_in_its_process_is_told() -> None:
    with pytest.raises(DeviceError, match=r"with 1 threads fails: .*there is no device 'nonsense'"):
        bench_suite._with_threads(1, replace(NUMPY, filter="nonsense"), "auto", 0.01, 1)


def test_an_interrupted_suite_prints_what_it_has_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def interrupted(*given: Any, **settings: Any) -> Any:
        calls.append(settings["cells"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(*given, **settings)

    monkeypatch.setattr(bench_suite, "measure", interrupted)
    words = ["--suite", "--device", "numpy", "--seconds", "0.01", "--repeats", "1", "--json"]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert [report["cells"] for report in json.loads(done.stdout)] == [4, 4]
    assert "interrupted: 2 measurements, not all" in done.stderr


def test_an_interruption_before_any_measurement_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_suite, "measure", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(click.Abort):
        command.main(["--scaling", "--device", "numpy"], standalone_mode=False)
