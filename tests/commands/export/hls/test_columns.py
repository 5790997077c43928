"""The column unit in OpenCL, for Vitis HLS and for oneAPI: the bits of numpy, and no standstill."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import syclade
from syclade.host.calls.tails import log_tails
from syclade.host.commands.export.api import random_columns
from syclade.host.commands.export.hls.column_unit import PROCESSES, STREAMS, column_functions
from syclade.host.commands.export.hls.opencl_device import read_vectors
from syclade.host.commands.export.hls.project import no_lines
from syclade.host.commands.main import cli
from syclade.host.ground.errors import OptionError
from syclade.kernels.tails import arithmetic, pairs
from tests.commands.export.hls.c_library import Library, needs_gcc
from tests.commands.export.hls.projects import Simulation, export, needs_compiler, replace

STUBS = Path(__file__).parent / "stubs"
COLUMNS, SEED = 6, 3


def unit(folder: Path, flavour: str, block: int, elements: int) -> Path:
    """Export a column unit."""
    sizes = ("--columns", str(COLUMNS), "--block", str(block), "--unroll", str(elements))
    export(folder / "unit", "--tails", "--hls", flavour, *sizes, "--seed", str(SEED))
    return folder / "unit"


def counts(folder: Path, block: int, elements: int) -> dict[str, Any]:
    """Return what the processing elements count, from the columns alone."""
    vectors = read_vectors(folder / "vectors.bin")
    passes = cleared = updated = 0
    for trials, at_least in zip(vectors["sizes"].tolist(), vectors["at_least"].tolist(), strict=True):
        for low in range(0, at_least + 1, block):
            entries = min(block, at_least + 1 - low)
            cleared += math.ceil(entries / elements)
            for n in range(max(0, low - 1), trials):
                passes += 1
                updated += math.ceil(min(n - low + 2, entries) / elements)
    return {"passes": passes, "iterations": {"clear_block_k": cleared, "process_trial_k": updated}}


@needs_compiler
@pytest.mark.parametrize(("block", "elements"), [(9, 4), (2, 1), (4096, 8)])
def test_vitis(block: int, elements: int, tmp_path: Path) -> None:
    folder = unit(tmp_path, "vitis", block, elements)
    status, report = Simulation(folder, "columns.cpp", STUBS / "vitis").run()
    assert (status, report["wrong"]) == (0, [])
    counted = counts(folder, block, elements)
    assert {name: report[name] for name in counted} == counted
    assert (report["block"], report["elements"], report["columns"]) == (block, elements, COLUMNS)
    if block == 9:
        assert_counts_beside_the_model(report, tmp_path)


def assert_counts_beside_the_model(report: dict[str, Any], folder: Path) -> None:
    """Check what `syclade design` says of a report: of blocks of 9 bases by 4 elements."""
    path = folder / "report.json"
    path.write_text(json.dumps(report), "utf-8")
    ran = CliRunner().invoke(cli, ["design", "I/S/8", "--measured", str(path), "--json"])
    (found,) = json.loads(ran.output)["measured"]
    bases = list(zip(report["sizes"], report["at_least"], strict=True))
    assert (found["bases"], found["pes"], found["block"]) == (sum(report["sizes"]), 4, 9)
    assert found["modelled_passes"] == sum(n * math.ceil((k + 1) / 9) for n, k in bases)
    of_block = [(n, min(9, k + 1 - low)) for n, k in bases for low in range(0, k + 1, 9)]
    assert found["modelled_iterations"] == sum(n * math.ceil(entries / 4) for n, entries in of_block)
    assert found["cycles"] == found["iterations"] + (90 - 1) * found["passes"]
    assert found["passes"] < found["modelled_passes"]
    for design, content, part in (
        ("O/D/8", json.dumps(report), "inner"),
        ("column-units", json.dumps(report), "one design"),
        ("I/S/8", "{}", "no block"),
        ("I/S/8", "no JSON", "cannot read"),
    ):
        path.write_text(content, "utf-8")
        refused = CliRunner().invoke(cli, ["design", design, "--measured", str(path)])
        assert part in str(refused.exception), design


@needs_compiler
def test_no_standstill_with_the_shortest_pipes(tmp_path: Path) -> None:
    folder = unit(tmp_path, "oneapi", 9, 4)
    source = folder / "columns.cpp"
    text = source.read_text("utf-8")
    for stream in STREAMS:
        pipe = f"Stream<{stream.name}_id, {stream.type}, "
        assert f"{pipe}{stream.depth}>" in text
        text = text.replace(f"{pipe}{stream.depth}>", f"{pipe}1>")
    source.write_text(text, "utf-8")
    status, report = Simulation(folder, "columns.cpp", STUBS / "oneapi", "-DCOUNT").run(timeout=60)
    assert (status, report["wrong"]) == (0, [])
    assert report["passes"] == counts(folder, 9, 4)["passes"]


@needs_compiler
def test_a_broken_function_is_noticed(tmp_path: Path) -> None:
    folder = unit(tmp_path, "vitis", 9, 4)
    replace(folder / "functions.h", "#define LN2 0.6931471805599453\n", "#define LN2 0.6931471805599452\n")
    status, report = Simulation(folder, "columns.cpp", STUBS / "vitis").run()
    assert status == 1
    assert report["wrong"]


@pytest.mark.sycl
@pytest.mark.emulator
def test_opencl_on_the_emulator(tmp_path: Path) -> None:
    folder = unit(tmp_path, "opencl", 9, 4)
    command = [sys.executable, str(folder / "run_columns.py"), "--timeout", "60", "--trace"]
    one_thread = {**os.environ, "DPCPP_CPU_NUM_CUS": "1"}
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=one_thread)
    assert made.returncode == 0, made.stderr
    report = json.loads(made.stdout)
    counted = counts(folder, 9, 4)
    assert {name: report[name] for name in counted} == counted


def test_golden_columns_are_those_of_the_default_kernel(tmp_path: Path) -> None:
    """Another algorithm gives the same tails, apart from roundings."""
    vectors = read_vectors(unit(tmp_path, "opencl", 9, 4) / "vectors.bin")
    assert vectors["run"].tolist() == [COLUMNS]
    wanted = log_tails(random_columns(COLUMNS, SEED), device="numpy").log_tails
    np.testing.assert_allclose(vectors["expected_log_tail"].view(np.float64), wanted, rtol=1e-11)


def test_streams_and_processes_fit() -> None:
    names = {process.name for process in PROCESSES}
    for stream in STREAMS:
        assert {stream.sender, stream.receiver} <= names
        sender, receiver = (
            next(one for one in PROCESSES if one.name == name) for name in (stream.sender, stream.receiver)
        )
        assert f"WRITE({stream.name}, " in sender.body
        assert f", {stream.name})" in receiver.body or stream.name == f"columns_to_{receiver.name}"


REALS: dict[str, tuple[Callable[..., Any], Any]] = {
    "exp": (arithmetic.exp.function, (st.floats(-40, 0),)),
    "log1p": (arithmetic.log1p.function, (st.floats(-0.999999, -1e-200),)),
    "log_sum_exp": (
        pairs.log_sum_exp.function,
        (st.floats(-1e5, 0), st.floats(-1e-12, 1e-12), st.floats(-1e5, 0), st.floats(-1e-12, 1e-12)),
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    program = column_functions(no_lines, no_lines)
    return Library(program, {"BLOCK": 9, "ELEMENTS": 4}, tmp_path_factory.mktemp("c"))


@needs_gcc
@pytest.mark.parametrize("name", REALS)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_functions_of_reals(library: Library, name: str, data: st.DataObject) -> None:
    python, strategies = REALS[name]
    arguments = [np.float64(data.draw(one)) for one in strategies]
    function = next(
        one for (source, *_), one in library.program.functions.items() if source is python and one.text
    )
    found, wanted = library.call(function, arguments), python(*arguments)
    as_list = [float(one) for one in (wanted if isinstance(wanted, tuple) else [wanted])]
    assert list(found if isinstance(found, tuple) else [found]) == as_list


def test_refusals(tmp_path: Path) -> None:
    folder, runner = str(tmp_path / "unit"), CliRunner()
    for options, part in {
        ("--tails", "--hls", "opencl", "--states", "3"): "--states does not go with --tails",
        ("--tails", "--hls", "opencl", "--with-image", "cpu"): "--with-image does not go with --tails",
        ("--tails", "--block", "8"): "--block goes with --hls only",
        ("--hls", "vitis", "--cells", "5", "--mutations", "5", "--block", "8"): "--block goes with --tails",
        ("--tails", "--hls", "vitis", "--block", "1"): "2 to",
    }.items():
        result = runner.invoke(cli, ["export", folder, *options])
        assert part in result.output + str(result.exception), options
    with pytest.raises(OptionError, match="no flavour"):
        syclade.export(folder, tails=True, hls="verilog")
    assert not Path(folder).exists()
