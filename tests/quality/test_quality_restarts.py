"""Restarts: how often a given number of chains finds the best tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate
from syclade.quality.bench.restarts import Trial, rows_of, run_trials

RATES = (1e-4, 0.2)


def trial(chains: int, log_likelihood: float, *, converged: bool = True) -> Trial:
    return Trial(chains, 1, log_likelihood, 1000 * chains, 0.5, converged)


def test_rows_count_what_was_found() -> None:
    rows = rows_of([trial(1, -10), trial(1, -12.5), trial(1, -11, converged=False), trial(4, -10 - 1e-9)])
    assert [(row.chains, row.trials, row.found) for row in rows] == [(1, 3, 1), (4, 1, 1)]
    assert (rows[0].agreed, rows[0].agreed_on_less, rows[0].worst) == (2, 1, 2.5)
    assert (rows[0].steps, rows[0].seconds) == (1000, 0.5)
    assert rows[0].low == pytest.approx(0.0615, abs=1e-3)  # Wilson interval, 1 of 3
    assert rows[0].high == pytest.approx(0.7923, abs=1e-3)
    assert rows[1].worst == pytest.approx(1e-9)


def test_trials_differ_in_their_seeds_only() -> None:
    seen: list[Trial] = []
    matrix = simulate(9, 5, *RATES, 0.2, 3).matrix
    trials = run_trials(
        matrix,
        *RATES,
        chain_counts=[1, 2],
        repeats=2,
        seed=2**64 - 1,
        done=seen.append,
        steps=40,
        device="numpy",
    )
    assert trials == seen
    assert [(each.chains, each.seed, each.steps) for each in trials] == [
        (1, 2**64 - 1, 40), (1, 0, 40), (2, 1, 40), (2, 2, 40),
    ]  # fmt: skip


def test_the_command(tmp_path: Path) -> None:
    runner = CliRunner()
    arguments = ["--fp-rate", "0.0001", "--fn-rate", "0.2"]
    made = runner.invoke(
        cli, ["simulate", "--cells", "9", "--mutations", "5", *arguments, "--out", str(tmp_path / "made")]
    )
    assert made.exit_code == 0, made.output
    options = ["quality", "restarts", str(tmp_path / "made" / "matrix.csv"), *arguments, "--device", "numpy"]
    options += ["--chains", "2", "--chains", "1", "--repeats", "3", "--steps", "300"]
    shown = runner.invoke(cli, options)
    assert shown.exit_code == 0, shown.output
    assert "best log-likelihood of all runs" in shown.stdout
    written = runner.invoke(cli, [*options, "--json"])
    report = json.loads(written.stdout)
    assert [row["chains"] for row in report["rows"]] == [1, 2]
    assert len(report["trials"]) == 6
    assert max(row["found"] for row in report["rows"]) >= 1
