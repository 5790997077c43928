"""Kernels of NVIDIA GPUs made ahead by subprocesses: PTX for the cache, machine code for the driver's own.

A process compiles and translates one kernel at a time, whatever the threads. Run as
`python -m syclade.host.device.engines.ahead`, with a pickled kernel, its near arguments and the device on
standard input.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Collection

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.ptx import load_ptx, ptx_key
from syclade.host.device.cuda import open_gpu
from syclade.host.device.device import Device
from syclade.host.ground.cache import cache_problem, read_checked, write_checked

__all__ = ["make_apart"]


def make_apart(kernel: Kernel, near: Collection[str], gpu: Device) -> subprocess.Popen[bytes] | None:
    """Start a subprocess that makes a kernel; None if that has been done, or could not be read here.

    Args:
        kernel, near: as for `load_ptx`.
        gpu: the GPU that the kernel is for.
    """
    if cache_problem() is not None or read_checked(_mark(kernel, near, gpu)) is not None:
        return None
    # The subprocess must be able to import the same modules: parts of a kernel may be a user's own.
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,  # Ctrl-C reaches only the run, which stops this process
    )
    assert process.stdin is not None
    with process.stdin as stream:
        stream.write(pickle.dumps((kernel, list(near), gpu)))
    return process


def _mark(kernel: Kernel, near: Collection[str], gpu: Device) -> str:
    """Return the name of the file in the cache that says that a driver has translated a kernel."""
    for_gpu = hashlib.sha256(f"{gpu.name} {gpu.driver}".encode()).hexdigest()[:8]
    return f"ptx/{ptx_key(kernel, near)}-{for_gpu}"


def _main() -> None:
    kernel, near, gpu = pickle.load(sys.stdin.buffer)
    open_gpu(gpu).function(*load_ptx(kernel, near))
    write_checked(_mark(kernel, near, gpu), b"translated")


if __name__ == "__main__":
    _main()
