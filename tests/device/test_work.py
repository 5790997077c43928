"""Reports of the work that executors did: messages and figures."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.device.work import (
    COLUMNS,
    STEPS,
    SWEEPS,
    WithWork,
    WorkDone,
    WorkLog,
    executed_on,
    executors_of,
    require_all,
    require_executor,
    work_dicts,
)
from syclade.host.ground.errors import DeviceError

CPU = Device("opencl:cpu:0", "Some CPU", "cpu", 2)
NATIVE = native_device()
CHAINS = WorkDone(CPU, "general", STEPS, 600, 0.5)
BEFORE = WorkDone(NATIVE, "general", SWEEPS, 71, 1.0)
AFTER = WorkDone(CPU, "general", SWEEPS, 29, 1.0)


class Done(WithWork):
    def __init__(self, *work: WorkDone) -> None:
        self.work = work


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ((), " (all done by an earlier run)"),
        ((CHAINS,), " on opencl:cpu:0 (Some CPU)"),
        ((CHAINS, AFTER), " on opencl:cpu:0 (Some CPU)"),
        (
            (CHAINS, BEFORE),
            ", all sweeps on native (this processor, by numba); all chain steps on opencl:cpu:0 (Some CPU)",
        ),
        (
            (BEFORE, AFTER),
            ", 71 % of the sweeps on native (this processor, by numba), 29 % on opencl:cpu:0 (Some CPU)",
        ),
    ],
)
def test_words(work: tuple[WorkDone, ...], words: str) -> None:
    assert executed_on(work) == words
    assert executors_of(work) in words


@pytest.mark.parametrize(("count", "percents"), [(1, ("99.9 %", "0.1 %")), (20, ("98 %", "2 %"))])
def test_a_small_share_is_never_none(count: int, percents: tuple[str, str]) -> None:
    work = (WorkDone(CPU, "general", STEPS, 1000, 1.0), WorkDone(NUMPY, "numpy", STEPS, count, 1.0))
    on_cpu, on_numpy = percents
    assert executors_of(work) == (
        f"{on_cpu} of the chain steps on opencl:cpu:0 (Some CPU), {on_numpy} on numpy (numpy fallback)"
    )


def test_plain_values() -> None:
    report = work_dicts((CHAINS, BEFORE, AFTER))
    assert report[0] == {
        "device": "opencl:cpu:0", "device_name": "Some CPU", "kernel": "general", "unit": "steps",
        "count": 600, "share_of_steps": 1.0, "seconds": 0.5,
    }  # fmt: skip
    assert [one["share_of_sweeps"] for one in report[1:]] == [0.71, 0.29]
    assert work_dicts(()) == []


def test_columns_are_a_unit_of_their_own() -> None:
    work = (WorkDone(CPU, "general", COLUMNS, 30, 1.0), WorkDone(NATIVE, "general", COLUMNS, 90, 1.0))
    assert [one["share_of_columns"] for one in work_dicts(work)] == [0.25, 0.75]
    assert executed_on(work[:1]) == " on opencl:cpu:0 (Some CPU)"
    assert executors_of(work) == (
        "25 % of the columns on opencl:cpu:0 (Some CPU), 75 % on native (this processor, by numba)"
    )
    assert Done(*work).device == NATIVE.filter
    assert Done(*work).steps_per_second == 0


def test_a_result_names_the_executor_of_most_of_the_work() -> None:
    assert (Done().device, Done().device_name, Done().steps_per_second) == (None, None, 0.0)
    mixed = Done(CHAINS, BEFORE, AFTER)
    assert (mixed.device, mixed.device_name) == ("native", NATIVE.name)
    assert mixed.steps_per_second == 1200
    assert Done(CHAINS, WorkDone(NUMPY, "numpy", STEPS, 601, 2.5)).device == "numpy"
    assert Done(CHAINS, WorkDone(CPU, "specialised", STEPS, 5, 0.1), BEFORE).device == "native"


def test_a_log_leaves_out_who_did_nothing() -> None:
    assert WorkLog(NUMPY, "numpy", STEPS, 1).work == ()
    log = WorkLog(CPU, "general", STEPS, 3)
    log.put(0, 10)
    log.put(1, 0)
    log.launched(np.array([12, 1, 99]), 0.5)
    log.put(0, 100)
    log.launched(np.array([103, 2, 100]), 0.25)
    assert log.work == (WorkDone(CPU, "general", STEPS, 7, 0.75),)


def test_what_another_executor_did_is_refused() -> None:
    require_all((CHAINS, AFTER), "opencl:cpu:0")
    for work in ((CHAINS, BEFORE), (BEFORE,), ()):
        with pytest.raises(DeviceError, match="opencl:cpu:0 did not do all of the work"):
            require_all(work, "opencl:cpu:0")
    require_executor(CPU, CPU)
    with pytest.raises(DeviceError, match=r"native was requested, but the runner executes on opencl:cpu:0"):
        require_executor(CPU, NATIVE)
