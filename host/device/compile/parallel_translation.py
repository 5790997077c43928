"""Parallel translation: subprocesses translate kernels while this process does something else.

A driver translates one kernel at a time per process, however many threads call it (measured: the CPU
driver and the FPGA emulator, 2024.2). This process reads from the cache what a subprocess has translated.
Run as `python -m syclade.host.device.compile.parallel_translation DEVICE` with the pickled kernels on
standard input.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import announce_translation, is_compiled, is_translated, load_kernel
from syclade.host.device.device import Device, usable_cores
from syclade.host.ground.cache import cache_problem
from syclade.host.ground.errors import SycladeError

if TYPE_CHECKING:
    from dpctl import SyclQueue

__all__ = ["ParallelTranslation", "Translator"]


_LOOK_SECONDS = 0.01

_SECONDS = 4
"""Approximate time on two cores for the kernels of a search and of a chain."""


class ParallelTranslation:
    """Running translations in subprocesses. The owner must call `close`."""

    def __init__(self, device: Device, queue: SyclQueue, kernels: Sequence[Kernel]) -> None:
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
        if all(is_compiled(kernel) for kernel in missing):  # otherwise the compiler announces its time
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


class Translator:
    """Subprocess that loads kernels, which translates them into the cache. The owner must call `stop`."""

    def __init__(self, device: Device, kernels: Sequence[Kernel]) -> None:
        # The subprocess must be able to import the same modules: parts of a kernel may be a user's own.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "syclade.host.device.compile.parallel_translation", device.filter],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C reaches only the run, which stops this process
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            stream.write(pickle.dumps(list(kernels)))

    def ended(self) -> bool:
        """Return whether the subprocess has ended, successfully or not."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """Kill the subprocess, whether it has finished or not."""
        self._process.kill()
        self._process.wait()


def _main(device: str) -> int:
    from syclade.host.device.queue import open_queue

    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    try:
        queue = open_queue(device)
        for kernel in kernels:
            load_kernel(queue, kernel)
    except SycladeError:  # the run that waits for the kernel fails likewise, and reports why
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
