"""A run begins at once and is taken over: the same chain on every tier."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from syclade.host.backends import make_runner, tiers
from syclade.host.backends.tiered_runner import TieredRunner
from syclade.host.backends.tiers import GENERAL, SPECIALISED, begin
from syclade.host.chains.pipeline import initial_state
from syclade.host.chains.plan import Plan
from syclade.host.chains.recorders import NEW_BEST, Recorder, every
from syclade.host.compile import ahead
from syclade.host.devices.choice import choose_device
from syclade.host.encodings import make_encoding
from syclade.host.errors import DeviceError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import NUMPY, Case, assert_equal_chains, run_alone, seen

CASE = Case(12, 20)
SLOTS = 3
PATIENCE = 120  # seconds

on_devices = pytest.mark.parametrize("device", ["native", pytest.param("cpu", marks=pytest.mark.sycl)])


def opened(plan: Plan, device: str, encoding: str) -> TieredRunner:
    made = make_encoding(encoding)(plan.problem, TRAITS)
    runner = begin(choose_device(device), plan, made, SLOTS, CASE.seed)
    for slot in (0, 2):  # one stays empty
        runner.put(slot, initial_state(plan, CASE.seed, slot))
    return runner


def run_until(runner: TieredRunner, tier: str) -> int:
    """Steps that every chain has done when the tier has done its first ones."""
    step, deadline = 0, time.monotonic() + PATIENCE
    while not runner.tiers.get(tier):
        assert time.monotonic() < deadline, f"no {tier} kernel after {PATIENCE} s"
        step += 50
        runner.advance(np.array([step, 0, step]))
        time.sleep(0.01)
    return step


@on_devices
@pytest.mark.parametrize(("encoding", "first"), [("preorder", GENERAL), ("ancestor", "numpy")])
def test_the_specialised_kernel_takes_over(
    device: str, encoding: str, first: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some launch, which nobody can tell from the chains."""
    monkeypatch.setattr(tiers, "WAIT_SECONDS", 0.0)
    plan = CASE.plan()
    runner = opened(plan, device, encoding)
    try:
        assert (runner.tier, runner.tiers) == (first, {first: 0})
        steps = run_until(runner, SPECIALISED)
        assert list(runner.tiers) == [first, SPECIALISED]
        assert sum(runner.tiers.values()) == 2 * steps
        assert runner.tiers[first] > 0
        for slot in (0, 2):
            assert_equal_chains(seen(runner, slot), run_alone(NUMPY, CASE, slot, steps))
    finally:
        runner.close()
    again = opened(plan, device, encoding)
    assert again.tier == SPECIALISED, "what was compiled is kept"
    again.close()


@on_devices
def test_a_short_run_compiles_nothing(device: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "Ahead", lambda *_: pytest.fail("a compiler was started"))
    runner = opened(CASE.plan(), device, "preorder")
    for step in range(100, 2000, 100):
        runner.advance(np.array([step, 0, step]))
    assert runner.tiers == {GENERAL: 2 * 1900}
    runner.close()


@pytest.mark.parametrize(("recorders", "tier"), [((every(1),), GENERAL), ((every(1), NEW_BEST), "numpy")])
def test_what_no_kernel_of_the_package_does_begins_in_numpy(
    recorders: tuple[Recorder, ...], tier: str, own_cache: Path
) -> None:
    """Samples are taken by kernels that come with the package, new bests besides are not."""
    runner = opened(CASE.plan(recorders=recorders, events=64), "native", "preorder")
    assert runner.tier == tier
    assert len(runner.advance(np.array([5, 0, 5])).events) == 10
    runner.close()


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
    assert runner.tiers == {GENERAL: 60}
    assert "going on with the general kernel: the compiler has no memory" in caplog.text
    runner.close()


def test_numpy_is_no_answer_to_who_asked_for_a_device(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "Ahead", lambda *_: Failing())
    runner = opened(CASE.plan(), "native", "ancestor")
    runner.advance(np.array([10, 0, 10]))
    with pytest.raises(DeviceError, match="the compiler has no memory"):
        runner.advance(np.array([20, 0, 20]))
    runner.close()


def test_without_a_compiler_the_general_kernel_does_it_all(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "can_compile", lambda _device: False)
    monkeypatch.setattr(tiers, "WAIT_SECONDS", 0.0)
    runner = opened(CASE.plan(), "native", "preorder")
    for step in (10, 20, 30):
        runner.advance(np.array([step, 0, step]))
    assert runner.tiers == {GENERAL: 60}
    runner.close()


def test_a_compilation_ends_with_its_run(own_cache: Path) -> None:
    runner = opened(CASE.plan(), "native", "ancestor")
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
