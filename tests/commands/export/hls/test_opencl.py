"""The pipeline in OpenCL C on the FPGA emulator: the bits of an ordinary run, and no standstill."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.ground.errors import OutputError
from tests.commands.export.hls.projects import export, replace, run_opencl, zygosity

on_emulator = [pytest.mark.sycl, pytest.mark.emulator]


@pytest.mark.usefixtures("tmp_path")
class TestOnTheEmulator:
    """Programs take seconds to compile there: each has several runs."""

    pytestmark = on_emulator

    def test_two_words_and_three_values(self, tmp_path: Path) -> None:
        given = zygosity(tmp_path, 70, 20)
        export(tmp_path / "p", "--hls", "opencl", *given, "--states", "24", "--steps", "60", "--chains", "30")
        status, report, said = run_opencl(tmp_path / "p", "--states", "1", "--states", "6", "--states", "24")
        assert status == 0, said
        assert [run["states"] for run in report["runs"]] == [1, 6, 24]
        assert (report["chains"], report["steps"], report["as_expected"]) == (30, 60, True)

    def test_no_standstill_with_any_number_of_states(self, tmp_path: Path) -> None:
        size = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "64", "--steps", "5")
        export(tmp_path / "p", "--hls", "opencl", *size, "--chains", "66")
        counts = [argument for count in range(1, 65) for argument in ("--states", str(count))]
        status, report, said = run_opencl(tmp_path / "p", "--trace", *counts)
        assert status == 0, said
        first, *others = report["runs"]
        assert len(others) == 63
        # Rows 6, cells 6, words 1, values 2; propose: 10 rounds of Philox, 2 moves, 6 digits, 2 x 6 rows.
        assert first["trips"] == {
            "propose": 30,
            "find_parent": 1,
            "tree_update": 1 + 6,
            "score_mapping": 6 * (1 + 6 * (1 + 2 * (1 + 1))),
            "reduction": 10 + 6 * (1 + 6) + 1 + 10 + 1 + 6,
        }
        assert first["stages_at_once"] == 1
        assert 1 <= first["most_stages_at_once"] <= max(run["most_stages_at_once"] for run in others) <= 5

    def test_a_broken_stage_and_a_short_channel_are_noticed(self, tmp_path: Path) -> None:
        size = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "3", "--steps", "40")
        export(tmp_path / "p", "--hls", "opencl", *size)
        replace(
            tmp_path / "p" / "stages.h", "proposed - current + own_threshold >= 0", "proposed - current >= 0"
        )
        status, report, _ = run_opencl(tmp_path / "p")
        assert status == 1
        assert "score" in report["runs"][0]["wrong"]


def test_the_refusals_of_the_command(tmp_path: Path) -> None:
    folder, runner = str(tmp_path / "p"), CliRunner()
    sizes = ["--mutations", "5", "--cells", "6"]
    for given, part in {
        ("--states", "3"): "--states goes with --hls only",
        ("--unroll", "3"): "--unroll goes with --hls only",
        ("--hls", "opencl", "--with-image", "cpu"): "--with-image does not go with --hls",
        ("--hls", "opencl", "--tails"): "--hls does not go with --tails",
        ("--hls", "verilog"): "Invalid value for '--hls'",
        ("--hls", "opencl", "--states", "1000000000"): "the limit is",
    }.items():
        result = runner.invoke(cli, ["export", folder, *([] if "--tails" in given else sizes), *given])
        assert part in result.output + str(result.exception), given
        assert not list(Path(folder).glob("*"))
    assert runner.invoke(cli, ["export", folder, "--hls", "opencl", *sizes, "--steps", "3"]).exit_code == 0
    result = runner.invoke(cli, ["export", folder, "--hls", "opencl", *sizes])
    assert isinstance(result.exception, OutputError)
    assert "--force" in str(result.exception)
