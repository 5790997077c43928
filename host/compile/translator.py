"""Translate kernels in a process of its own, into the cache that the run reads them from.

Run as `python -m syclade.host.compile.translator DEVICE` with the pickled kernels on standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from syclade.host.compile.kernel import Kernel
from syclade.host.devices.device import Device
from syclade.host.errors import SycladeError

__all__ = ["Translator"]


class Translator:
    """A process that loads kernels, and so translates them into the cache. Its owner stops it."""

    def __init__(self, device: Device, kernels: Sequence[Kernel]) -> None:
        import pickle
        import subprocess

        # What this process can import, the other one can: parts of a kernel may be a user's own.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "syclade.host.compile.translator", device.filter],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for the run, which stops this
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            stream.write(pickle.dumps(list(kernels)))

    def ended(self) -> bool:
        """Return whether it is over, successfully or not."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End it, whether it is done or not."""
        self._process.kill()
        self._process.wait()


def _main(device: str) -> int:
    import pickle

    from syclade.host.backends.sycl_arrays import open_queue
    from syclade.host.compile.program import load_kernel

    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    try:
        queue = open_queue(device)
        for kernel in kernels:
            load_kernel(queue, kernel)
    except SycladeError:  # the run that waits for the kernel fails likewise, and says why
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
