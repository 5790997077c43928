"""Error rates that are not given: estimated from the matrix, the same on every device, or refused."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.answer.inference import InferenceProgress
from syclade.host.commands.main import cli
from syclade.host.data.model.rate_fit import PRIORS
from syclade.host.data.model.rate_posterior import RateInterval
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.work import STEPS
from syclade.host.findings.rates import RatesFinding
from syclade.host.ground.errors import OptionError, RatesError
from syclade.host.ground.options import command_of
from syclade.host.ground.signals import Stop
from tests.support.did_all import assert_did_all
from tests.support.searches import shorten_support

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


def test_a_run_with_the_estimates_is_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch)
    matrix, first, again = tmp_path / "matrix.csv", tmp_path / "first", tmp_path / "again"
    np.savetxt(matrix, MADE.matrix.values, fmt="%d")
    said = CliRunner().invoke(cli, ["infer", str(matrix), "--device=native", f"--out={first}"])
    assert "error rates estimated from the matrix: --fp-rate 0.0" in said.output
    assert said.output.count("(90 %: ") == 2
    command = shlex.split(command_of(str(matrix), json.loads((first / "run.json").read_text())["options"]))
    CliRunner().invoke(cli, [*command[1:], f"--out={again}"], catch_exceptions=False)
    report, repeated = (json.loads((place / "summary.json").read_text()) for place in (first, again))
    assert report["estimated_rates"] == ["fp_rate", "fn_rate"]
    assert set(report["support"]["rates"]) == {"fp_rate", "fn_rate", "trees", "worth", "sampled_under"}
    assert report == repeated, "the command of the run estimates the rates again"
    assert "--fp-rate" not in command


def test_the_estimate_is_inside_its_interval() -> None:
    """The rate of the search, which fits one tree, may be below the interval: it is named as such."""
    found = syclade.infer(MADE.matrix, fp_rate=0.02, device="native")
    assert found.support is not None
    assert found.support.rates is not None
    one = found.support.rates.intervals["fn_rate"]
    assert one.low < one.mean < one.high
    rates = found.support.rates._replace(
        intervals={"fn_rate": RateInterval(0.1214, 0.1051, 0.1349)}, sampled_under=Rates(0.02, 0.12)
    )
    finding = next(one for one in found.findings if isinstance(one, RatesFinding))
    searched = Rates(0.02, 0.09)
    report = replace(finding.best, rates=searched)
    lines = replace(finding, best=report, posterior=rates).lines
    assert lines[0] == "error rates estimated from the matrix: --fn-rate 0.121 (90 %: 0.105 to 0.135)"
    assert lines[1].startswith("the best tree was searched with --fn-rate 0.09; support and consensus")
    assert not rates._replace(sampled_under=searched, effective=float(rates.trees)).fits
    # A corrected rate can be at the limit where that of the search is not.
    assert not finding.warnings
    at_limit = rates._replace(
        intervals={"fn_rate": RateInterval(0.698, 0.69, 0.7)}, sampled_under=Rates(0.02, 0.7)
    )
    assert "the largest that is considered, 0.7" in replace(finding, posterior=at_limit).warnings[0]


@pytest.mark.sycl
def test_estimates_are_the_same_on_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch)
    small = simulate(24, 5, 0.01, 0.2, 0.0, seed=3).matrix
    found = {device: syclade.infer(small, device=device) for device in ("native", "cpu")}
    for device, result in found.items():
        assert_did_all(result, device)
    assert found["native"].summary() == found["cpu"].summary()


def test_the_work_of_the_estimate_is_reported() -> None:
    arguments: dict[str, Any] = {"device": "native", "support": "none"}
    found = syclade.infer(MADE.matrix, **arguments)
    rates = found.rates
    given = syclade.infer(MADE.matrix, fp_rate=rates.fp_rate, fn_rate=rates.fn_rate, **arguments)
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


def test_rates_of_a_tree_that_is_interrupted_early_are_possible() -> None:
    noise, stop = np.random.default_rng(1).integers(0, 2, (30, 60)).astype(np.uint8), Stop()

    def progress(_: object) -> None:
        stop.wanted = True

    found = syclade.infer(noise, device="native", stop=stop, progress=progress)
    assert found.rates.fp_rate <= PRIORS["fp_rate"].most
    assert found.rates.fn_rate <= PRIORS["fn_rate"].most
    assert found.stopped_in == "tree"


def test_a_resumed_run_has_the_same_estimates(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    arguments: dict[str, Any] = {"device": "native", "support": "none"}
    whole = syclade.infer(MADE.matrix, checkpoint=place, **arguments)
    assert syclade.infer(MADE.matrix, resume=place, **arguments).summary() == whole.summary()


def test_noise_has_the_largest_rates_with_a_warning() -> None:
    noise = np.random.default_rng(1).integers(0, 2, (8, 400)).astype(np.uint8)
    found = syclade.infer(noise, device="native", support="none")
    assert found.rates.fp_rate == PRIORS["fp_rate"].most
    assert "--fp-rate is the largest that is considered, 0.1" in "".join(found.misfits)
    driven = re.search(r"errors in this tree are of (\S+) \((\d+) of (\d+) cells\), ", "".join(found.misfits))
    assert driven is not None
    row = found.mutations.index(driven[1])
    has = ancestor_matrix(found.parents)[:8, found.assignment.node].astype(bool)
    wrong = ((noise == 1) & ~has).sum(axis=1)
    assert wrong[row] == int(driven[2]) == wrong.max()
    assert syclade.infer(MADE.matrix, device="native", support="none").misfits == [], "the control has none"


def test_an_estimate_below_the_limit_is_not_called_the_largest() -> None:
    """The search may begin at the limit; over sampled trees, the rate is another."""
    found = syclade.infer(MADE.matrix, device="native", support="quick")
    (rates,) = (one for one in found.findings if isinstance(one, RatesFinding))
    assert rates.posterior is not None
    began = replace(rates.best, rates=replace(found.rates, fn_rate=PRIORS["fn_rate"].most))

    def warned(mean: float, high: float, *, posterior: bool = True) -> str:
        assert rates.posterior is not None
        interval = RateInterval(mean, 0.1, high)
        own = rates.posterior._replace(intervals={**rates.posterior.intervals, "fn_rate": interval})
        changed = replace(rates, best=began, advised=None, posterior=own if posterior else None)
        return " ".join(changed.warnings)

    assert warned(0.253, 0.3) == ""
    assert "the interval of --fn-rate ends at the largest rate that is considered, 0.7: " in warned(0.6, 0.7)
    assert "the estimate of --fn-rate is the largest that is considered, 0.7: " in warned(0.699, 0.7)
    assert "the estimate of --fn-rate is the largest" in warned(0.253, 0.3, posterior=False)


@pytest.mark.parametrize("values", [np.zeros((3, 5)), np.eye(5)])
def test_a_matrix_that_says_nothing_is_refused(values: NDArray[np.uint8]) -> None:
    with pytest.raises(RatesError, match="says nothing of its error rates: no mutation is observed in two"):
        syclade.infer(values.astype(np.uint8), device="native")
    with pytest.raises(RatesError, match="one cell, or one sample\nhint: trees of single cells need many"):
        syclade.infer(values[:, :1].astype(np.uint8), device="native")
    with pytest.raises(RatesError, match="2 cells, or samples"):
        syclade.infer(values[:, :2].astype(np.uint8), device="native")
    reads = syclade.read_matrix(values[:, :1], total_reads=values[:, :1] + 9, evidence="reads")
    with pytest.raises(RatesError, match="one cell, or one sample"):
        syclade.infer(reads, device="native", support="none")


def test_mutations_in_nearly_all_cells_have_rates_of_which_the_matrix_says_little() -> None:
    """Where every cell has the mutations, any rate of false positives fits: the prior decides."""
    values = (np.random.default_rng(2).random((2, 40)) < 0.95).astype(np.uint8)
    found = syclade.infer(values, device="native")
    assert found.support is not None
    assert found.support.rates is not None
    assert found.support.rates.wide == ("fp_rate",)
    assert any("says little of --fp-rate" in words for words in found.support.warnings)
    interval = found.support.rates.intervals["fp_rate"]
    assert interval.high <= PRIORS["fp_rate"].most


@pytest.mark.parametrize(("fp_rate", "support"), [(0.5, "none"), (0.9, "none"), (0.995, "quick")])
def test_the_other_rate_is_estimated_beside_a_large_one(fp_rate: float, support: str) -> None:
    matrix = simulate(24, 3, 0.01, 0.2, 0.1, seed=3).matrix
    found = syclade.infer(matrix, fp_rate=fp_rate, device="native", support=support)
    assert found.rates.fn_rate < 1 - fp_rate


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


def test_the_report_does_not_call_a_default_given() -> None:
    """Homozygous genotypes of some formats count as mutated by default."""
    values = np.array([[2, 1, 0, 0], [1, 2, 1, 0], [0, 0, 1, 1]], dtype=np.uint8)
    found = syclade.infer(
        values, fp_rate=0.01, fn_rate=0.2, merge_homozygous=True, device="native", seed=1, support="none"
    )
    finding = next(one for one in found.findings if isinstance(one, RatesFinding))
    table = finding.section().table
    assert table is not None
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["merge_homozygous"] == ("yes", "homozygous genotypes (2) count as mutated")
    assert rows["fp_rate"][1] == "given"
