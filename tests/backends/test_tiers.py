"""Which executor does the steps: the device that was asked for all of them, and `auto` what is ready."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.backends import make_runner, opening, tiers
from syclade.host.backends.tiered_runner import TieredRunner
from syclade.host.backends.tiers import GENERAL, SPECIALISED, begin
from syclade.host.chains.pipeline import initial_state
from syclade.host.chains.plan import Plan
from syclade.host.chains.recorders import NEW_BEST, Recorder, every
from syclade.host.compile import ahead, machine_code, program
from syclade.host.compile.kernel import Kernel
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import NUMPY as NUMPY_DEVICE
from syclade.host.devices.work import require_all, work_dicts
from syclade.host.encodings import make_encoding
from syclade.host.errors import DeviceError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support import backends
from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone, seen
from tests.support.did_all import assert_did_all

CASE = Case(12, 20)
SLOTS = 3
QUICK: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "chains": 2, "steps": 50}
PATIENCE = 600  # seconds

on_devices = pytest.mark.parametrize("device", ["native", pytest.param("cpu", marks=pytest.mark.sycl)])


@pytest.fixture
def nothing_built(own_cache: Path, compile_here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel is cached, nor in this process from another test."""
    monkeypatch.setattr(machine_code, "_loaded", {})
    monkeypatch.setattr(program, "_built", {})


def opened(plan: Plan, device: str, encoding: str, *, explicit: bool = True) -> TieredRunner:
    made = make_encoding(encoding)(plan.problem, TRAITS)
    runner = begin(choose_device(device), plan, made, SLOTS, CASE.seed, explicit=explicit)
    for slot in (0, 2):  # one stays empty
        runner.put(slot, initial_state(plan, CASE.seed, slot))
    return runner


def steps_by(runner: TieredRunner) -> dict[tuple[str, str], int]:
    """Steps by device and kernel."""
    assert {one.unit for one in runner.work} == {"steps"}
    assert all(one.seconds > 0 for one in runner.work)
    return {(one.executor.kind, one.kernel): one.count for one in runner.work}


def run_until(runner: TieredRunner, kernel: str) -> int:
    """Steps that every chain has done when the kernel has done its first ones."""
    step, deadline = 0, time.monotonic() + PATIENCE
    while runner.kernel != kernel:
        assert time.monotonic() < deadline, f"no {kernel} kernel after {PATIENCE} s"
        step += 5  # few: numpy repeats them all
        runner.advance(np.array([step, 0, step]))
        time.sleep(0.05)
    return step


@on_devices
@pytest.mark.parametrize(
    ("encoding", "explicit", "first"),
    [("preorder", True, GENERAL), ("preorder", False, GENERAL), ("ancestor", False, "numpy")],
)
def test_the_specialised_kernel_takes_over(
    device: str, encoding: str, explicit: bool, first: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some launch, which nobody can tell from the chains."""
    monkeypatch.setattr(tiers, "WAIT_SECONDS", 0.0)
    plan = CASE.plan()
    runner = opened(plan, device, encoding, explicit=explicit)
    try:
        assert (runner.kernel, runner.work) == (first, ())
        steps = run_until(runner, SPECIALISED)
        kind = "numpy" if first == "numpy" else device
        done = steps_by(runner)
        assert list(done) == [(kind, first), (device, SPECIALISED)]
        assert sum(done.values()) == 2 * steps
        assert done[kind, first] > 0
        assert runner.executor.kind == device
        assert sum(one["share"] for one in work_dicts(runner.work)) == pytest.approx(1)
        for slot in (0, 2):
            assert_equal_chains(seen(runner, slot), run_alone(NUMPY, CASE, slot, steps))
    finally:
        runner.close()
    again = opened(plan, device, encoding)
    assert again.kernel == SPECIALISED, "what was compiled is kept"
    again.close()


@on_devices
def test_a_short_run_compiles_nothing(device: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "Ahead", lambda *_: pytest.fail("a compiler was started"))
    runner = opened(CASE.plan(), device, "preorder")
    for step in range(100, 2000, 100):
        runner.advance(np.array([step, 0, step]))
    assert steps_by(runner) == {(device, GENERAL): 2 * 1900}
    runner.close()


@pytest.mark.parametrize(("recorders", "kernel"), [((every(1),), GENERAL), ((every(1), NEW_BEST), "numpy")])
def test_auto_begins_in_numpy_what_no_kernel_of_the_package_does(
    recorders: tuple[Recorder, ...], kernel: str, own_cache: Path
) -> None:
    """Samples are taken by kernels that come with the package, new bests besides are not."""
    runner = opened(CASE.plan(recorders=recorders, events=64), "native", "preorder", explicit=False)
    assert runner.kernel == kernel
    assert len(runner.advance(np.array([5, 0, 5])).events) == 10
    runner.close()


@pytest.mark.usefixtures("nothing_built")
@on_devices
@pytest.mark.parametrize(
    ("encoding", "recorders"),
    [("ancestor", ()), ("preorder", (every(1), NEW_BEST))],
    ids=["ancestor", "new bests"],
)
def test_a_device_that_was_asked_for_waits_for_its_compiler(
    device: str, encoding: str, recorders: tuple[Recorder, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """And says so once; what it compiled is kept."""
    caplog.set_level("INFO", "syclade")
    plan = CASE.plan(recorders=recorders, events=64)
    for _ in range(2):
        runner = opened(plan, device, encoding)
        runner.advance(np.array([5, 0, 5]))
        assert steps_by(runner) == {(device, SPECIALISED): 10}
        runner.close()
        said = [message for message in caplog.messages if "only once" in message]
        assert len(said) == 1
        assert re.fullmatch(r"compiling the kernel for .+: about 10 s, only once", said[0])


class Failing:
    """A compilation that ends badly at once."""

    def ended(self) -> bool:
        return True

    def failure(self) -> str:
        return "the compiler has no memory"

    def stop(self) -> None:
        pass


def test_a_run_goes_on_with_the_general_kernel_if_the_compiler_fails(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tiers, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(tiers, "Ahead", lambda *_: Failing())
    caplog.set_level("INFO", "syclade")
    runner = opened(CASE.plan(), "native", "preorder")
    for step in (10, 20, 30):
        runner.advance(np.array([step, 0, step]))
    assert steps_by(runner) == {("native", GENERAL): 60}
    assert "going on with the general kernel: the compiler has no memory" in caplog.text
    runner.close()


def test_auto_stays_in_numpy_if_the_compiler_fails(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tiers, "Ahead", lambda *_: Failing())
    runner = opened(CASE.plan(), "native", "ancestor", explicit=False)
    for step in (10, 20, 30):
        runner.advance(np.array([step, 0, step]))
    assert steps_by(runner) == {("numpy", "numpy"): 60}
    assert "going on with the numpy kernel: the compiler has no memory" in caplog.text
    runner.close()


@pytest.mark.usefixtures("nothing_built")
def test_numpy_is_no_answer_to_a_request_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_kernel: Kernel) -> None:
        raise DeviceError("the compiler has no memory")

    monkeypatch.setattr(machine_code, "_compile", fail)
    with pytest.raises(DeviceError, match="the compiler has no memory"):
        opened(CASE.plan(), "native", "ancestor")


def test_the_check_of_suites_finds_another_executor(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: with an empty cache, numpy does a device's steps, as it once did."""
    result = syclade.infer(CASE.values, device="native", encoding="ancestor", **QUICK)
    assert_did_all(result, "native")
    forced = partial(begin, explicit=False)
    monkeypatch.setattr(opening, "begin", lambda *given, explicit: forced(*given))
    monkeypatch.setattr(tiers, "_is_at_hand", lambda *_: False)
    monkeypatch.setattr(tiers, "Ahead", lambda *_: Failing())
    other = syclade.infer(CASE.values, device="native", encoding="ancestor", **QUICK)
    assert other.device == "numpy"
    with pytest.raises(AssertionError, match="others than native did some of the work"):
        assert_did_all(other, "native")
    with pytest.raises(DeviceError, match="native did not do all of the work on numpy"):
        require_all(other.work, "native")
    monkeypatch.setattr(backends, "make_runner", lambda _device, *given: make_runner(NUMPY_DEVICE, *given))
    with (
        pytest.raises(AssertionError, match=r"the runner executes on .*numpy"),
        Backend("native", "ancestor").runner(CASE.plan(), 1, 1),
    ):
        pass


def test_without_a_compiler_the_general_kernel_does_it_all(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "can_compile", lambda _device: False)
    monkeypatch.setattr(tiers, "WAIT_SECONDS", 0.0)
    runner = opened(CASE.plan(), "native", "preorder")
    for step in (10, 20, 30):
        runner.advance(np.array([step, 0, step]))
    assert steps_by(runner) == {("native", GENERAL): 60}
    runner.close()


def test_a_compilation_ends_with_its_run(own_cache: Path) -> None:
    runner = opened(CASE.plan(), "native", "ancestor", explicit=False)
    runner.advance(np.array([10, 0, 10]))
    runner.advance(np.array([20, 0, 20]))
    under_way = runner._ahead
    assert isinstance(under_way, ahead.Ahead)
    assert not under_way.ended()
    runner.close()
    assert under_way._process.returncode is not None


def test_what_the_compiler_says_comes_back() -> None:
    """A kernel whose parts do not exist."""
    from dataclasses import replace

    from syclade.host.chains.kernel import chain_kernel

    plan = CASE.plan()
    kernel = chain_kernel(plan, make_encoding("preorder")(plan.problem, TRAITS))
    broken = replace(kernel, factory="syclade.kernels.chain.steps:make_nothing_of_the_kind")
    process = ahead.Ahead(choose_device("native"), [broken])
    deadline = time.monotonic() + PATIENCE
    while not process.ended():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "make_nothing_of_the_kind" in (process.failure() or "")
    process.stop()


@on_devices
def test_the_general_kernel_is_as_good_as_the_other_one(device: str) -> None:
    """Padding of another width, the same states; a tree put in one comes out for the other."""
    plan = CASE.plan()
    special = make_encoding("preorder")(plan.problem, TRAITS)
    general = special.general()
    assert general is not None
    one = make_runner(choose_device(device), plan, general, 1, CASE.seed)
    other = make_runner(choose_device(device), plan, special, 1, CASE.seed)
    one.put(0, initial_state(plan, CASE.seed, 4))
    one.advance(np.array([70]))
    other.put(0, one.get(0), one.info(0))
    other.advance(np.array([150]))
    assert_equal_chains(seen(other, 0), run_alone(NUMPY, CASE, 4, 150))
    one.close()
    other.close()
