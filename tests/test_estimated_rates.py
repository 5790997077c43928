"""Error rates that are not given: estimated from the matrix, the same on every device, or refused."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.cli.infer_words import estimated_lines
from syclade.host.cli.main import cli
from syclade.host.common.errors import OptionError, RatesError
from syclade.host.devices.work import STEPS
from syclade.host.estimated_rates import START
from syclade.host.inference import InferenceProgress
from syclade.host.model.rate_posterior import RateInterval
from syclade.host.model.simulate import simulate
from syclade.host.options import command_of
from syclade.host.runs.task import Stop
from tests.support.did_all import assert_did_all

MADE = simulate(80, 15, 0.01, 0.2, 0.1, seed=1)
WIDER = simulate(120, 40, 0.01, 0.2, 0.1, seed=1)


@pytest.mark.parametrize(("fp_rate", "fn_rate"), [(0.001, 0.1), (0.01, 0.2), (0.03, 0.3)])
def test_estimates_are_near_the_true_rates(fp_rate: float, fn_rate: float) -> None:
    made = simulate(200, 25, fp_rate, fn_rate, 0.1, seed=7)
    found = syclade.infer(made.matrix, device="native", support="none")
    assert found.estimated_rates == ("fp_rate", "fn_rate")
    assert found.rates.fp_rate == pytest.approx(fp_rate, rel=0.6)
    assert found.rates.fn_rate == pytest.approx(fn_rate, rel=0.3)
    wrong = syclade.infer(made.matrix, fp_rate=0.1, fn_rate=0.5, device="native", support="none")
    assert wrong.rates.fp_rate != pytest.approx(fp_rate, rel=0.6), "the control has other rates"


def test_one_rate_is_given() -> None:
    found = syclade.infer(MADE.matrix, fp_rate=0.02, device="native", support="none")
    assert (found.rates.fp_rate, found.estimated_rates) == (0.02, ("fn_rate",))


def test_a_run_with_the_estimates_is_the_same_run(tmp_path: Path) -> None:
    matrix, first, again = tmp_path / "matrix.csv", tmp_path / "first", tmp_path / "again"
    np.savetxt(matrix, MADE.matrix.values, fmt="%d")
    said = CliRunner().invoke(cli, ["infer", str(matrix), "--device=native", f"--out={first}"])
    assert "error rates estimated from the matrix: --fp-rate 0.0" in said.output
    assert "error rates over the sampled trees: --fp-rate 0.0" in said.output
    command = shlex.split(command_of(str(matrix), json.loads((first / "run.json").read_text())["options"]))
    CliRunner().invoke(cli, [*command[1:], f"--out={again}"], catch_exceptions=False)
    told, repeated = (json.loads((place / "summary.json").read_text()) for place in (first, again))
    assert told["estimated_rates"] == ["fp_rate", "fn_rate"]
    assert set(told["support"]["rates"]) == {"fp_rate", "fn_rate", "trees", "worth", "sampled_under"}
    assert told == repeated, "the command of the run estimates the rates again"
    assert "--fp-rate" not in command


def test_an_interval_has_its_own_mean() -> None:
    """The rate that fits the best tree may be below the interval, which is of all sampled trees."""
    found = syclade.infer(MADE.matrix, fp_rate=0.02, device="native")
    assert found.support is not None
    assert found.support.rates is not None
    one = found.support.rates.intervals["fn_rate"]
    assert one.low < one.mean < one.high
    rates = found.support.rates._replace(intervals={"fn_rate": RateInterval(0.1214, 0.1051, 0.1349)})
    lines = estimated_lines(replace(found, support=replace(found.support, rates=rates)))
    assert lines[0] == f"error rates estimated from the matrix: --fn-rate {found.rates.fn_rate:g}"
    assert lines[1] == "error rates over the sampled trees: --fn-rate 0.121 (90 %: 0.105 to 0.135)"


@pytest.mark.sycl
def test_estimates_are_the_same_on_every_device() -> None:
    small = simulate(24, 5, 0.01, 0.2, 0.0, seed=3).matrix
    found = {device: syclade.infer(small, device=device) for device in ("native", "cpu")}
    for device, result in found.items():
        assert_did_all(result, device)
    assert found["native"].summary() == found["cpu"].summary()


def test_the_work_of_the_estimate_is_reported() -> None:
    asked: dict[str, Any] = {"device": "native", "support": "none"}
    found = syclade.infer(MADE.matrix, **asked)
    rates = found.rates
    given = syclade.infer(MADE.matrix, fp_rate=rates.fp_rate, fn_rate=rates.fn_rate, **asked)
    steps, alone = (sum(one.count for one in result.work if one.unit == STEPS) for result in (found, given))
    assert steps >= 2 * alone, "two rounds at least, and then the same run"


@pytest.mark.parametrize(
    "options", [{}, {"tree": "leaf"}, {"steps": 50_000}, {"recurrent": 1, "steps": 2000}]
)
@pytest.mark.parametrize("launches", [1, 15, 60])
def test_a_stop_while_estimating_keeps_the_best_tree(launches: int, options: dict[str, Any]) -> None:
    stop, seen = Stop(), list[float]()

    def progress(state: InferenceProgress) -> None:
        seen.append(state.log_likelihood)
        stop.wanted = len(seen) >= launches

    found = syclade.infer(WIDER.matrix, device="native", stop=stop, progress=progress, **options)
    assert found.stopped_in == "tree"
    assert len(seen) <= launches + 2, "it ends soon after the request"
    assert found.log_likelihood > 1.01 * max(seen), "other rates change it by less"


def test_rates_of_a_tree_that_is_interrupted_early_are_believed_or_left() -> None:
    noise, stop = np.random.default_rng(1).integers(0, 2, (30, 60)).astype(np.uint8), Stop()

    def progress(_: object) -> None:
        stop.wanted = True

    found = syclade.infer(noise, device="native", stop=stop, progress=progress)
    assert (found.rates.fp_rate, found.rates.fn_rate) == (START["fp_rate"], START["fn_rate"])
    assert found.stopped_in == "tree"


def test_a_resumed_run_has_the_same_estimates(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    asked: dict[str, Any] = {"device": "native", "support": "none"}
    whole = syclade.infer(MADE.matrix, checkpoint=place, **asked)
    assert syclade.infer(MADE.matrix, resume=place, **asked).summary() == whole.summary()


def test_noise_has_no_error_rates() -> None:
    noise = np.random.default_rng(1).integers(0, 2, (30, 20)).astype(np.uint8)
    with pytest.raises(RatesError, match=r"does not determine its error rates: --fp-rate 0\.\d+"):
        syclade.infer(noise, device="native")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fn_rate": 0.1, "fn_rate_hom": 0.1, "hom_rate": 0.01}, "only matrices without zygosity"),
        ({"device": "python", "steps": 5}, "has none"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words) as caught:
        syclade.infer(MADE.matrix, **options)
    assert "--fp-rate" in str(caught.value)
