"""Quality checks reject results from another executor than the device that they check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends import Runner, make_numpy_runner
from syclade.host.chains.encodings import PlainEncoding
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import DeviceError
from syclade.quality.bench import measure as measuring
from syclade.quality.bench import restarts
from syclade.quality.posterior import samples
from syclade.quality.posterior.small_target import make_target, small_plan
from syclade.quality.reference.scores import ScoredInput
from syclade.quality.tost import runs

MATRIX = matrix_from_array(np.random.default_rng(1).integers(0, 2, (4, 9)).astype(np.uint8))
RATES = Rates(0.01, 0.2)


def in_numpy(matrix: Any, **settings: Any) -> syclade.Result:
    """Return an inference that falls back to numpy, whatever device the options name."""
    return syclade.infer(matrix, **{**settings, "device": "numpy", "encoding": "auto"})


def runner_in_numpy(_device: Any, plan: Any, _encoding: Any, slots: int, seed: int) -> Runner:
    return make_numpy_runner(plan, PlainEncoding(plan.problem), slots, seed)


def test_tost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = runs.RunSettings(RATES, "chain", 2, 20, 1, "native", "preorder")
    scored = ScoredInput("one", MATRIX, "", 0.0, 0.0, RATES)
    runs.compare(scored, settings, tmp_path / "good")
    monkeypatch.setattr(runs, "infer", in_numpy)
    with pytest.raises(DeviceError, match="native did not do all of the work on numpy"):
        runs.compare(scored, settings, tmp_path / "bad")
    assert not (tmp_path / "bad").exists()


def test_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    target = make_target(small_plan(2, 1.5))
    samples.sample_chain(target, choose_device("native"), "ancestor", 8, 1, slots=4)
    monkeypatch.setattr(samples, "make_runner", runner_in_numpy)
    with pytest.raises(DeviceError, match="native was requested, but the runner executes on numpy"):
        samples.sample_chain(target, choose_device("native"), "auto", 8, 1, slots=4)


def test_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "make_runner", runner_in_numpy)
    with pytest.raises(DeviceError, match="native was requested, but the runner executes on numpy"):
        measuring.measure(choose_device("native"), cells=5, mutations=4, slots=2, seconds=0.01, repeats=1)


def test_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    def trials(device: str) -> list[restarts.Trial]:
        arguments: dict[str, Any] = {
            "chain_counts": [2],
            "repeats": 1,
            "seed": 1,
            "steps": 20,
            "device": device,
        }
        return restarts.run_trials(MATRIX, 0.01, 0.2, done=lambda _: None, **arguments)

    assert trials("native")[0].executors == ("native",)
    monkeypatch.setattr(restarts, "infer", in_numpy)
    assert trials("auto")[0].executors == ("numpy",)
    with pytest.raises(DeviceError, match="native did not do all of the work on numpy"):
        trials("native")
