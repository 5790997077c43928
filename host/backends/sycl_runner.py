"""Runner of SYCL devices: chain states in device memory, many steps per launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.backends.array_runner import ArrayRunner, chain_arrays
from syclade.host.backends.sycl_arrays import SyclArrays
from syclade.host.chains.kernel import chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.compile.program import load_kernel
from syclade.host.devices.queue import device_of, open_queue
from syclade.host.encodings.base import Encoding

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["SyclRunner"]


class SyclRunner(ArrayRunner):
    """A runner with one work-group per slot, of `lanes` work-items each."""

    def __init__(
        self,
        plan: Plan,
        encoding: Encoding,
        slots: int,
        seed: int,
        device_filter: str,
        image: Image | None = None,
    ) -> None:
        super().__init__(plan, encoding, slots, seed)
        queue = open_queue(device_filter)
        self.executor = device_of(queue)
        kernel = chain_kernel(plan, encoding)
        self._kernel = load_kernel(queue, kernel, image)
        sizes = chain_sizes(plan, encoding, slots)
        problem = chain_arrays(plan, encoding, seed)
        self._sycl = SyclArrays(queue, kernel.arguments, sizes, problem)
        self._arrays = self._sycl
        self._flat = self._sycl.flat(kernel.arguments)

    def _launch(self) -> None:
        self._sycl.launch([self._kernel], self._flat, self.encoding.lanes)

    def close(self) -> None:
        """See `Runner.close`."""
        self._flat = []
        super().close()
