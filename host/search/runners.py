"""Runners of searches, one class per technology."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.backends.slot_threads import SlotThreads
from syclade.host.common.errors import DeviceError
from syclade.host.compile import machine_code
from syclade.host.compile.kernel import Kernel
from syclade.host.devices.device import Device, native_device
from syclade.host.options import flag_of
from syclade.host.search.counting_runner import CountingSearchRunner
from syclade.host.search.numpy_runner import NumpySearchRunner
from syclade.host.search.problem import SearchProblem
from syclade.host.search.runner import (
    LANES,
    ArraySearchRunner,
    SearchRunner,
    search_arrays,
    search_kernel,
    search_sizes,
)
from syclade.kernels.search.arguments import ARGUMENTS

if TYPE_CHECKING:
    from syclade.host.compile.side_by_side import SideBySide

__all__ = ["begin_search", "device_for_search", "make_search_runner"]


class NativeSearchRunner(ArraySearchRunner):
    """Search runner on this processor, by numba: one call per slot and stage."""

    def __init__(self, problem: SearchProblem, slots: int, seed: int, by_columns: bool) -> None:
        super().__init__(problem, slots, seed)
        self.executor = native_device()
        sizes = search_sizes(problem, slots, by_columns)
        local = NumpyArrays(ARGUMENTS, sizes, search_arrays(problem, sizes, seed))
        self._arrays = local
        self._flat = [local.named[argument.name].reshape(-1) for argument in ARGUMENTS]
        self._addresses = [array.ctypes.data for array in self._flat]
        self._threads = SlotThreads(slots)

    def _launch(self, stages: Sequence[str | None]) -> None:
        kernels = [stage and self._loaded(stage) for stage in stages]

        def work(slot: int) -> None:
            if kernel := kernels[slot]:
                kernel(slot, slot + 1, *self._addresses)

        self._threads.run(work)

    def _load(self, stage: str) -> Any:
        return machine_code.load_machine_code(_kernel(stage))

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._threads.close()
        self._flat = []
        super().close()


class SyclSearchRunner(ArraySearchRunner):
    """Search runner on a SYCL device: one work-group per slot."""

    def __init__(
        self, problem: SearchProblem, slots: int, seed: int, by_columns: bool, device_filter: str
    ) -> None:
        from syclade.host.backends.sycl_arrays import SyclArrays
        from syclade.host.devices.queue import device_of, open_queue

        super().__init__(problem, slots, seed)
        sizes = search_sizes(problem, slots, by_columns)
        self._queue = open_queue(device_filter)
        self.executor = device_of(self._queue)
        self._beside: SideBySide | None = None
        self._sycl = SyclArrays(self._queue, ARGUMENTS, sizes, search_arrays(problem, sizes, seed))
        self._arrays = self._sycl
        self._flat: list[Any] = self._sycl.flat(ARGUMENTS)

    def _launch(self, stages: Sequence[str | None]) -> None:
        different = [stage for stage in dict.fromkeys(stages) if stage is not None]
        self._sycl.launch([self._loaded(stage) for stage in different], self._flat, LANES)

    def translate(self, device: Device, kernels: Sequence[Kernel]) -> None:
        """Let other processes translate some of the kernels, given in the order of their first use."""
        from syclade.host.compile.side_by_side import SideBySide

        self._beside = SideBySide(device, self._queue, kernels)

    def _load(self, stage: str) -> Any:
        from syclade.host.compile.program import load_kernel

        if self._beside is not None:
            self._beside.wait_for(_kernel(stage))
        return load_kernel(self._queue, _kernel(stage))

    def close(self) -> None:
        """See `SearchRunner.close`."""
        if self._beside is not None:
            self._beside.close()
        self._flat = []
        super().close()


@cache
def _kernel(stage: str) -> Any:
    return search_kernel(stage)


def make_search_runner(
    device: Device, problem: SearchProblem, slots: int, seed: int, *, by_columns: bool
) -> SearchRunner:
    """Return a runner of `slots` searches on a device.

    Args:
        device: a usable device.
        problem: input of the searches.
        slots: number of searches that run at once.
        seed: seed of the random numbers, 0 ... 2^64-1.
        by_columns: whether the start by columns will be used, which needs more memory.

    Raises:
        DeviceError: searches do not run on the device, or it does not open, cannot build a kernel, or has too
            little memory.
    """
    if device.kind == "numpy":
        return NumpySearchRunner(problem, slots, seed)
    if device.kind == "native":
        return NativeSearchRunner(problem, slots, seed, by_columns)
    if device.kind == "python":
        raise DeviceError("searches do not run on the device python", hint=f"use {flag_of('method')} chain")
    return SyclSearchRunner(problem, slots, seed, by_columns, device.filter)


def begin_search(
    device: Device,
    problem: SearchProblem,
    slots: int,
    seed: int,
    *,
    by_columns: bool,
    stages: Sequence[str],
) -> CountingSearchRunner:
    """Return a runner that counts its sweeps; on a SYCL device, start to translate its kernels.

    Args:
        device, problem, slots, seed, by_columns: as for `make_search_runner`.
        stages: stages that will run, in the order of their first use.
    """
    runner = make_search_runner(device, problem, slots, seed, by_columns=by_columns)
    if isinstance(runner, SyclSearchRunner):
        runner.translate(device, [_kernel(stage) for stage in stages])
    return CountingSearchRunner(runner)


def device_for_search(device: Device, stages: Sequence[str]) -> Device:
    """Return the device for a search if `auto` has chosen one: this processor instead of a CPU device.

    The driver of a CPU device takes seconds to translate the kernels of a search. Most searches take no
    longer than that in all, and long ones are no faster on the CPU device (docs/performance.md). The choice
    stays as it is unless the machine code of all stages is cached or precompiled.

    Args:
        device: the device that `auto` has chosen.
        stages: stages of the search.
    """
    ready = device.kind == "cpu" and all(machine_code.is_at_hand(_kernel(stage)) for stage in stages)
    return native_device() if ready else device
