"""Launcher for stages on a SYCL device: events order the launches and give device times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from syclade.host.backends.stages.kernels import DescribedKernel, all_arguments
from syclade.host.backends.stages.launcher import Launcher
from syclade.host.backends.sycl_arrays import SyclArrays
from syclade.host.compile.program import load_kernel
from syclade.host.devices.forks import refuse_inherited_sycl
from syclade.host.devices.queue import device_of, open_queue

__all__ = ["SyclLauncher"]


class SyclLauncher(Launcher):
    """A launcher of one work-group per launch, on one slot's parts of the arrays; the queue is out of order.

    Raises:
        DeviceError: the device does not open, cannot build a kernel, or has too little memory.
    """

    clock = "device"

    def __init__(
        self,
        device_filter: str,
        kernels: Sequence[DescribedKernel],
        sizes: Mapping[str, int],
        problem: Mapping[str, NDArray[Any]],
    ) -> None:
        self._queue = open_queue(device_filter, timed=True)
        self.executor = device_of(self._queue)
        self._kernels = [load_kernel(self._queue, one.kernel) for one in kernels]
        self._lanes = [one.kernel.lanes for one in kernels]
        arrays = SyclArrays(self._queue, all_arguments(kernels), sizes, problem)
        super().__init__([one.name for one in kernels], arrays)
        self._flat = [
            [arrays.flat(one.kernel.arguments, slot) for slot in range(arrays.slots)] for one in kernels
        ]

    def launch(self, stage: int, slot: int, after: Sequence[Any]) -> Any:
        """See `Launcher.launch`; the token is a `dpctl.SyclEvent`."""
        refuse_inherited_sycl()
        lanes = [self._lanes[stage]]
        return self._queue.submit(self._kernels[stage], self._flat[stage][slot], lanes, lanes, list(after))

    def wait(self, token: Any) -> None:
        """See `Launcher.wait`."""
        token.wait()

    def times(self, token: Any) -> tuple[int, int]:
        """See `Launcher.times`."""
        return token.profiling_info_start, token.profiling_info_end

    def close(self) -> None:
        """See `Launcher.close`."""
        self._flat = []
        super().close()
