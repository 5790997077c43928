"""The pipeline in OpenCL C on the FPGA emulator: the bits of an ordinary run, and no standstill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.commands.export.hls.opencl_device import read_vectors
from syclade.host.commands.main import cli
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError, OutputError
from tests.commands.export.hls.projects import assert_counts, export, replace, run_opencl, zygosity
from tests.support.backends import Backend

on_emulator = [pytest.mark.sycl, pytest.mark.emulator]


class TestOnTheEmulator:
    """Programs take seconds to compile there: each has several runs."""

    pytestmark = on_emulator

    def test_two_words_and_three_values(self, tmp_path: Path) -> None:
        given = zygosity(tmp_path, 70, 20)
        export(tmp_path / "p", "--hls", "opencl", *given, "--states", "12", "--steps", "40", "--chains", "14")
        status, report, said = run_opencl(tmp_path / "p", "--states", "1", "--states", "12")
        assert status == 0, said
        assert [run["states"] for run in report["runs"]] == [1, 12]
        assert (report["chains"], report["steps"], report["as_expected"]) == (14, 40, True)

    @pytest.mark.parametrize(
        "counts",
        [
            (1, 2, 3, 4, 5, 6, 7, 17, 33, 63, 64),
            pytest.param(range(1, 65), marks=pytest.mark.verification),
        ],
        ids=["some", "all"],
    )
    def test_no_standstill_with_any_number_of_states(self, counts: Sequence[int], tmp_path: Path) -> None:
        size = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "64", "--steps", "5")
        export(tmp_path / "p", "--hls", "opencl", *size, "--chains", "66")
        given = [argument for count in counts for argument in ("--states", str(count))]
        status, report, said = run_opencl(tmp_path / "p", "--trace", *given)
        assert status == 0, said
        first, *others = report["runs"]
        assert len(others) == len(counts) - 1
        # Rows 6, cells 6, words 1, values 2; propose: 10 rounds of Philox, 2 moves, 6 digits, 2 x 6 rows.
        assert first["trips"] == {
            "propose": 30,
            "find_parent": 1,
            "tree_update": 1 + 6,
            "score_mapping": 6 * (1 + 6 * (1 + 2 * (1 + 1))),
            "reduction": 10 + 6 * (1 + 6) + 1 + 10 + 1 + 6,
        }
        assert_counts(first, nodes=6, cells=6, unroll=2)
        assert first["stages_at_once"] == 1
        assert 1 <= first["most_stages_at_once"] <= max(run["most_stages_at_once"] for run in others) <= 5

    @pytest.mark.verification
    def test_a_broken_stage_is_noticed(self, tmp_path: Path) -> None:
        size = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "3", "--steps", "40")
        export(tmp_path / "p", "--hls", "opencl", *size)
        replace(
            tmp_path / "p" / "stages.h", "proposed - current + own_threshold >= 0", "proposed - current >= 0"
        )
        status, report, _ = run_opencl(tmp_path / "p")
        assert status == 1
        assert "score" in report["runs"][0]["wrong"]

    @pytest.mark.verification
    @pytest.mark.parametrize("size", [(15, 16), (31, 32), (63, 64), (95, 96), (130, 100)])
    def test_many_steps_are_those_of_the_ancestor_encoding(
        self, size: tuple[int, int], tmp_path: Path
    ) -> None:
        """104,000 steps of 26 chains."""
        mutations, cells = size
        matrix = simulate(cells, mutations, 0.01, 0.2, 0.1, seed=1).matrix
        np.savetxt(tmp_path / "matrix.csv", matrix.values, fmt="%d")
        given = (
            "--matrix",
            str(tmp_path / "matrix.csv"),
            "--states",
            "24",
            "--steps",
            "4000",
            "--chains",
            "26",
        )
        export(tmp_path / "p", "--hls", "opencl", *given, "--seed", "1")
        plan = make_plan(make_problem(matrix, Rates(0.01, 0.2)))
        with Backend("native", "ancestor").runner(plan, 26, 1) as runner:
            runner.put_all([initial_state(plan, 1, chain) for chain in range(26)])
            runner.advance(np.full(26, 4000))
            states = [runner.get(chain) for chain in range(26)]
        vectors = read_vectors(tmp_path / "p" / "vectors.bin")
        assert vectors["expected_score"].tolist() == [state.score for state in states]
        assert vectors["expected_best_score"].tolist() == [state.best_score for state in states]
        states_of_runs = ("--states", "1", "--states", "6", "--states", "24")
        status, report, said = run_opencl(tmp_path / "p", *states_of_runs, "--timeout", "900")
        assert status == 0, said
        assert report["chains"] * report["steps"] == 104_000


def test_the_refusals_of_the_command(tmp_path: Path) -> None:
    folder, runner = str(tmp_path / "p"), CliRunner()
    sizes = ["--mutations", "5", "--cells", "6"]
    for given, part in {
        ("--states", "3"): "--states goes with --hls only",
        ("--unroll", "3"): "--unroll goes with --hls only",
        ("--hls", "opencl", "--with-image", "cpu"): "--with-image does not go with --hls",
        ("--hls", "verilog"): "Invalid value for '--hls'",
        ("--hls", "opencl", "--states", "1000000000"): "the limit is",
    }.items():
        result = runner.invoke(cli, ["export", folder, *sizes, *given])
        assert part in result.output + str(result.exception), given
        assert not list(Path(folder).glob("*"))
    assert runner.invoke(cli, ["export", folder, "--hls", "opencl", *sizes, "--steps", "3"]).exit_code == 0
    result = runner.invoke(cli, ["export", folder, "--hls", "opencl", *sizes])
    assert isinstance(result.exception, OutputError)
    assert "--force" in str(result.exception)


def test_a_project_from_python(tmp_path: Path) -> None:
    """The function writes the files of the command, and refuses what fits none."""
    sizes: dict[str, Any] = {"cells": 6, "mutations": 5, "steps": 3, "states": 2}
    paths = syclade.export(tmp_path / "made", hls="opencl", **sizes)
    export(
        tmp_path / "p", "--hls", "opencl", "--cells", "6", "--mutations", "5", "--steps", "3", "--states", "2"
    )
    assert {path.name: path.read_bytes() for path in paths} == {
        path.name: path.read_bytes() for path in (tmp_path / "p").iterdir()
    }
    for given, words in (
        ({"hls": "verilog", **sizes}, "no flavour 'verilog'"),
        ({"spirv_version": "2.0", **sizes}, "no SPIR-V '2.0'"),
        ({"cells": 6}, "no size is given"),
    ):
        with pytest.raises(OptionError, match=words):
            syclade.export(tmp_path / "other", **given)
    assert not (tmp_path / "other").exists()
