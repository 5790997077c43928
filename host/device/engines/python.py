"""Engine of kernels in Python, without a compiler: for tests, and to step through a kernel in a debugger."""

from __future__ import annotations

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.engines.local import LocalEngine
from syclade.kernels.target.python import kernel_of

__all__ = ["PythonEngine"]


class PythonEngine(LocalEngine):
    """Engine that runs one slot after another; a chain step takes milliseconds."""

    def load(self, kernel: Kernel) -> int:
        """Load a kernel; return its number."""
        run = kernel_of(kernel.body(), kernel.lanes, kernel.record_types())
        flat = [self.named[argument.name].reshape(-1) for argument in kernel.arguments]
        return self._add(lambda slot: run(slot, slot + 1, *flat))
