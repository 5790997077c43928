"""The pipeline in C++ for Vitis HLS, compiled by g++: the bits of an ordinary run.

Stand-ins take the place of AMD's headers. If HLS_HEADERS names a folder with the real ones, they run, too.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from syclade.host.commands.export.hls.processes import hops
from tests.commands.export.hls.projects import (
    Simulation,
    assert_counts,
    export,
    needs_compiler,
    replace,
    zygosity,
)

pytestmark = needs_compiler

STUBS = Path(__file__).parent / "stubs" / "vitis"
HEADERS = [STUBS, *(Path(os.environ[name]) for name in ("HLS_HEADERS",) if name in os.environ)]


@pytest.mark.parametrize("headers", HEADERS, ids=["stand-ins", "real"][: len(HEADERS)])
def test_two_words_and_three_values(headers: Path, tmp_path: Path) -> None:
    given = zygosity(tmp_path, 70, 20)
    export(tmp_path / "p", "--hls", "vitis", *given, "--states", "24", "--steps", "20", "--chains", "30")
    status, report = Simulation(tmp_path / "p", "pipeline.cpp", headers).run("1", "6", "24", "1")
    assert status == 0
    assert [run["states"] for run in report["runs"]] == [1, 6, 24, 1]
    assert all(run["as_expected"] for run in report["runs"])
    assert (report["chains"], report["steps"], report["as_expected"]) == (30, 20, True)
    one, *others = report["runs"]
    assert one["most_stages_at_once"] == 1
    assert all((run["trips"], run["loops"]) == (one["trips"], one["loops"]) for run in others)
    assert_counts(one, nodes=72, cells=24, unroll=8, words=2, values=3)


def test_a_broken_stage_is_noticed(tmp_path: Path) -> None:
    """The test above runs whole ones."""
    size = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "3", "--steps", "40")
    export(tmp_path / "p", "--hls", "vitis", *size)
    replace(tmp_path / "p" / "stages.h", "proposed - current + own_threshold >= 0", "proposed - current >= 0")
    status, report = Simulation(tmp_path / "p", "pipeline.cpp", STUBS).run()
    assert status == 1
    assert "score" in report["runs"][0]["wrong"]
    assert not report["runs"][0]["as_expected"]


def test_pragmas_fit_what_they_mean(tmp_path: Path) -> None:
    export(tmp_path / "p", "--hls", "vitis", "--mutations", "5", "--cells", "6", "--steps", "5")
    lines = [line.strip() for line in (tmp_path / "p" / "stages.h").read_text("utf-8").splitlines()]
    after = dict(pairwise(lines))
    assert after["for (i64 node = 0; node < NODES; node++) {"] == "#pragma HLS unroll factor=UNROLL"
    assert after["for (i64 value = 0; value < VALUES; value++) {"] == "#pragma HLS unroll"
    assert after["for (i64 cell = 0; cell < CELLS; cell++) {"] == "TRIP();"
    before = {line: label for label, line in pairwise(lines)}
    assert before["for (i64 node = 0; node < NODES; node++) {"] == "share_of_node:"
    assert before["for (i64 cell = 0; cell < CELLS; cell++) {"] == "ancestor_score_mapping_cell:"
    pipeline = (tmp_path / "p" / "pipeline.cpp").read_text("utf-8")
    assert "#pragma HLS dataflow" in pipeline
    assert pipeline.count("#pragma HLS stream variable=") == len(hops())
