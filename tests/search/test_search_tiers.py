"""Who searches: the device that was asked for does every sweep; `auto` may begin with another executor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.compile import program
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import Device
from syclade.host.devices.work import WorkDone, work_dicts
from syclade.host.errors import DeviceError
from syclade.host.model.simulate import simulate
from syclade.host.search import runners, tiered_runner
from syclade.host.search.policy import SearchPolicy
from syclade.host.search.runner import SearchRunner
from syclade.host.search.runners import begin_search, make_search_runner
from syclade.host.search.search import SearchOutcome, run_search
from syclade.host.search.tiered_runner import BetterSearch, TieredSearchRunner
from syclade.host.search.work import STAGES
from tests.search.test_search_runs import POLICY, search_problem
from tests.support.did_all import assert_did_all

PROBLEM = search_problem(20, 12)
MATRIX = simulate(20, 12, 0.01, 0.2, 0.1, 1).matrix
STARTS = SearchPolicy(POLICY.starts[:2], POLICY.rounds)


OTHER = Device("other", "another device", "other", 1)


def native() -> SearchRunner:
    return make_search_runner(choose_device("native"), PROBLEM, 2, 3, by_columns=True)


def searched(runner: SearchRunner) -> SearchOutcome:
    try:
        return run_search(runner, STARTS)
    finally:
        runner.close()


def searched_and_work(runner: TieredSearchRunner) -> tuple[SearchOutcome, tuple[WorkDone, ...]]:
    try:
        return run_search(runner, STARTS), runner.work
    finally:
        runner.close()


def sweeps_of_native() -> tuple[WorkDone, ...]:
    return searched_and_work(TieredSearchRunner(native()))[1]


def assert_equal(one: SearchOutcome, other: SearchOutcome) -> None:
    assert (one.scores, one.legs) == (other.scores, other.legs)
    for tree, same in zip(one.trees, other.trees, strict=True):
        np.testing.assert_array_equal(tree, same)


class Preparing:
    """A compilation that ends after some looks at it."""

    def __init__(self, looks: int, problem: str | None = None) -> None:
        self.looks, self.problem, self.stopped = looks, problem, False

    def ended(self) -> bool:
        self.looks -= 1
        return self.looks < 0

    def failure(self) -> str | None:
        return self.problem

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiered_runner, "WAIT_SECONDS", -1.0)


def refuse() -> Any:
    raise DeviceError("there is no such driver")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("looks", [0, 1, 7])
def test_it_goes_over_between_two_launches(looks: int) -> None:
    made: list[SearchRunner] = []

    def better() -> SearchRunner:
        made.append(native())
        made[-1].executor = OTHER
        return made[-1]

    preparing: Any = Preparing(looks)
    runner = TieredSearchRunner(native(), BetterSearch(lambda: preparing, better))
    found, work = searched_and_work(runner)
    assert_equal(found, searched(native()))
    kinds = [one.executor.kind for one in work]
    assert kinds == ["native", "other"] if looks > 0 else kinds[-1] == "other"
    assert sum(one.count for one in work) == sum(one.count for one in sweeps_of_native())
    assert all(one.unit == "sweeps" and one.kernel == "general" for one in work)
    assert sum(one["share"] for one in work_dicts(work)) == pytest.approx(1)
    assert len(made) == 1
    assert preparing.stopped


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("start", "better"),
    [
        (lambda: Preparing(2, "the compiler has no memory"), native),
        (lambda: Preparing(2), refuse),
        (lambda: None, refuse),
        (refuse, native),
    ],
)
def test_it_goes_on_where_the_driver_fails(start: Callable[[], Any], better: Callable[[], Any]) -> None:
    found, work = searched_and_work(TieredSearchRunner(native(), BetterSearch(start, better)))
    assert_equal(found, searched(native()))
    assert [one.executor.kind for one in work] == ["native"]


def test_a_short_search_does_not_ask_the_driver() -> None:
    runner = TieredSearchRunner(native(), BetterSearch(refuse, refuse))
    assert_equal(searched(runner), searched(native()))


@pytest.mark.sycl
def test_auto_ends_a_long_search_on_the_cpu_device(monkeypatch: pytest.MonkeyPatch) -> None:
    make = partial(
        begin_search,
        choose_device("cpu"),
        PROBLEM,
        2,
        3,
        by_columns=True,
        stages=tuple(STAGES),
        explicit=False,
    )
    expected, short = searched_and_work(make())
    assert [one.executor.kind for one in short] == ["native"]
    monkeypatch.setattr(tiered_runner, "WAIT_SECONDS", -1.0)
    monkeypatch.setattr(runners, "_translate", lambda *_: None)
    found, work = searched_and_work(make())
    assert_equal(found, expected)
    assert work[-1].executor.kind == "cpu"
    assert sum(one.count for one in work) == short[0].count


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
def test_a_device_that_was_asked_for_does_every_sweep(
    device: str, own_cache: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an empty cache, too: it waits for its driver, and says so once."""
    monkeypatch.setattr(program, "_built", {})
    monkeypatch.setattr(program, "_announced", set())
    caplog.set_level("INFO", "syclade")
    result = syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.2, device=device)
    assert_did_all(result, device)
    assert [one.unit for one in result.work] == ["steps", "sweeps"]
    (said,) = [message for message in caplog.messages if "only once" in message]
    assert said.startswith("the driver of ")
    assert said.endswith(" translates the kernels: about 4 s, only once")


@pytest.mark.sycl
def test_auto_may_begin_a_search_with_another_executor(own_cache: Path) -> None:
    result = syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.2)
    assert [(one.executor.kind, one.unit) for one in result.work] == [("cpu", "steps"), ("native", "sweeps")]
    assert (result.device, result.device_name) == ("native", "this processor, by numba")
    with pytest.raises(AssertionError, match="others than cpu did some of the work"):
        assert_did_all(result, "cpu")
