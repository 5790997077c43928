"""Kernel of a run: one rule chooses one kernel, and the requested device does every step."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends import Runner, make_runner, opening
from syclade.host.chains.backends.opening import (
    LONG_SECONDS,
    SHORT_SECONDS,
    ChainsToOpen,
    Opened,
    choose_kernel,
    open_one,
)
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import Plan, chain_kernel
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, Recorder, every
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import machine_code, program, translate
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.device import NUMPY as NUMPY_DEVICE
from syclade.host.device.device import Device
from syclade.host.device.work import GENERAL, SPECIALISED, require_all, work_dicts
from syclade.host.ground.errors import DeviceError
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support import backends
from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone, seen
from tests.support.did_all import assert_did_all

CASE = Case(12, 16)
"""On ancestor matrices, up to 15 mutations and 16 cells have one kernel, which other files need, too."""

SLOTS = 3
QUICK: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "chains": 2, "steps": 50}
SHORT, LONG = 1000, 10**13

on_sycl = pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
on_devices = pytest.mark.parametrize("device", ["native", pytest.param("cpu", marks=pytest.mark.sycl)])


@pytest.fixture
def nothing_built(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without kernels: none in the cache, and none in this process from another test."""
    monkeypatch.setattr(machine_code, "_loaded", {})
    monkeypatch.setattr(program, "_built", {})
    monkeypatch.setattr(program, "_announced", set())


def kernel_of(device: str, plan: Plan, steps: int | None) -> str:
    """Return the name of the kernel that a run would use."""
    chosen = choose_device(device)
    return choose_kernel(chosen, plan, choose_encoding("auto", chosen, plan.problem), steps).kernel


def opened(plan: Plan, device: str, encoding: str = "auto", steps: int | None = SHORT) -> Opened[Runner]:
    """Return a runner with chains in two of three slots."""
    made = open_one(device, ChainsToOpen(plan, encoding, SLOTS, steps, SLOTS, CASE.seed))
    for slot in (0, 2):
        made.runner.put(slot, initial_state(plan, CASE.seed, slot))
    return made


def steps_by(made: Opened[Runner]) -> dict[tuple[str, str], int]:
    """Check the work of a runner, and return its steps by kind of device and kernel."""
    work = made.runner.work
    assert {one.unit for one in work} == {"steps"}
    assert all(one.seconds > 0 for one in work)
    assert sum(float(one["share_of_steps"]) for one in work_dicts(work)) == pytest.approx(1)
    return {(one.executor.kind, one.kernel): one.count for one in work}


@pytest.mark.sycl
@pytest.mark.usefixtures("nothing_built")
@on_sycl
def test_only_a_short_run_takes_the_general_kernel(device: str) -> None:
    """A short run uses the general kernel only until the driver has translated the specialised one."""
    plan = CASE.plan()
    assert kernel_of(device, plan, SHORT) == GENERAL
    assert kernel_of(device, plan, LONG) == SPECIALISED
    assert kernel_of(device, plan, None) == SPECIALISED, "nobody knows how long"
    opened(plan, device, steps=LONG).runner.close()
    assert kernel_of(device, plan, SHORT) == SPECIALISED
    assert kernel_of(device, Case(12, 40).plan(), SHORT) == GENERAL, "other sizes are not translated"


@pytest.mark.sycl
@on_sycl
@pytest.mark.parametrize(
    "recorders", [(every(1),), (NEW_BEST, EQUAL_BEST, every(1))], ids=["samples", "scite"]
)
def test_chains_with_recorders_have_one_kernel(
    device: str, recorders: tuple[Recorder, ...], own_cache: Path
) -> None:
    assert kernel_of(device, CASE.plan(recorders=recorders), SHORT) == SPECIALISED


@pytest.mark.usefixtures("nothing_built")
def test_this_processor_compiles_for_long_runs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = CASE.plan()
    assert kernel_of("native", plan, SHORT) == GENERAL
    assert kernel_of("native", plan, None) == GENERAL
    assert kernel_of("native", plan, LONG) == SPECIALISED
    native = choose_device("native")
    own = chain_kernel(plan, choose_encoding("auto", native, plan.problem))
    monkeypatch.setattr(machine_code, "is_compiled", lambda _kernel: True)
    assert own.constants
    assert kernel_of("native", plan, SHORT) == SPECIALISED, "it is cached"
    monkeypatch.setattr(machine_code, "is_compiled", lambda _kernel: False)
    assert kernel_of("native", plan, SHORT) == SPECIALISED, "there is no other"


GPU = Device("cuda:0", "GPU", "cuda", 132, None, "CUDA 13.0")


def kernel_of_gpu(plan: Plan, steps: int | None) -> str:
    return choose_kernel(GPU, plan, choose_encoding("auto", GPU, plan.problem), steps).kernel


def test_a_gpu_needs_no_compiler(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of the package serves all sizes; numba-cuda makes faster ones, for long runs only."""
    plan = CASE.plan(recorders=(NEW_BEST, EQUAL_BEST, every(1)))
    monkeypatch.setattr(machine_code, "ptx_compiler_problem", lambda: "numba-cuda is not installed")
    assert [kernel_of_gpu(plan, steps) for steps in (SHORT, LONG, None)] == [GENERAL] * 3
    assert opening.has_gpu_kernel(GPU, plan)
    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "is_shipped", lambda *_: False)
        assert kernel_of_gpu(plan, SHORT) == SPECIALISED, "there is no other"
        assert not opening.has_gpu_kernel(GPU, plan)
    monkeypatch.setattr(machine_code, "ptx_compiler_problem", lambda: None)
    assert [kernel_of_gpu(plan, steps) for steps in (SHORT, LONG, None)] == [
        GENERAL,
        SPECIALISED,
        SPECIALISED,
    ]
    monkeypatch.setattr(machine_code, "is_shipped", lambda *_: False)
    assert opening.has_gpu_kernel(GPU, plan), "it can be compiled"
    monkeypatch.setattr(machine_code, "read_checked", lambda _place: b"chain\n.version 8.2")
    assert kernel_of_gpu(plan, SHORT) == SPECIALISED, "it is cached"


def test_numpy_has_no_kernel() -> None:
    assert kernel_of("numpy", CASE.plan(), LONG) == "numpy"


@pytest.mark.parametrize("steps", [10**6, 10**9])
@pytest.mark.parametrize("case", [Case(12, 20), Case(12, 900)], ids=["narrow", "wide"])
def test_runs_take_about_as_long_as_is_thought(steps: int, case: Case) -> None:
    """The estimated time grows with steps and columns, and falls with the number of cores."""
    plan, native = case.plan(), choose_device("native")
    seconds = opening.estimated_seconds(native, plan, steps)
    assert seconds is not None
    assert seconds == pytest.approx(steps * (30 + 1.4 * plan.problem.columns) * 1e-9 / native.units)
    assert SHORT_SECONDS < LONG_SECONDS
    assert opening.estimated_seconds(replace(native, units=4 * native.units), plan, 8 * steps) == 2 * seconds
    wider = Case(case.n, case.m + 100).plan()
    assert (opening.estimated_seconds(native, wider, steps) or 0.0) > seconds


@on_devices
@pytest.mark.parametrize("steps", [SHORT, None])
def test_the_device_does_every_step(device: str, steps: int | None) -> None:
    plan = CASE.plan()
    made = opened(plan, device, steps=steps)
    for step in (10, 50, 150):
        made.runner.advance(np.array([step, 0, step]))
    ((kind, _), count), *others = steps_by(made).items()
    assert (kind, count, others) == (device, 300, [])
    for slot in (0, 2):
        assert_equal_chains(seen(made.runner, slot), run_alone(NUMPY, CASE, slot, 150))
    made.runner.close()


@pytest.mark.sycl
@pytest.mark.usefixtures("nothing_built")
@on_sycl
@pytest.mark.parametrize(
    ("encoding", "recorders"), [("ancestor", ()), ("auto", (every(1),))], ids=["ancestor", "samples"]
)
def test_an_empty_cache_needs_the_driver_only(
    device: str,
    encoding: str,
    recorders: tuple[Recorder, ...],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No kernel of the package is compiled at run time; the log says once that the driver translates."""
    monkeypatch.setattr(translate, "import_compiler", lambda: pytest.fail("numba-dpex was imported"))
    caplog.set_level("INFO", "syclade")
    plan = CASE.plan(recorders=recorders, events=64)
    for _ in range(2):
        made = opened(plan, device, encoding)
        made.runner.advance(np.array([5, 0, 5]))
        assert steps_by(made) == {(device, SPECIALISED): 10}
        made.runner.close()
        (said,) = [message for message in caplog.messages if "only once" in message]
        assert re.fullmatch(r"the driver of .+ translates the kernels: about \d s, only once", said)


@pytest.fixture(scope="module")
def compiled() -> tuple[str, bytes]:
    """Return the kernel of the encoding ancestor as the tests keep it: numba takes seconds for it."""
    plan = CASE.plan()
    return machine_code._compile(
        chain_kernel(plan, choose_encoding("ancestor", choose_device("native"), plan.problem))
    )


@pytest.mark.usefixtures("nothing_built", "compile_here")
def test_this_processor_waits_for_its_compiler(
    compiled: tuple[str, bytes], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run waits, logs this once, and caches the compiled kernel."""
    caplog.set_level("INFO", "syclade")
    asked: list[str] = []

    def compile_kernel(_body: object, name: str, *_: object) -> tuple[str, bytes]:
        asked.append(name)
        return compiled

    monkeypatch.setattr("syclade.kernels.target.native.compiler.compile_kernel", compile_kernel)
    plan = CASE.plan()
    for _ in range(2):
        monkeypatch.setattr(machine_code, "_loaded", {})
        made = opened(plan, "native", "ancestor")
        made.runner.advance(np.array([5, 0, 5]))
        assert steps_by(made) == {("native", SPECIALISED): 10}
        made.runner.close()
        (said,) = [message for message in caplog.messages if "only once" in message]
        assert re.fullmatch(r"compiling the kernel for .+: about 10 s, only once", said)
    assert len(asked) == 1


@pytest.mark.usefixtures("nothing_built")
def test_numpy_is_no_answer_to_a_request_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_kernel: Kernel) -> None:
        raise DeviceError("the compiler has no memory")

    monkeypatch.setattr(machine_code, "_compile", fail)
    with pytest.raises(DeviceError, match="the compiler has no memory"):
        opened(CASE.plan(), "native", "ancestor")


def test_the_check_of_suites_finds_another_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: numpy does the steps of a device."""
    result = syclade.infer(CASE.values, device="native", **QUICK)
    assert_did_all(result, "native")

    def forced(_device: Any, plan: Plan, _encoding: Any, *given: Any, **_: Any) -> Any:
        return make_runner(NUMPY_DEVICE, plan, choose_encoding("auto", NUMPY_DEVICE, plan.problem), *given)

    monkeypatch.setattr(opening, "make_runner", forced)
    other = syclade.infer(CASE.values, device="native", **QUICK)
    assert other.device == "numpy"
    with pytest.raises(AssertionError, match="others than native did some of the work"):
        assert_did_all(other, "native")
    with pytest.raises(DeviceError, match="native did not do all of the work on numpy"):
        require_all(other.work, "native")
    monkeypatch.setattr(backends, "make_runner", forced)
    with (
        pytest.raises(AssertionError, match=r"the runner executes on .*numpy"),
        Backend("native", "ancestor").runner(CASE.plan(), 1, 1),
    ):
        pass


@pytest.mark.parametrize(
    ("device", "case"),
    [
        pytest.param("native", CASE, marks=pytest.mark.verification),
        pytest.param("cpu", CASE, marks=pytest.mark.sycl),
        pytest.param("cpu", Case(12, 150), marks=pytest.mark.sycl),
        pytest.param("cpu", Case(12, 900), marks=pytest.mark.sycl),
    ],
    ids=["native", "one panel", "panels", "wide"],
)
def test_the_general_kernel_is_as_good_as_the_other_one(device: str, case: Case) -> None:
    """Padding has another width, states are equal; a state from one kernel continues in the other."""
    plan, chosen = case.plan(), choose_device(device)
    own = choose_encoding("preorder", chosen, plan.problem)
    general = own.general()
    assert general is not None
    assert own.traits == TRAITS
    one = make_runner(chosen, plan, general, 1, case.seed)
    other = make_runner(chosen, plan, own, 1, case.seed)
    one.put(0, initial_state(plan, case.seed, 4))
    one.advance(np.array([70]))
    other.put(0, one.get(0), one.info(0))
    other.advance(np.array([150]))
    assert_equal_chains(seen(other, 0), run_alone(NUMPY, case, 4, 150))
    one.close()
    other.close()
