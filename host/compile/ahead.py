"""Compile a kernel beside a run, in a process of its own, into the cache that the run reads it from.

Run as `python -m syclade.host.compile.ahead DEVICE` with the pickled kernels on standard input.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from syclade.host.compile.kernel import Kernel
from syclade.host.compile.machine_code import native_problem
from syclade.host.devices.device import Device
from syclade.host.distributions import version_of
from syclade.host.errors import SycladeError

__all__ = ["Ahead", "can_compile"]


def can_compile(device: Device) -> bool:
    """Whether there is a compiler for the device at all."""
    if device.kind == "native":
        return native_problem() is None
    return version_of("numba-dpex") is not None


class Ahead:
    """A compilation under way. Whoever starts one stops it."""

    def __init__(self, device: Device, kernels: Sequence[Kernel]) -> None:
        import pickle
        import subprocess

        # What this process can import, the other one can: parts of a kernel may be a user's own.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "syclade.host.compile.ahead", device.filter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # a line, if it fails
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for the run, which stops this
        )
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            stream.write(pickle.dumps(list(kernels)))

    def ended(self) -> bool:
        """Whether it is over, well or not."""
        return self._process.poll() is not None

    def failure(self) -> str | None:
        """Why it has failed; None if it has not."""
        if not self._process.poll():
            return None
        assert self._process.stdout is not None
        said = self._process.stdout.read().decode(errors="replace").strip()
        return said or f"the compiler ended with {self._process.returncode}"

    def stop(self) -> None:
        """End it, whether it is done or not."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _main(device: str) -> int:
    import pickle

    kernels: list[Kernel] = pickle.load(sys.stdin.buffer)
    try:
        for kernel in kernels:
            _load(device, kernel)
    except Exception as error:  # whatever it is, the run goes on without this kernel, and says why
        print(error if isinstance(error, SycladeError) else f"{type(error).__name__}: {error}")
        return 1
    return 0


def _load(device: str, kernel: Kernel) -> None:
    if device == "native":
        from syclade.host.compile.machine_code import load_machine_code

        load_machine_code(kernel)
    else:
        from syclade.host.backends.sycl_arrays import open_queue
        from syclade.host.compile.program import load_kernel

        load_kernel(open_queue(device), kernel)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
