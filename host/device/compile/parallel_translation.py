"""Parallel translation: subprocesses translate kernels while this process does something else.

A driver translates one kernel at a time per process, however many threads call it (measured: the CPU driver
and the FPGA emulator, 2024.2). This process reads from the cache what a subprocess has translated.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import announce_translation, is_at_hand, is_translated
from syclade.host.device.compile.translator import Translator
from syclade.host.device.cores import usable_cores
from syclade.host.device.device import Device
from syclade.host.ground.cache import cache_problem

__all__ = ["SideBySide"]

_LOOK_SECONDS = 0.01

_SECONDS = 4
"""Approximate time on two cores for the kernels of a search and of a chain."""


class SideBySide:
    """Running translations in subprocesses. The owner must call `close`."""

    def __init__(self, device: Device, queue: Any, kernels: Sequence[Kernel]) -> None:
        """Start at most one subprocess per core, this process's own core excepted.

        Args:
            device, queue: the device, and a queue of it.
            kernels: kernels in the order in which they will be needed; the first ones are left to this
                process.
        """
        self._queue = queue
        self._others: list[tuple[Translator, list[Kernel]]] = []
        missing = [kernel for kernel in kernels if not is_translated(queue, kernel)]
        if not missing:
            return
        if all(is_at_hand(kernel) for kernel in missing):  # otherwise the compiler announces its time
            announce_translation(queue, _SECONDS)
        if cache_problem() is not None:  # this process could not read what others translate
            return
        share = -(-len(missing) // usable_cores())
        for first in range(share, len(missing), share):
            part = missing[first : first + share]
            try:
                self._others.append((Translator(device, part), part))
            except OSError:  # no more processes can start: this one translates the rest
                return

    def wait_for(self, kernel: Kernel) -> None:
        """Wait until a kernel is translated, if a subprocess does it."""
        for process, part in self._others:
            if kernel in part:
                while not process.ended() and not is_translated(self._queue, kernel):
                    time.sleep(_LOOK_SECONDS)

    def close(self) -> None:
        """Stop the subprocesses, whether they have finished or not."""
        for process, _ in self._others:
            process.stop()
        self._others = []
