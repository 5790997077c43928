"""`syclade.quality.tost` and `.posterior` as Python functions: values, reports, plots, errors, executors."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.chains.backends import make_runner
from syclade.host.chains.encodings import PlainEncoding
from syclade.host.chains.runs.pipeline import initial_states
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.device.work import WorkDone
from syclade.host.ground.errors import DeviceError, OptionError, OutputError
from syclade.quality import PosteriorResult, TostResult, posterior, tost
from syclade.quality.posterior import samples as posterior_samples
from syclade.quality.tost import runs as tost_runs
from syclade.quality.work import mean_work, work_of, work_text

FEW: dict[str, Any] = {"limit": 2, "steps": 300, "device": "native"}


@pytest.fixture(scope="module")
def compared() -> TostResult:
    return tost(method="search", device="native", limit=3)


@pytest.fixture(scope="module")
def sampled() -> PosteriorResult:
    return posterior([3], device="native", samples=6000)


def test_searches_are_as_good_as_scite(compared: TostResult) -> None:
    """Check the search on the packaged inputs, without writing files."""
    assert compared.holds
    assert (compared.test.inputs, compared.test.worse) == (3, 0)
    assert [each.name for each in compared.comparisons] == ["01", "02", "03"]
    assert compared.settings.rates is not None
    assert compared.settings.rates.fn_rate == 0.25
    assert "3 equal, 0 better, 0 worse than SCITE: equivalent" in repr(compared)


@pytest.mark.statistical
def test_too_few_steps_are_not_equivalent() -> None:
    """Negative control: the same test detects a chain that is far from SCITE's optima."""
    found = tost(**FEW)
    assert not found.holds
    assert (found.test.worse, found.test.non_inferior) == (2, False)
    assert found.test.mean_flips == pytest.approx(-67.962, abs=5e-4)  # equal on every device
    assert "not shown to be equivalent" in repr(found)
    assert found.to_dict()["holds"] is False


@pytest.mark.statistical
@pytest.mark.parametrize("flips", [1.2, -1.2])
def test_scores_shifted_by_more_than_the_margin_are_not_equivalent(
    monkeypatch: pytest.MonkeyPatch, compared: TostResult, flips: float
) -> None:
    """Negative control of both one-sided tests: all our scores are shifted by the same amount."""
    margin = compared.test.delta
    monkeypatch.setattr(tost_runs, "log_likelihood", lambda *given: log_likelihood(*given) + flips * margin)
    shifted = tost(method="search", device="native", limit=3)
    assert not shifted.holds
    assert shifted.test.non_inferior == (flips > 0)
    assert shifted.test.mean_flips == pytest.approx(compared.test.mean_flips + flips)


def test_chains_sample_the_posterior(sampled: PosteriorResult) -> None:
    assert sampled.holds
    (case,) = sampled.cases
    assert (len(case.target.trees), case.visits.samples) == (16, 6144)
    assert repr(sampled) == "<PosteriorResult: 3 mutations: holds>"


@pytest.mark.statistical
def test_another_posterior_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the chains have another gamma than the exact target."""

    def other(device: Any, plan: Any, *given: Any) -> Any:
        return make_runner(device, dataclasses.replace(plan, gamma=1.2), *given)

    def started(plan: Any, *given: Any) -> Any:
        return initial_states(dataclasses.replace(plan, gamma=1.2), *given)

    monkeypatch.setattr(posterior_samples, "make_runner", other)
    monkeypatch.setattr(posterior_samples, "initial_states", started)
    found = posterior([3], device="native", samples=50_000)
    assert not found.holds
    assert found.to_dict()["holds"] is False
    assert "DOES NOT HOLD" in found.lines()[0]


@pytest.mark.parametrize("name", ["compared", "sampled"])
def test_results_are_frozen_and_give_plain_values(name: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(name)
    report = json.loads(json.dumps(result.to_dict()))
    assert (report["holds"], report["work"]) == (True, {"native": 1.0})
    assert report["settings"]["version"] == syclade.__version__
    assert "work done by: native 100 %" in result.lines()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.device_name = "another"


@pytest.mark.parametrize("name", ["compared", "sampled"])
def test_results_are_plotted(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result, path = request.getfixturevalue(name), tmp_path / "figure.png"
    figure = result.plot(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert type(result.plot()).__name__ == type(figure).__name__ == "Figure"
    with pytest.raises(OutputError, match=r"already has figure\.png"):
        result.plot(path)
    result.plot(path, force=True)


def test_the_figure_has_a_bar_for_every_difference(compared: TostResult) -> None:
    axes = compared.plot().axes[0]
    counted = sum(bar.get_height() for bars in axes.containers for bar in getattr(bars, "patches", []))
    assert counted == 3
    assert [np.asarray(line.get_xdata()).tolist() for line in axes.lines[:2]] == [[-1, -1], [1, 1]]
    assert axes.get_xlabel().endswith("[bit flips]")
    assert axes.get_ylabel() == "number of inputs"


# ---- executors


def test_the_work_is_that_of_the_runner_not_of_the_device_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: work done by a fallback is an error, not a result."""

    def fallback(device: Any, plan: Any, encoding: Any, slots: int, seed: int) -> Any:
        return make_runner(NUMPY, plan, PlainEncoding(plan.problem), slots, seed)

    monkeypatch.setattr(posterior_samples, "make_runner", fallback)
    with pytest.raises(DeviceError, match="native was requested, but the runner executes on numpy"):
        posterior([2], device="native", samples=1000)


CPU = Device("opencl:cpu:0", "a processor", "cpu", 2)
LOCAL = native_device()


@pytest.mark.parametrize(
    ("work", "searches", "shares"),
    [
        ([(CPU, "steps", 300), (CPU, "steps", 100)], (), {"opencl:cpu:0": 1.0}),
        ([(NUMPY, "steps", 100), (CPU, "steps", 300)], (), {"numpy": 0.25, "opencl:cpu:0": 0.75}),
        ([(NUMPY, "steps", 5), (LOCAL, "sweeps", 7)], ("a search",), {"native": 1.0}),
        ([(LOCAL, "sweeps", 1), (CPU, "sweeps", 3)], ("a search",), {"native": 0.25, "opencl:cpu:0": 0.75}),
        ([], (), {}),
    ],
)
def test_shares_of_work(
    work: list[tuple[Device, str, int]], searches: tuple[Any, ...], shares: dict[str, float]
) -> None:
    result = object.__new__(Result)  # its other fields are not read
    done = tuple(WorkDone(executor, "general", unit, count, 1.0) for executor, unit, count in work)
    object.__setattr__(result, "work", done)
    object.__setattr__(result, "searches", searches)
    assert work_of(result) == shares


def test_shares_of_several_runs() -> None:
    mean = mean_work([{"numpy": 1.0}, {"native": 1.0}, {"native": 1.0}, {"native": 0.5, "numpy": 0.5}])
    assert mean == {"native": 0.625, "numpy": 0.375}
    assert work_text(mean) == "native 62.5 %, numpy 37.5 %"


# ---- refusals


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "guess"}, "method .* is 'guess'"),
        ({"method": "search", "chains": 3}, r"chains \(--chains\) is for chains"),
        ({"method": "search", "steps": 3}, r"steps \(--steps\) is for chains"),
        ({"chains": 0}, r"chains \(--chains\) is 0"),
        ({"limit": 1}, r"limit \(--limit\) is 1"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        tost(**change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mutations": (6,)}, "mutations .* is 6"),
        ({"mutations": ()}, "no size"),
        ({"samples": 10}, "samples .* is 10"),
        ({"tree": "none"}, "tree .* is 'none'"),
        ({"tree": "leaf", "score": "sum"}, "cell trees have their own score"),
    ],
)
def test_posterior_checks_that_make_no_sense_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        posterior(device="numpy", **change)


def test_an_unknown_device_is_refused() -> None:
    for check in (tost, posterior):
        with pytest.raises(DeviceError, match="nonsense"):
            check(device="nonsense")


# ---- imports


def test_the_functions_stay_functions_whatever_is_imported_first() -> None:
    """The folders of their parts have the same names as the functions."""
    code = (
        "import syclade.quality.tost.runs, syclade.quality.posterior.check; import syclade\n"
        "from syclade.quality.cli import tost as cli\n"
        "assert callable(syclade.quality.tost) and callable(syclade.quality.posterior)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_them_loads_nothing_heavy() -> None:
    code = (
        "import sys, syclade; syclade.quality.tost; syclade.quality.posterior; "
        "heavy = {'numpy', 'scipy', 'click', 'rich', 'numba', 'dpctl', 'matplotlib', 'statsmodels'}; "
        "print(*(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
