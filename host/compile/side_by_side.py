"""Kernels that other processes translate while this one does something else.

A driver translates one kernel at a time in a process, however many threads ask it to (measured: the CPU
driver and the FPGA emulator, 2024.2). What another process has translated comes from the cache.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from syclade.host.compile.kernel import Kernel
from syclade.host.compile.program import announce_translation, is_at_hand, is_translated
from syclade.host.compile.translator import Translator
from syclade.host.devices.cores import usable_cores
from syclade.host.devices.device import Device

__all__ = ["SideBySide"]

_LOOK_SECONDS = 0.01

_SECONDS = 4
"""About what the kernels of a search take, the chain's besides, on two cores."""


class SideBySide:
    """Translations under way in other processes. Its owner closes it."""

    def __init__(self, device: Device, queue: Any, kernels: Sequence[Kernel]) -> None:
        """Start as many processes as there are cores left.

        Args:
            device, queue: for which, and a queue of it.
            kernels: in the order in which they will be needed; the first ones are left to this process.
        """
        self._queue = queue
        self._others: list[tuple[Translator, list[Kernel]]] = []
        missing = [kernel for kernel in kernels if not is_translated(queue, kernel)]
        if not missing:
            return
        if all(is_at_hand(kernel) for kernel in missing):  # else the compiler says how long it takes
            announce_translation(queue, _SECONDS)
        share = -(-len(missing) // usable_cores())
        for first in range(share, len(missing), share):
            part = missing[first : first + share]
            try:
                self._others.append((Translator(device, part), part))
            except OSError:  # no process more: this one translates what is missing
                return

    def wait_for(self, kernel: Kernel) -> None:
        """Wait until a kernel is translated, if another process does it."""
        for process, part in self._others:
            if kernel in part:
                while not process.ended() and not is_translated(self._queue, kernel):
                    time.sleep(_LOOK_SECONDS)

    def close(self) -> None:
        """Stop the processes, whether they are done or not."""
        for process, _ in self._others:
            process.stop()
        self._others = []
