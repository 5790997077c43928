"""Learned error rates as users see them: `infer`, the command, its files, and `syclade scite -e`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.scoring import score
from syclade.host.commands.main import cli
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError
from syclade.host.ground.signals import Stop
from tests.support.backends import QUICKEST
from tests.support.did_all import assert_did_all

SIMULATED = simulate(cells=120, mutations=12, fp_rate=1e-3, fn_rate=0.35, missing=0.1, seed=3)
MATRIX = SIMULATED.matrix
LEARN: dict[str, Any] = {"fp_rate": 1e-3, "fn_rate": 0.2, "learn_fn": 0.2, "chains": 4, "steps": 20_000}


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return syclade.infer(MATRIX, samples=50, device="native", **LEARN)


def test_the_rates_are_those_of_the_data() -> None:
    """Learn a rate that was simulated as 0.35 and given as 0.2.

    The estimate would be lower with the score max, which attaches every cell at its best node.
    """
    found = syclade.infer(MATRIX, samples=10, device="native", score="sum", **{**LEARN, "steps": 3000})
    assert found.samples is not None
    assert 0.3 < found.samples.rates["fn_rate"].mean() < 0.41
    assert 0.3 < found.rates.fn_rate < 0.41


def test_what_is_told_of_rates(result: syclade.Result) -> None:
    assert result.samples is not None
    rates = result.samples.rates["fn_rate"]
    assert rates.shape == result.samples.log_likelihoods.shape
    assert 0.23 < rates.mean() < 0.34
    assert result.learned is not None
    assert result.rates.fn_rate == result.learned["fn_rate"]["value"]
    assert 0.23 < result.rates.fn_rate < 0.34
    assert result.rates.fp_rate == 1e-3
    assert result.samples.rate_summaries()["fn_rate"]["mean"] == pytest.approx(rates.mean())
    assert {"jump of fn_rate"} < set(result.moves)
    tried, taken = result.moves["jump of fn_rate"]
    assert 0 < taken < tried
    assert tried / 80_000 == pytest.approx(0.2, abs=0.01)
    assert result.move_probabilities["learn fn_rate"] == 0.2
    assert sum(result.move_probabilities.values()) == pytest.approx(1)


def test_the_best_is_best_of_all_samples(result: syclade.Result) -> None:
    assert result.learned is not None
    assert result.samples is not None
    best = result.log_likelihood + result.learned["log_prior"]
    assert result.log_likelihood == pytest.approx(log_likelihood(MATRIX, result.rates, result.parents))
    assert best == pytest.approx(result.chain_log_likelihoods.max(), abs=1e-3)
    assert best >= result.samples.log_likelihoods.max() - 1e-3


def test_lines_of_samples_are_scites(result: syclade.Result) -> None:
    """Check score, leaves, rate, score with the prior, and parents."""
    assert result.samples is not None
    learned = make_rate_model(Rates(1e-3, 0.2), learn_fn=0.2)
    assert learned is not None
    assert learned.fn is not None
    for line in list(result.samples.lines())[::97]:
        score, leaves, rate, both, parents = line.rstrip("\n").split("\t")
        tree = np.array([*map(int, parents.split()), 12], dtype=np.int32)
        assert int(leaves) == 13 - len(set(tree.tolist()))
        exact = log_likelihood(MATRIX, Rates(1e-3, float(rate)), tree)
        assert float(score) == pytest.approx(exact, rel=1e-4)
        prior = float(np.interp(float(rate), learned.fn.rates, learned.fn.log_density))
        assert float(both) == pytest.approx(exact + prior, rel=1e-4)


def test_trees_as_likely_are_so_by_the_learned_rates() -> None:
    found = syclade.infer(MATRIX, device="native", max_trees=50, **LEARN)
    assert found.co_optimal is not None
    for tree in found.co_optimal.trees:
        assert log_likelihood(MATRIX, found.rates, tree) == pytest.approx(found.log_likelihood, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": None}, "--learn-fn without --steps"),
        ({"method": "search"}, "does not go with --method search"),
        ({"learn_fn": None, "fn_sd": 0.1}, "--fn-sd without --learn-fn"),
        ({"learn_fn": "x"}, "--learn-fn"),
    ],
)
def test_what_does_not_go_together_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        syclade.infer(MATRIX, **{**LEARN, **options})


CELL_MATRIX = simulate(cells=12, mutations=150, fp_rate=1e-3, fn_rate=0.35, missing=0.1, seed=3).matrix
LEARN_CELLS = {**LEARN, "tree": "leaf", "learn_fp": 0.1}


def test_cell_trees_learn_rates(tmp_path: Path) -> None:
    """The rate was simulated as 0.35 and given as 0.2; one given as it was simulated stays there."""
    found = syclade.infer(CELL_MATRIX, samples=50, device=QUICKEST, **LEARN_CELLS)
    assert_did_all(found, QUICKEST)
    assert found.samples is not None
    assert found.learned is not None
    rates = found.samples.rates["fn_rate"]
    assert rates.shape == found.samples.log_likelihoods.shape == (4, 300)
    assert 0.27 < rates.mean() < 0.4
    assert found.rates.fn_rate == found.learned["fn_rate"]["value"]
    at_these: dict[str, Any] = {"fp_rate": found.rates.fp_rate, "fn_rate": found.rates.fn_rate}
    found.write(tmp_path)
    again = score(CELL_MATRIX, tmp_path / "tree.newick", kind="leaf", **at_these)
    assert found.log_likelihood == pytest.approx(again, abs=1e-6)
    best = found.chain_log_likelihoods.max() - found.learned["log_prior"]
    assert found.log_likelihood == pytest.approx(best, abs=1e-3)
    for line, chain, sample in zip(found.samples.lines(), [0] * 3, range(3), strict=False):
        likelihood, fn, fp, with_prior, newick = line.rstrip("\n").split("\t")
        assert float(fn) == pytest.approx(rates[chain, sample], rel=1e-5)
        (tmp_path / "sample.newick").write_text(newick)
        rates_of_line: dict[str, Any] = {"fp_rate": float(fp), "fn_rate": float(fn)}
        scored = score(CELL_MATRIX, tmp_path / "sample.newick", kind="leaf", **rates_of_line)
        assert float(likelihood) == pytest.approx(scored, rel=2e-5)
        assert float(with_prior) > float(likelihood) - 50


def test_cell_trees_with_rates_resume_to_the_same_bytes(tmp_path: Path) -> None:
    options = {**LEARN_CELLS, "chains": 2, "steps": 1000, "samples": 30, "device": "numpy"}
    whole = syclade.infer(CELL_MATRIX, **options)
    kept, stop = tmp_path / "kept", Stop()

    def begun(_progress: object) -> None:
        stop.wanted = True

    options |= {"slots": 1, "checkpoint_every": 0}
    stopped = syclade.infer(CELL_MATRIX, **options, checkpoint=kept, stop=stop, progress=begun)
    assert stopped.interrupted
    resumed = syclade.infer(CELL_MATRIX, **options, resume=kept)
    assert resumed.summary() == whole.summary()
    assert whole.samples is not None
    assert resumed.samples is not None
    assert list(resumed.samples.lines()) == list(whole.samples.lines())


def test_the_command(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "m.csv", MATRIX.values, fmt="%d")
    options = "--fp-rate 1e-3 --fn-rate 0.2 --learn-fn 0.2 --fn-sd 0.15 --fn-step 0.02 --learn-fp 0.1"
    options += " --chains 2 --steps 2000 --samples 100 --netcdf --report --device numpy --out"
    done = CliRunner().invoke(
        cli, ["infer", str(tmp_path / "m.csv"), *options.split(), str(tmp_path / "out"), "--seed", "2"]
    )
    assert done.exit_code == 0, done.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    written = summary["learned"]["fn_rate"]
    assert (written["prior_mean"], written["prior_sd"], written["step_sd"]) == (0.2, 0.15, 0.02)
    assert summary["fn_rate"] == written["value"]
    assert f"fn_rate {written['value']:.6g}, fp_rate {summary['fp_rate']:.6g} (learned)" in done.output
    assert set(summary["samples"]["rates"]) == {"fn_rate", "fp_rate"}
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["options"]["fn_rate"] == 0.2
    assert run["options"]["learn_fn"] == 0.2
    with h5netcdf.File(tmp_path / "out" / "samples.nc", "r") as file:
        rates = file["posterior"]["fp_rate"][...]
        parents = file["posterior"]["parents"][...]
    assert rates.shape == parents.shape[:2] == (2, 15)
    lines = (tmp_path / "out" / "tree.samples").read_text().splitlines()
    assert rates[0, 7] == pytest.approx(float(lines[7].split("\t")[3]), rel=1e-5)
    assert parents[0, 7].tolist() == [*map(int, lines[7].split("\t")[-1].split())]
    assert "--learn-fn 0.2" in (tmp_path / "out" / "report.html").read_text()


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    def refused(*words: str) -> str:
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 2 or done.exception is not None
        return f"{done.output} {done.exception}"

    np.savetxt(tmp_path / "m.csv", MATRIX.values, fmt="%d")
    common = ["infer", str(tmp_path / "m.csv"), "--fp-rate", "1e-3", "--fn-rate", "0.2"]
    assert "--learn-fn without --steps" in refused(*common, "--learn-fn", "0.2")
    assert "not between 0 and 1" in refused(*common, "--learn-fn", "1.5", "--steps", "10")
