"""`syclade bench`: what it measures and how it reports it. The speed itself is not tested."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.device.choice import choose_device
from syclade.host.device.device import NUMPY
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.quality.bench.measure import Timing, bench, measure, versions

TINY: dict[str, Any] = {"cells": 12, "mutations": 9, "seconds": 0.02, "repeats": 3}
TINY_OPTIONS = [
    "--encoding",
    "ancestor",
    "--cells",
    "12",
    "--mutations",
    "9",
    "--seconds",
    "0.02",
    "--repeats",
    "3",
]


def test_figures_by_hand() -> None:
    timings = (Timing(1000, 1.0, 2.0), Timing(1000, 0.5, 0.9), Timing(900, 0.3, 0.3))
    one = measure(NUMPY, "auto", slots=1, **TINY)
    measured = replace(one, timings=timings, versions={"python": "3"})
    assert measured.steps_per_second == 2000.0
    assert measured.ns_per_step == 500_000.0
    assert measured.cpu_ns_per_step == pytest.approx(900_000.0)
    report = json.loads(json.dumps(measured.as_dict()))
    assert (report["steps_per_second_min"], report["steps_per_second_max"]) == (1000.0, 3000.0)
    assert report["timings"][0] == {"steps": 1000, "seconds": 1.0, "cpu_seconds": 2.0, "joules": None}
    assert report["versions"] == {"python": "3"}


@pytest.mark.parametrize(
    "device",
    ["numpy", *(pytest.param(name, marks=pytest.mark.sycl) for name in ("cpu", "fpga-emu"))],
)
def test_measure(device: str) -> None:
    measured = measure(choose_device(device), "ancestor", slots=3, **TINY)
    assert (measured.kind, measured.slots, measured.encoding) == (
        device,
        3,
        "ancestor",
    )
    assert (measured.cells, measured.mutations, len(measured.timings)) == (12, 9, 3)
    assert 0 < measured.acceptance < 1
    assert measured.cpu_ns_per_step > 0
    for timing in measured.timings:
        assert timing.seconds >= 0.02
        assert timing.steps % (3 * measured.launch_steps) == 0 < timing.steps


def test_measure_chains_with_doublets() -> None:
    measured = measure(NUMPY, slots=2, doublets=0.2, **TINY)
    assert (measured.kind, measured.slots) == ("numpy", 2)
    assert measured.steps_per_second > 0


@pytest.mark.sycl
@pytest.mark.compiler
def test_circuits_are_measured(tmp_path: Path) -> None:
    """Separate and overlapping stages, and images of the fused kernel and of separate stages."""
    syclade.export(tmp_path, cells=12, mutations=9, steps=2, images=["cpu"])
    chain, stages = (str(tmp_path / f"{name}.cpu.image") for name in ("chain_steps", "stages"))
    for given, image in (
        (["--stages", "separate", "--device", "cpu"], None),
        (["--stages", "overlapping", "--device", "cpu"], None),
        (["--image", chain], chain),
        (["--stages", "separate", "--image", stages], stages),
    ):
        check_circuit(given, "opencl:cpu:0", image)
    text = CliRunner().invoke(cli, ["bench", "--image", chain, *TINY_OPTIONS[2:]]).output
    assert f"encoding ancestor, image {chain}" in text


def test_stages_are_measured_in_numpy() -> None:
    check_circuit(["--stages", "separate", "--device", "numpy"], "numpy", None)


def check_circuit(given: list[str], device: str, image: str | None) -> None:
    """Check the measurement that the command reports with these options."""
    size = TINY_OPTIONS[2:]
    done = CliRunner().invoke(cli, ["bench", *given, *size, "--slots", "3", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["device"], report["slots"], report["encoding"]) == (device, 3, "ancestor")
    assert (report["image"], report["stages"]) == (image, given[1] if given[0] == "--stages" else "fused")
    assert report["steps_per_second"] > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"doublets": 0.1}, "are for mutation trees with score max or sum"),
        ({"tree": "leaf"}, "are for mutation trees with score max or sum"),
        ({"encoding": "preorder"}, "runs the encoding ancestor"),
        ({"stages": "both"}, "--stages both cannot be measured"),
    ],
)
def test_what_no_circuit_has(change: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        bench("numpy", **(TINY | {"stages": "separate"} | change))


def test_circuits_are_measured_at_one_size() -> None:
    result = CliRunner().invoke(cli, ["bench", "--suite", "--stages", "separate"])
    assert isinstance(result.exception, OptionError)
    assert "--stages is for one size" in result.exception.message


def test_slots_by_default_are_those_of_many_chains() -> None:
    assert measure(NUMPY, "auto", cells=2, mutations=2, seconds=0.01, repeats=1).slots == 256


def test_a_measurement_from_python() -> None:
    made = bench("numpy", slots=2, tree="leaf", **TINY)
    assert (made.device, made.slots, len(made.timings)) == ("numpy", 2, 3)
    with pytest.raises(DeviceError, match="no device 'abacus'"):
        bench("abacus")


def test_versions() -> None:
    found = versions()
    assert (
        {"python", "syclade", "numpy"} <= set(found) <= {"python", "syclade", "numpy", "dpctl", "numba-dpex"}
    )


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": 0},
        {"seconds": float("nan")},
        {"seconds": math.inf},
        {"repeats": 0},
        {"cells": 0},
        {"cells": 10**20},
        {"slots": 10**20},
    ],
)
def test_refusals(change: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(change))):
        measure(NUMPY, "auto", **(TINY | change))


def test_a_run_has_a_launch_at_least() -> None:
    report = measure(NUMPY, "auto", **TINY | {"seconds": 1e-9}).as_dict()
    assert all(timing["steps"] > 0 for timing in report["timings"])
    assert report["ns_per_step"] > 0


def test_json() -> None:
    done = CliRunner().invoke(cli, ["bench", "--device", "numpy", "--slots", "4", "--json", *TINY_OPTIONS])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["device"], report["slots"], report["cells"], report["mutations"]) == ("numpy", 4, 12, 9)
    assert report["steps_per_second_min"] <= report["steps_per_second"] <= report["steps_per_second_max"]
    assert len(report["timings"]) == 3


def test_table() -> None:
    done = CliRunner().invoke(cli, ["bench", "--device", "numpy", "--slots", "4", *TINY_OPTIONS])
    assert done.exit_code == 0, done.output
    assert "ksteps/s" in done.stdout
    assert "12 cells x 9 mutations" in done.stdout
    assert "4 at once" in done.stdout
