"""Searches meant for a GPU that do not fit, or fail; a runner that does not open stands in for the GPU."""

from __future__ import annotations

from typing import Any

import pytest

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs import run
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.search import find_tree
from syclade.host.chains.search.runner import make_search_runner
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device import cuda
from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from tests.support.searches import shorten_chains

GPU = Device("cuda:0", "GPU", "cuda", 132, None, "CUDA 13.0")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the kinds of devices on which a runner was wanted; matrices of any size are large."""
    monkeypatch.setattr(cuda, "cuda_devices", lambda: [GPU])
    monkeypatch.setattr(cuda, "seems_usable", lambda: True)
    monkeypatch.setattr(cuda, "seems_present", lambda: True)
    monkeypatch.setattr(run, "SEARCH_ENTRIES", 0)
    monkeypatch.setattr(run, "AUTO_ENTRIES", 0)
    shorten_chains(monkeypatch)
    return []


def found(monkeypatch: pytest.MonkeyPatch, opened: list[str], wanted: str, error: DeviceError) -> Any:
    """Return the result of searches whose runner on the GPU raises an error."""
    made = make_search_runner

    def make(device: Device, *given: Any, **options: Any) -> Any:
        opened.append(device.kind)
        if device.kind == "cuda":
            raise error
        return made(device, *given, **options)

    monkeypatch.setattr(find_tree, "make_search_runner", make)
    plan = make_plan(make_problem(simulate(12, 6, 0.01, 0.2, 0.1, 1).matrix, Rates(0.01, 0.2)))
    return find_tree.find(
        plan, wanted, "auto", slots=None, seed=1, context=RunContext(), most_rounds=1
    ).outcome  # fmt: skip


@pytest.mark.parametrize("wanted", ["cuda", "auto"])
def test_searches_that_do_not_fit_run_on_this_processor(
    wanted: str, opened: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "syclade.devices")
    outcome = found(monkeypatch, opened, wanted, DeviceMemoryError("too little memory"))
    assert opened == ["cuda", "native"]
    assert outcome.best.parents.size == 7
    assert "searches do not run on cuda:0 (GPU): too little memory" in caplog.text


def test_a_requested_gpu_that_fails_is_an_error(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceError, match="the GPU reports"):
        found(monkeypatch, opened, "cuda", DeviceError("the GPU reports an error"))
    assert opened == ["cuda"]


def test_a_gpu_of_auto_that_fails_is_passed_over(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, opened, "auto", DeviceError("the GPU reports an error"))
    assert opened == ["cuda", "native"]
