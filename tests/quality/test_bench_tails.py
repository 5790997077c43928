"""Measurement of tails: what it measures, beside Algorithm 1 in C."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

from syclade.host.calls.tails import log_tails
from syclade.host.calls.tails.columns import KERNELS
from syclade.host.ground.errors import DeviceError
from syclade.quality.bench import tails
from syclade.quality.bench.algorithm1 import has_c_compiler, run_in_c
from syclade.quality.cli.bench import command


def test_all_ways_give_the_same_tail() -> None:
    report = tails.bench_tails(["native"], points=[(2000, 30)], repeats=2, columns=40)
    (point,) = report["points"]
    expected = log_tails(tails.example_column(2000, 30), device="numpy").log_tails[0]
    names = {f"{kernel} native" for kernel in KERNELS} | ({"C"} if has_c_compiler() else set())
    assert set(point["seconds"]) == set(point["log_tail"]) == names
    for value in point["log_tail"].values():
        assert value == pytest.approx(expected, rel=1e-12)
    assert all(seconds > 0 for seconds in point["seconds"].values())
    (genome,) = report["genome"]
    assert genome["columns"] == 40
    (work,) = genome["work"]
    assert (work["device"], work["count"], work["share_of_columns"]) == ("native", 40, 1)
    assert "40 columns" in tails.table(report)
    json.dumps(report)


def test_algorithm_1_in_c() -> None:
    if not has_c_compiler():
        return  # the report then has stored figures only
    column = tails.example_column(500, 20)
    found = run_in_c(np.repeat(column.probabilities, column.counts), 20, 3)
    assert len(found.seconds) == 3
    assert found.log_tail == pytest.approx(log_tails(column, device="numpy").log_tails[0], rel=1e-12)


def test_genome_has_the_depth_that_is_asked_for() -> None:
    genome = tails.genome_of("L1", 5000, columns=600)
    assert len(genome) == 600
    assert genome.counts.sum() / 600 == pytest.approx(5000, rel=0.02)


def test_command(monkeypatch: pytest.MonkeyPatch) -> None:
    few = partial(tails.bench_tails, points=[(10_000, 100)], columns=10)
    monkeypatch.setattr(tails, "bench_tails", few)
    arguments = ["--suite", "tails", "--device", "native", "--repeats", "1"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "LoFreq, stored           13.600 ms" in result.output
    assert "10 columns" in result.output


def test_numpy_has_no_kernels() -> None:
    with pytest.raises(DeviceError, match="numpy"):
        tails.bench_tails(["numpy"], points=[(100, 3)])
