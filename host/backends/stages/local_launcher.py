"""Launcher for stages in this process: one launch after another, without events."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.backends.stages.kernels import DescribedKernel
from syclade.host.backends.stages.launcher import Launcher
from syclade.host.chains.plan import Plan
from syclade.host.compile.kernel import load_part
from syclade.host.compile.machine_code import load_machine_code
from syclade.host.devices.device import Device
from syclade.kernels.ancestor.stage_arguments import STAGES
from syclade.kernels.target.native.traits import TRAITS
from syclade.kernels.target.python import kernel_of

__all__ = ["LocalLauncher", "native_stages", "numpy_stages", "python_stages"]

Times = tuple[int, int]


class LocalLauncher(Launcher):
    """A launcher whose launches are done when `launch` returns; their tokens are their times.

    Args:
        executor: the device that the functions run on.
        names: names of the stages.
        arrays: the arrays that the stages work on.
        stages: one function of the slot per stage, in order.
    """

    clock = "host"

    def __init__(
        self,
        executor: Device,
        names: Sequence[str],
        arrays: NumpyArrays,
        stages: Sequence[Callable[[int], None]],
    ) -> None:
        super().__init__(names, arrays)
        self.executor = executor
        self._stages = list(stages)

    def launch(self, stage: int, slot: int, after: Sequence[Times]) -> Times:
        """See `Launcher.launch`; the launches in `after` have already ended."""
        start = time.perf_counter_ns()
        self._stages[stage](slot)
        return start, time.perf_counter_ns()

    def wait(self, token: Times) -> None:
        """Do nothing: every launch has already ended."""

    def times(self, token: Times) -> Times:
        """See `Launcher.times`."""
        return token

    def close(self) -> None:
        """See `Launcher.close`."""
        self._stages.clear()
        super().close()


def numpy_stages(plan: Plan, arrays: NumpyArrays) -> list[Callable[[int], None]]:
    """Return the stages of the numpy fallback (`fallback/ancestor`), each as a function of the slot."""
    stages = load_part("syclade.fallback.ancestor.stages:STAGES")
    made_of = load_part("syclade.fallback.ancestor.parts:ChainParts")
    parts = made_of([load_part(move.numpy) for move in plan.moves], load_part(plan.score.numpy))

    def stage(run: Callable[..., None]) -> Callable[[int], None]:
        return lambda slot: run(arrays.named, np.array([slot]), parts)

    return [stage(stages[name]) for name in STAGES]


def python_stages(kernels: Sequence[DescribedKernel], arrays: NumpyArrays) -> list[Callable[[int], None]]:
    """Return the kernels' bodies run by Python, each as a function of the slot."""

    def stage(described: DescribedKernel) -> Callable[[int], None]:
        kernel = described.kernel
        run = kernel_of(kernel.body(), kernel.lanes, kernel.record_types())
        flat = [arrays.named[argument.name].reshape(-1) for argument in kernel.arguments]
        return lambda slot: run(slot, slot + 1, *flat)

    return [stage(one) for one in kernels]


def native_stages(kernels: Sequence[DescribedKernel], arrays: NumpyArrays) -> list[Callable[[int], None]]:
    """Return the kernels compiled by numba, each as a function of the slot.

    Raises:
        DeviceError: numba cannot compile them.
    """

    def stage(described: DescribedKernel) -> Callable[[int], None]:
        # In a stage of one lane, all lanes do the same.
        run = load_machine_code(replace(described.kernel, lanes=TRAITS.lanes))
        addresses = [arrays.named[argument.name].ctypes.data for argument in described.kernel.arguments]
        return lambda slot: run(slot, slot + 1, *addresses)

    return [stage(one) for one in kernels]
