"""Engines on every device, with kernels that know neither trees nor chains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.device.choice import choose_device
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.device import NUMPY
from syclade.host.device.engines import Allocation, Engine, open_engine
from syclade.host.device.engines.local import NumpyEngine
from syclade.kernels.arguments import INFO, PROBLEM, SETTING, STATE, Argument

LANES = 16
SIZES = {"slots": 5, "lanes": LANES}
ARGUMENTS = (
    Argument("scale", PROBLEM, "int64", (1,), "factor of all slots"),
    Argument("code", SETTING, "int64", ("slots",), "kernel that works on the slot"),
    Argument("amount", SETTING, "int64", ("slots",), "amount to add"),
    Argument("total", STATE, "int64", ("slots", "lanes"), "sum of each lane"),
)
PROBLEM_ARRAYS = {"scale": np.array([10])}
FIRST, SECOND = 1, 2

on_every_engine = pytest.mark.parametrize(
    "device", ["python", "native", pytest.param("cpu", marks=[pytest.mark.sycl, pytest.mark.compiler])]
)


def addition(code: int, factor: int) -> Kernel:
    return Kernel(
        name=f"addition_{code}",
        factory="tests.support.device_checks:make_addition",
        parts={},
        constants={"code": code, "factor": factor, "lanes": LANES},
        records=(Record("Given", ARGUMENTS),),
        group="work-group",
        lanes=LANES,
    )


@contextmanager
def engine_on(device: str) -> Iterator[tuple[Engine, int, int]]:
    """Yield an engine with two kernels, and amounts 1 to 5 in its slots."""
    chosen = choose_device(device)
    engine = open_engine(chosen, Allocation(ARGUMENTS, SIZES, PROBLEM_ARRAYS), timed=True)
    assert engine.device.filter == chosen.filter
    engine.write("amount", range(1, 6))
    engine.prepare([addition(FIRST, 1), addition(SECOND, 100)])
    try:
        yield engine, engine.load(addition(FIRST, 1)), engine.load(addition(SECOND, 100))
    finally:
        engine.close()


@on_every_engine
def test_each_slot_runs_its_own_kernel(device: str) -> None:
    with engine_on(device) as (engine, first, second):
        engine.write("code", [FIRST, SECOND, 0, FIRST, SECOND])
        engine.launch([first, second, None, first, second])
        np.testing.assert_array_equal(
            engine.read("total"), [[one] * LANES for one in (10, 2000, 0, 40, 5000)]
        )
        engine.write("code", [0, 0, 0, FIRST, 0])
        engine.launch([None, None, None, first, None])
        assert engine.read("total")[:, 0].tolist() == [10, 2000, 0, 80, 5000]


@on_every_engine
def test_a_kernel_starts_on_one_slot_after_others(device: str) -> None:
    with engine_on(device) as (engine, first, second):
        engine.write("code", [FIRST, FIRST, SECOND, FIRST, FIRST])
        one = engine.start(first, 1)
        other = engine.start(second, 2, [one])
        for token in (one, other):
            engine.wait(token)
        assert engine.read("total")[:, 3].tolist() == [0, 20, 3000, 0, 0]
        (begun, ended), (later, last) = engine.times(one), engine.times(other)
        assert begun < ended <= later < last


@on_every_engine
def test_fields_are_written_and_read_by_name(device: str) -> None:
    with engine_on(device) as (engine, _, _):
        total = np.arange(LANES) - 2**40
        engine.put(3, {"code": 7, "total": total})
        fields = engine.get(3, ("amount", "total"))
        assert list(fields) == ["amount", "total"]
        assert fields["amount"] == 4
        np.testing.assert_array_equal(fields["total"], total)
        assert engine.read("code").tolist() == [0, 0, 0, 7, 0]
        assert not engine.read("total")[[0, 1, 2, 4]].any()
        assert "code" in engine
        assert "weights" not in engine
        assert engine.memory_bytes == 8 * (1 + 5 + 5 + 5 * LANES)


@on_every_engine
@pytest.mark.parametrize(
    ("problem", "found"), [({}, "missing"), ({"scale": np.zeros(2)}, r"of shape \(2,\)")]
)
def test_a_problem_must_be_whole(device: str, problem: dict[str, NDArray[Any]], found: str) -> None:
    with pytest.raises(ValueError, match=f"scale is {found}, and should be \\(1,\\)"):
        open_engine(choose_device(device), Allocation(ARGUMENTS, SIZES, problem))


def test_code_in_numpy_works_on_many_slots_at_once() -> None:
    """An interrupted launch has no effect, and the memory that the code keeps counts."""
    seen: list[list[int]] = []
    kept = 0

    def add(arrays: dict[str, NDArray[Any]], slots: NDArray[np.intp]) -> None:
        seen.append(slots.tolist())
        arrays["total"][slots] += arrays["amount"][slots, None] * arrays["scale"]

    def fail(arrays: dict[str, NDArray[Any]], slots: NDArray[np.intp]) -> None:
        arrays["total"][slots] = -1
        raise KeyboardInterrupt

    log = Argument("log", INFO, "int64", ("slots",), "unused")
    engine = NumpyEngine(NUMPY, Allocation((*ARGUMENTS, log), SIZES, PROBLEM_ARRAYS))
    before = engine.memory_bytes
    engine.write("amount", range(1, 6))
    adding, failing = engine.load(add, lambda: kept), engine.load(fail)
    engine.launch([adding, None, adding, None, adding])
    with pytest.raises(KeyboardInterrupt):
        engine.launch([adding, failing, adding, None, None])
    assert engine.read("total")[:, 0].tolist() == [10, 0, 30, 0, 50]
    engine.wait(engine.start(adding, 1))
    assert engine.read("total")[:, 1].tolist() == [10, 20, 30, 0, 50]
    assert seen == [[0, 2, 4], [0, 2], [1]]
    kept = 100
    assert engine.memory_bytes == before + 100
