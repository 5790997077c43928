"""No compiler: Python runs the kernel. For tests, and to step through it with a debugger."""

from __future__ import annotations

from syclade.host.backends.local_runner import LocalRunner
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import PYTHON
from syclade.host.encodings.base import Encoding
from syclade.kernels.target.python import kernel_of

__all__ = ["PythonRunner"]


class PythonRunner(LocalRunner):
    """One slot after another, a step in milliseconds."""

    executor = PYTHON

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        made = self._made
        self._kernel = kernel_of(made.body(), made.lanes, made.record_types())

    def _launch(self) -> None:
        self._kernel(0, self.slots, *self._flat)
