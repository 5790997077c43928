"""Runner of kernels in Python, without a compiler: for tests, and to step through a kernel in a debugger."""

from __future__ import annotations

from syclade.host.backends.local_runner import LocalRunner
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import PYTHON
from syclade.host.encodings.base import Encoding
from syclade.kernels.target.python import kernel_of

__all__ = ["PythonRunner"]


class PythonRunner(LocalRunner):
    """A runner that advances one slot after another; a step takes milliseconds."""

    executor = PYTHON

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        made = self._made
        self._kernel = kernel_of(made.body(), made.lanes, made.record_types())

    def _launch(self) -> None:
        self._kernel(0, self.slots, *self._flat)
