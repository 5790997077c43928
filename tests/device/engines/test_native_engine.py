"""Threads of the native engine: each slot runs once, and slots that run together are far apart."""

import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.device.device import native_device
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NativeEngine, spread_order


@given(st.integers(1, 200), st.integers(1, 64))
def test_every_slot_comes_once(slots: int, threads: int) -> None:
    assert sorted(spread_order(slots, threads)) == list(range(slots))


def test_slots_that_run_together_are_far_apart() -> None:
    assert spread_order(16, 4) == [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
    together = [spread_order(40, 4)[at : at + 4] for at in range(0, 40, 4)]
    assert all(later - earlier >= 10 for run in together for earlier, later in pairwise(run))


def engine_of(slots: int) -> NativeEngine:
    return NativeEngine(native_device(), Allocation((), {"slots": slots}))


def test_all_work_is_done_once() -> None:
    done: list[int] = []
    lock = threading.Lock()

    def work(slot: int) -> None:
        with lock:
            done.append(slot)

    engine = engine_of(23)
    loaded = engine._add(work)
    for _ in range(2):
        engine.launch([loaded] * 23)
    engine.launch([None] * 20 + [loaded] * 3)
    engine.close()
    assert sorted(done) == sorted([*range(23), *range(23), 20, 21, 22])


def test_a_failure_comes_out() -> None:
    def work(slot: int) -> None:
        if slot == 3:
            raise ValueError("slot 3")

    engine = engine_of(5)
    with pytest.raises(ValueError, match="slot 3"):
        engine.launch([engine._add(work)] * 5)
    engine.close()
