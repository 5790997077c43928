"""Translate kernels in a subprocess, into the cache that the run reads them from.

Run as `python -m syclade.host.device.compile.translator DEVICE` with the pickled kernels on standard input.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import load_kernel
from syclade.host.device.device import Device
from syclade.host.ground.errors import SycladeError

__all__ = ["Translator"]


class Translator:
    """Subprocess that loads kernels, which translates them into the cache. The owner must call `stop`."""

    def __init__(self, device: Device, kernels: Sequence[Kernel]) -> None:
        # The subprocess must be able to import the same modules: parts of a kernel may be a user's own.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "syclade.host.device.compile.translator", device.filter],
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
