"""A search on a CPU device: begun by this processor's own code, gone on with by the driver's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from syclade.host.devices.choice import choose_device
from syclade.host.errors import DeviceError
from syclade.host.search import runners, tiered_runner
from syclade.host.search.policy import SearchPolicy
from syclade.host.search.runner import SearchRunner
from syclade.host.search.runners import begin_search, make_search_runner
from syclade.host.search.search import SearchOutcome, run_search
from syclade.host.search.tiered_runner import TieredSearchRunner
from tests.search.test_search_runs import POLICY, search_problem

PROBLEM = search_problem(20, 12)
STARTS = SearchPolicy(POLICY.starts[:2], POLICY.rounds)


def native() -> SearchRunner:
    return make_search_runner(choose_device("native"), PROBLEM, 2, 3, by_columns=True)


def searched(runner: SearchRunner) -> SearchOutcome:
    try:
        return run_search(runner, STARTS)
    finally:
        runner.close()


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
        made[-1].tier = "better"
        return made[-1]

    preparing: Any = Preparing(looks)
    runner = TieredSearchRunner(native(), lambda: preparing, better)
    assert_equal(searched(runner), searched(native()))
    assert runner.tier == "better"
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
    runner = TieredSearchRunner(native(), start, better)
    assert_equal(searched(runner), searched(native()))
    assert runner.tier == "native"


def test_a_short_search_does_not_ask_the_driver() -> None:
    runner = TieredSearchRunner(native(), refuse, refuse)
    assert_equal(searched(runner), searched(native()))


@pytest.mark.sycl
def test_a_long_search_on_a_cpu_device_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    make = partial(begin_search, choose_device("cpu"), PROBLEM, 2, 3, by_columns=True)
    short = make()
    expected = searched(short)
    assert short.tier == "native"
    monkeypatch.setattr(tiered_runner, "WAIT_SECONDS", -1.0)
    monkeypatch.setattr(runners, "_translate", lambda *_: None)
    runner = make()
    assert_equal(searched(runner), expected)
    assert runner.tier == "sycl"
