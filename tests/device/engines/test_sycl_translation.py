"""Translation in several processes: which process translates which kernels, and who waits."""

from __future__ import annotations

from typing import Any

import pytest

from syclade.host.chains.search.kernel import STAGES, search_kernel
from syclade.host.device.device import Device
from syclade.host.device.engines import sycl
from syclade.host.device.engines.sycl import ParallelTranslation

CPU = Device("opencl:cpu:0", "Some CPU", "cpu", 2)
KERNELS = [search_kernel(stage) for stage in STAGES]
FIRST, LAST = KERNELS[0], KERNELS[-1]


class Process:
    """Fake process: at the third poll it has finished its kernels, or has died."""

    def __init__(self, done: list[str], kernels: list[Any], dies: bool) -> None:
        self.done, self.kernels, self.dies = done, kernels, dies
        self.looks, self.stopped = 0, False

    def ended(self) -> bool:
        self.looks += 1
        if self.looks == 3 and not self.dies:
            self.done += [kernel.name for kernel in self.kernels]
        return self.dies and self.looks >= 3

    def stop(self) -> None:
        self.stopped = True


class World:
    """Fake environment: the cache, the processes, and the logged messages."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.processes: list[Process] = []
        self.announced: list[int] = []
        self.dies = False
        monkeypatch.setattr(sycl, "is_translated", lambda _queue, kernel: kernel.name in self.done)
        monkeypatch.setattr(sycl, "is_compiled", lambda _kernel: True)
        monkeypatch.setattr(
            sycl,
            "announce_translation",
            lambda _queue, seconds: self.announced.append(seconds),
        )
        monkeypatch.setattr(sycl, "Translator", self.start)
        monkeypatch.setattr(sycl, "_LOOK_SECONDS", 0.0)

    def start(self, _device: Device, kernels: list[Any]) -> Process:
        self.processes.append(Process(self.done, kernels, self.dies))
        return self.processes[-1]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


@pytest.mark.parametrize(("cores", "parts"), [(1, []), (2, [3]), (3, [2, 2]), (6, [1] * 5), (64, [1] * 5)])
def test_this_process_translates_what_is_needed_first(
    world: World, monkeypatch: pytest.MonkeyPatch, cores: int, parts: list[int]
) -> None:
    monkeypatch.setattr(sycl, "usable_cores", lambda: cores)
    beside = ParallelTranslation(CPU, None, KERNELS)
    assert [len(process.kernels) for process in world.processes] == parts
    others = [kernel for process in world.processes for kernel in process.kernels]
    assert others == KERNELS[len(KERNELS) - len(others) :]
    assert len(world.announced) == 1
    beside.close()
    assert all(process.stopped for process in world.processes)


@pytest.mark.parametrize("dies", [False, True])
def test_waiting(world: World, monkeypatch: pytest.MonkeyPatch, dies: bool) -> None:
    """Wait until the other process has finished; if it has died, this process translates."""
    monkeypatch.setattr(sycl, "usable_cores", lambda: 2)
    world.dies = dies
    beside = ParallelTranslation(CPU, None, KERNELS)
    (process,) = world.processes
    beside.wait_for(FIRST)
    assert process.looks == 0
    beside.wait_for(LAST)
    assert process.looks == 3
    assert (LAST.name in world.done) == (not dies)


def test_nothing_is_started_where_nothing_is_missing(world: World) -> None:
    world.done += [kernel.name for kernel in KERNELS]
    ParallelTranslation(CPU, None, KERNELS).wait_for(LAST)
    assert (world.processes, world.announced) == ([], [])


def test_without_another_process_this_one_does_it_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no process more")

    monkeypatch.setattr(sycl, "Translator", fail)
    monkeypatch.setattr(sycl, "usable_cores", lambda: 2)
    ParallelTranslation(CPU, None, KERNELS).wait_for(LAST)
