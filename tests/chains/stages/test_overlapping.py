"""Overlapping stages: their schedule, the bits of the fused kernel, and stages at work at the same time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import overlapping_kernel
from syclade.host.chains.backends.stages.launcher import TIMED_STEPS, ticks
from syclade.host.chains.backends.stages.overlapping import open_overlapping, ticks_of
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_allocation
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.commands.main import cli
from syclade.host.device.compile.translate import import_compiler
from syclade.host.device.device import PYTHON
from syclade.host.device.engines.local import PythonEngine
from syclade.host.device.workarounds import prepare
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.kernels.target.python import TRAITS
from tests.chains.stages.test_timeline import assert_apart
from tests.support.backends import NUMPY, Case, seen

STAGES, SEED, MOST, TIMED = 5, 5, 64, 30
PLAN = Case(15, 16).plan()


@pytest.mark.compiler
def test_the_tasks_are_those_of_the_schedule() -> None:
    """A task comes after those that it waits for, from 1 to 64 states in flight: so none waits forever."""
    prepare()
    import_compiler()  # which its imports need
    from syclade.kernels.ancestor.stages.overlapping import task_of

    for states in range(1, MOST + 1):
        steps = 3 if states < 30 else 2
        count = ticks_of(states, steps)
        expected = list(ticks([steps] * states, STAGES))
        assert len(expected) == count
        done: set[tuple[int, int, int]] = set()
        entered = [0] * STAGES
        for number in range(STAGES * count):
            task = task_of(number, states, steps)
            there = expected[number // STAGES][task.stage]
            assert task.is_empty == (there is None)
            if there is None:
                continue
            assert (task.state, task.step) == there
            assert task.entry == entered[task.stage]
            entered[task.stage] += 1
            before = (task.state, task.step, task.stage - 1)
            if task.stage == 0:
                before = (task.state, task.step - 1, STAGES - 1)
            assert before in done or (task.stage, task.step) == (0, 0)
            done.add((task.state, task.step, task.stage))
        assert entered == [states * steps] * STAGES


@pytest.mark.compiler
def test_one_work_group_does_all_tasks() -> None:
    """In Python, which runs one work-group; it has the states of the fallback."""
    slots, steps = 3, 12
    prepare()
    import_compiler()
    encoding = AncestorEncoding(PLAN.problem, TRAITS._replace(lanes=1))
    kernel = overlapping_kernel(PLAN, encoding)
    allocation = chain_allocation(PLAN, encoding, slots, SEED, kernel.arguments)
    engine = PythonEngine(
        PYTHON, allocation._replace(sizes={**allocation.sizes, "groups": 1, "timed": STAGES * TIMED})
    )
    number = engine.load(kernel)
    runner = Runner(PLAN, encoding, SEED, engine)
    runner.put_all([initial_state(PLAN, SEED, chain) for chain in range(slots)])
    engine.write("active", np.arange(slots))
    engine.write("pipeline", [slots, steps, ticks_of(slots, steps), STAGES * TIMED])
    engine.write("last_step", np.full(slots, steps))
    engine.launch([number, None, None])
    assert engine.read("counters")[2] == 1
    began = in_turn(slots, steps)
    assert engine.read("began").tolist() == began
    assert engine.read("ended").tolist() == [at + 1 for at in began]
    with NUMPY.runner(PLAN, slots, SEED) as fallback:
        fallback.put_all([initial_state(PLAN, SEED, chain) for chain in range(slots)])
        fallback.advance(np.full(slots, steps))
        assert_equal(runner, fallback)


def in_turn(slots: int, steps: int) -> list[int]:
    """Return when the stages of the first steps begin, in beginnings and ends, where one follows another."""
    began, entered, clock = [-1] * (STAGES * TIMED), [0] * STAGES, 0
    for contents in ticks([steps] * slots, STAGES):
        for stage in reversed(range(STAGES)):
            at = STAGES * entered[stage] + stage
            if contents[stage] is not None and at < len(began):
                began[at] = clock
                clock += 2
            entered[stage] += contents[stage] is not None
    return began


def assert_equal(one: Runner, other: Runner) -> None:
    for slot in range(one.slots):
        here, there = seen(one, slot), seen(other, slot)
        for name in ("step", "score", "best_score"):
            assert getattr(here.state, name) == getattr(there.state, name), name
        np.testing.assert_array_equal(here.state.parents, there.state.parents)
        np.testing.assert_array_equal(here.state.best_parents, there.state.best_parents)
        np.testing.assert_array_equal(here.tallies, there.tallies)


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", pytest.param("fpga-emu", marks=pytest.mark.verification)])
def test_the_bits_are_those_of_the_fallback(device: str) -> None:
    """Run 1 to 64 states in flight, then states with different numbers of steps."""
    runner, _, _ = open_overlapping(device, PLAN, chains=MOST, slots=MOST, seed=SEED)
    with NUMPY.runner(PLAN, MOST, SEED) as fallback:
        for one in (runner, fallback):
            one.put_all([initial_state(PLAN, SEED, chain) for chain in range(MOST)])
        targets = np.zeros(MOST, dtype=np.int64)
        for states in range(1, MOST + 1):
            targets[:states] += 1
            assert runner.advance(targets).steps.tolist() == targets.tolist()
        targets += np.arange(MOST) % 7
        runner.advance(targets)
        fallback.advance(targets)
        assert_equal(runner, fallback)
        report = runner.report()
    runner.close()
    assert report["steps"] == targets.sum()
    assert report["most_stages_at_once"] in range(1, STAGES + 1)
    assert report["stages_at_once"] is not None
    assert 1 <= report["stages_at_once"] <= STAGES


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", pytest.param("fpga-emu", marks=pytest.mark.verification)])
def test_the_trace_has_the_order_of_stages(device: str) -> None:
    """States do different numbers of steps; none is in two stages at once, and no stage has two states."""
    slots = 7
    runner, _, _ = open_overlapping(device, PLAN, chains=slots, slots=slots, seed=SEED)
    runner.put_all([initial_state(PLAN, SEED, 10 + slot) for slot in range(slots)])
    runner.advance(np.array([40, 40, 40, 40, 60, 60, 60]))
    runner.advance(np.full(slots, 300))
    intervals = runner.timeline.intervals
    assert len(intervals) == STAGES * TIMED_STEPS
    assert {one.chain for one in intervals} == {10 + slot for slot in range(slots)}
    assert sorted(time for one in intervals for time in one[-2:]) == list(range(2 * len(intervals)))
    for slot in range(slots):
        own = sorted((one for one in intervals if one.slot == slot), key=lambda one: one.start)
        assert [(one.step, one.stage) for one in own] == [divmod(at, STAGES) for at in range(len(own))]
        assert_apart(own)
    for stage in range(STAGES):
        assert_apart(sorted((one for one in intervals if one.stage == stage), key=lambda one: one.start))
    report, at_once = runner.report(), runner.timeline.at_once()
    assert report["most_stages_at_once"] is not None
    assert 1 <= max(at_once) <= report["most_stages_at_once"]
    trace = json.loads(runner.trace())
    runner.close()
    assert (trace["otherData"]["clock"], trace["otherData"]["timed_steps"]) == ("order", TIMED_STEPS)
    first = next(one for one in trace["traceEvents"] if one["ph"] == "X")
    assert (first["name"], first["ts"]) == ("chain 10", 0)


OPTIONS: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "chains": 6, "steps": 40, "stages": "overlapping"}


@pytest.mark.sycl
def test_a_run_reports_stages_at_once() -> None:
    result = syclade.infer(Case(15, 16).values, device="cpu", slots=4, **OPTIONS)
    fused = syclade.infer(Case(15, 16).values, device="numpy", **OPTIONS | {"stages": "fused"})
    np.testing.assert_array_equal(result.chain_log_likelihoods, fused.chain_log_likelihoods)
    assert (result.moves, result.encoding, result.slots) == (fused.moves, "ancestor", 4)
    assert result.pipeline is not None
    assert result.pipeline["steps"] == 240
    assert result.pipeline["fill_by_time"] is None


@pytest.mark.sycl
def test_the_command_writes_a_trace(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "matrix.csv", Case(15, 16).values, fmt="%d")
    given = ["--method=chain", "--chains=4", "--steps=50", "--stages=overlapping", "--device=cpu"]
    rates = ["--fp-rate=0.02", "--fn-rate=0.2", "--support=none", f"--trace={tmp_path / 'trace.json'}"]
    result = CliRunner().invoke(cli, ["infer", str(tmp_path / "matrix.csv"), *rates, *given])
    assert result.exit_code == 0, result.output
    assert re.search(
        r"5 overlapping stages, 4 chain states: .* ticks of the schedule, 1\.\d\d at once and \d at most",
        result.output,
    )
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["otherData"]["timed_steps"] == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image": "x.image"}, "--image does not go with --stages overlapping"),
        ({"encoding": "preorder"}, "--encoding preorder does not go with --stages overlapping"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as error:
        syclade.infer(Case(15, 16).values, **OPTIONS | options)
    assert error.value.message == message


@pytest.mark.parametrize("device", ["native", "numpy"])
def test_other_devices(device: str) -> None:
    with pytest.raises(DeviceError, match="overlapping stages do not run on"):
        syclade.infer(Case(15, 16).values, device=device, **OPTIONS)
