"""Runner of this processor, by numba: many steps per call, one thread per core."""

from __future__ import annotations

from syclade.host.backends.local_runner import LocalRunner
from syclade.host.backends.slot_threads import SlotThreads
from syclade.host.chains.plan import Plan
from syclade.host.compile.machine_code import load_machine_code
from syclade.host.devices.device import native_device
from syclade.host.encodings.base import Encoding

__all__ = ["NativeRunner"]


class NativeRunner(LocalRunner):
    """A runner that makes one call of the kernel per slot and launch."""

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        self.executor = native_device()
        self._kernel = load_machine_code(self._made)
        self._addresses = [array.ctypes.data for array in self._flat]
        self._threads = SlotThreads(slots)

    def _launch(self) -> None:
        self._threads.run(lambda slot: self._kernel(slot, slot + 1, *self._addresses))

    def close(self) -> None:
        """See `Runner.close`."""
        self._threads.close()
        super().close()
