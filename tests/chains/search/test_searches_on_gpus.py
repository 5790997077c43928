"""Searches meant for GPUs, without one: what does not fit or fails, how many run at once, who does which."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs import run
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.search import find_tree, shared
from syclade.host.chains.search import runner as search_runner
from syclade.host.chains.search.kernel import fresh_state
from syclade.host.chains.search.policy import CLIMB
from syclade.host.chains.search.problem import make_search_problem
from syclade.host.chains.search.runner import make_search_runner
from syclade.host.chains.search.shared import SharedSearches
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device import cuda
from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceError, DeviceMemoryError
from tests.support.searches import shorten_chains

RATES = Rates(0.01, 0.2)
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
    plan = make_plan(make_problem(simulate(12, 6, 0.01, 0.2, 0.1, 1).matrix, RATES))
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


@pytest.mark.parametrize("times", [0.5, 1.5, 7.9, 64.0])
def test_no_more_searches_at_once_than_there_is_memory_for(
    times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is always tried: opening the engine says what it lacks."""
    problem = make_search_problem(make_problem(simulate(90, 60, 0.01, 0.2, 0.1, 1).matrix, RATES))
    one = search_runner._bytes_on_gpu(GPU, problem, 1, True)
    gpu = SimpleNamespace(free_bytes=lambda: int(times * one))
    monkeypatch.setattr(search_runner, "open_gpu", lambda _device: gpu)
    slots = search_runner._slots_on_gpu(GPU, problem, 64, True)
    assert 1 <= slots <= 32
    assert slots == 1 or search_runner._bytes_on_gpu(GPU, problem, slots, True) <= gpu.free_bytes()
    assert slots == 32 or search_runner._bytes_on_gpu(GPU, problem, slots + 1, True) > gpu.free_bytes()


class Pool:
    """Two idle places, which take the jobs of a phase and have no answer."""

    def __init__(self) -> None:
        self.places = [SimpleNamespace(rate=None, units=4) for _ in range(2)]
        self.given: list[list[int]] = []

    def idle(self) -> list[Any]:
        return self.places

    def submit(self, _place: Any, _do: Any, _argument: Any, tag: Any) -> None:
        self.given.append(tag[1])


@pytest.mark.parametrize(("equal", "numbers"), [(True, [11, 10]), (False, [6, 4])])
def test_equal_gpus_take_equal_parts_at_once(equal: bool, numbers: list[int]) -> None:
    """So each ends once; other places take less and less, as it may turn out how fast they are."""
    problem = make_search_problem(make_problem(simulate(12, 6, 0.01, 0.2, 0.1, 1).matrix, RATES))
    pool: Any = Pool()
    searches = SharedSearches(problem, pool, equal=equal)
    states = [fresh_state(number, 6) for number in range(21)]
    searches._give(shared._SharedPhase(states, [CLIMB] * 21))
    assert [len(one) for one in pool.given] == numbers
    assert [one for part in pool.given for one in part] == list(range(sum(numbers)))
