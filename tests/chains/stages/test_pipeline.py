"""Separate stages give the bits of the fused kernel and of the numpy fallback, on every device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends import Runner
from syclade.host.chains.backends.stages import launcher as launching
from syclade.host.chains.backends.stages.launcher import Launcher, run_pipeline
from syclade.host.chains.backends.stages.opening import StagedRunner, open_stages
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import Outcome, initial_state, run_chains
from syclade.host.device.device import PYTHON
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import LocalEngine
from tests.support.backends import NUMPY, Backend, Case, seen

DEVICES = ("cpu", "fpga-emu", "native", "numpy")
SIZES = ((1, 1), (3, 5), (15, 16), (31, 32), (41, 50), (63, 64), (95, 96), (127, 128))
"""Numbers of mutations and cells."""
SIZES_OF_TEST = {"native": ((1, 1), (41, 50)), "fpga-emu": ((1, 1), (41, 50), (127, 128))}
"""Sizes of `make test` on devices that take long to build; `make verify` runs the others."""
SEED = 5


def _marks(device: str) -> list[pytest.MarkDecorator]:
    return [] if device in ("native", "numpy") else [pytest.mark.sycl, pytest.mark.compiler]


on_every_device = pytest.mark.parametrize(
    "device", [pytest.param(device, marks=_marks(device)) for device in DEVICES]
)


@contextmanager
def staged(device: str, plan: Plan, slots: int) -> Iterator[StagedRunner]:
    runner, _, _ = open_stages(device, plan, chains=slots, slots=slots, seed=SEED)
    assert runner.executor.kind == device
    try:
        yield runner
    finally:
        runner.close()


@cache
def expected_of(case: Case, slots: int, chains: int, steps: int) -> Outcome:
    """Return the outcome of chains of the fallback, which the tests of all devices share."""
    with NUMPY.runner(case.plan(), slots, SEED) as fallback:
        return run_chains(fallback, chains=chains, steps=steps)


def assert_equal_outcomes(one: Outcome, other: Outcome) -> None:
    np.testing.assert_array_equal(one.best_scores, other.best_scores)
    np.testing.assert_array_equal(one.tallies, other.tallies)
    assert one.steps == other.steps
    assert (one.best.chain, one.best.step, one.best.score) == (
        other.best.chain,
        other.best.step,
        other.best.score,
    )
    np.testing.assert_array_equal(one.best.parents, other.best.parents)
    np.testing.assert_array_equal(one.best.best_parents, other.best.best_parents)


def assert_equal_slots(one: Runner, other: Runner) -> None:
    for slot in range(one.slots):
        here, there = seen(one, slot), seen(other, slot)
        assert (here.state.step, here.state.score) == (there.state.step, there.state.score)
        assert here.state.best_score == there.state.best_score
        np.testing.assert_array_equal(here.state.parents, there.state.parents)
        np.testing.assert_array_equal(here.state.best_parents, there.state.best_parents)
        np.testing.assert_array_equal(here.tallies, there.tallies)


@pytest.mark.parametrize(
    ("device", "n", "m"),
    [
        pytest.param(device, n, m, marks=[*_marks(device), *verified])
        for device in DEVICES
        for n, m in SIZES
        for verified in [[pytest.mark.verification] if (n, m) not in SIZES_OF_TEST.get(device, SIZES) else []]
    ],
)
def test_the_bits_are_those_of_the_fallback(
    device: str, n: int, m: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """Run fewer slots than stages, slightly more, and many; other chains take the slots of finished ones."""
    plan = Case(n, m).plan()
    for slots, chains, steps in ((1, 2, 30), (6, 8, 20), (24, 24, 10)):
        expected = expected_of(Case(n, m), chains, chains, steps)
        with staged(device, plan, slots) as runner:
            found = run_chains(runner, chains=chains, steps=steps)
            report = runner.report()
        assert report["steps"] == chains * steps == found.tallies[: len(plan.kinds)].sum()
        assert_equal_outcomes(found, expected)
    assert "loop not vectorized" not in capfd.readouterr().err


@on_every_device
def test_the_bits_are_those_of_the_fused_kernel_at_every_stop(device: str) -> None:
    """Run slots with different targets, in three launches, in which every kind of move occurs."""
    plan = Case(14, 16).plan()  # kernels of up to 15 mutations and 16 cells are the same, also in other tests
    rng = np.random.default_rng(3)
    targets = np.cumsum(rng.integers(0, 150, size=(3, 6)), axis=0)
    states = [initial_state(plan, SEED, chain) for chain in range(6)]
    with staged(device, plan, 6) as runner, Backend(device, "ancestor").runner(plan, 6, SEED) as fused:
        for one in (runner, fused):
            one.put_all(states)
        for each in targets:
            assert runner.advance(each).steps.tolist() == each.tolist()
            fused.advance(each)
            assert_equal_slots(runner, fused)
        assert runner.report()["steps"] == targets[-1].sum()
        tallies = np.sum([seen(runner, slot).tallies for slot in range(6)], axis=0)
    assert (tallies[:4] > 0).all()
    assert (tallies[5:9] > 0).all()


@on_every_device
@pytest.mark.parametrize(
    "case",
    [
        Case(14, 16, kind="zygosity"),
        Case(14, 16, kind="missing", gamma=2.5),
        Case(14, 16, kind="duplicates", moves=(0.1, 0.2, 0.7)),
    ],
    ids=lambda case: str(case.kind),
)
def test_other_inputs_and_settings(device: str, case: Case) -> None:
    plan = case.plan()
    with staged(device, plan, 6) as runner:
        found = run_chains(runner, chains=6, steps=60)
    assert_equal_outcomes(found, expected_of(case, 6, 6, 60))


@on_every_device
def test_a_chain_may_change_its_exponent_and_its_slot(device: str) -> None:
    plan = Case(14, 16).plan()
    with NUMPY.runner(plan, 2, SEED) as fallback, staged(device, plan, 2) as runner:
        for one in (fallback, runner):
            one.put_all([initial_state(plan, SEED, chain) for chain in range(2)])
            one.advance(np.array([50, 20]))
            one.set_gamma(0, 3.0)
            one.advance(np.array([90, 20]))
            moved = seen(one, 0)
            one.put(1, moved.state, moved.info)
            one.advance(np.array([120, 130]))
        assert_equal_slots(runner, fallback)


@on_every_device
def test_many_launches_are_under_way_at_once(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host waits for old launches only; a limit of one launch in flight gives the same bits."""
    plan = Case(15, 16).plan()
    outcomes = []
    for bound in (launching.IN_FLIGHT, 1):
        monkeypatch.setattr(launching, "IN_FLIGHT", bound)
        with staged(device, plan, 6) as runner:
            outcomes.append(run_chains(runner, chains=6, steps=40))
    assert_equal_outcomes(*outcomes)


class Noting(LocalEngine):
    """Engine that only records its calls; tokens are the numbers of the launches."""

    def __init__(self) -> None:
        super().__init__(PYTHON, Allocation((), {"slots": 0}))
        self.launched: list[tuple[int, int, list[int]]] = []
        self.waited: list[int] = []

    def start(self, kernel, slot, after=()):  # type: ignore[no-untyped-def]
        self.launched.append((kernel, slot, list(after)))
        return len(self.launched) - 1

    def wait(self, token):  # type: ignore[no-untyped-def]
        self.waited.append(token)


@pytest.mark.parametrize("slots", [1, 3, 6, 24])
def test_what_a_launch_waits_for(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch waits for the previous launch on its state and the previous one of its stage, nothing else."""
    monkeypatch.setattr(launching, "IN_FLIGHT", 10)
    engine = Noting()
    run_pipeline(Launcher(engine, "12345", range(5)), [7] * slots)
    of_slot: dict[int, int] = {}
    of_stage: dict[int, int] = {}
    for token, (stage, slot, after) in enumerate(engine.launched):
        assert set(after) == {of[key] for of, key in ((of_slot, slot), (of_stage, stage)) if key in of}
        of_slot[slot] = of_stage[stage] = token
    assert engine.waited == list(range(7 * slots * 5))


class Dropping(Launcher):
    """Launcher that omits one stage: a control that must fail."""

    def __init__(self, made: Launcher, stage: int) -> None:
        super().__init__(made.engine, made.stages, made.kernels)
        self._stage = stage

    def launch(self, stage: int, slot: int, after: Sequence[Any]) -> Any:
        return (0, 0) if stage == self._stage else super().launch(stage, slot, after)


@pytest.mark.parametrize("stage", range(5))
def test_no_stage_can_be_left_out(stage: int) -> None:
    plan = Case(15, 16).plan()
    with NUMPY.runner(plan, 2, SEED) as fallback, staged("python", plan, 2) as runner:
        runner._launcher = Dropping(runner._launcher, stage)
        for one in (fallback, runner):
            one.put_all([initial_state(plan, SEED, chain) for chain in range(2)])
            one.advance(np.array([6, 6]))
        with pytest.raises((AssertionError, KeyError)):
            assert_equal_slots(runner, fallback)
