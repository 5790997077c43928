"""Process that compiles kernels for tests: requests on standard input, replies on a separate pipe.

Run as `python -m tests.support.compiler_process FD`. `compilers.py` starts it, and ends it when it has grown
too large.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from syclade.host.device.compile import machine_code
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.translate import translate
from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.opencl import opened_place

__all__ = ["Reply"]


@dataclass(frozen=True)
class Reply:
    """Result of a request.

    Attributes:
        made: the compiled kernel, or the exception.
        seconds: processor time, in seconds.
        kept: anonymous memory of this process, in bytes.
    """

    made: Any
    seconds: float
    kept: int


@cache
def _queue(device: str) -> Any:
    from syclade.host.device.device import open_queue

    return open_queue(device)


def _compile(target: str, given: Kernel | bytes) -> Any:
    """Return a kernel's SPIR-V or machine code, or a module's binary by the driver of device `target`."""
    if isinstance(given, bytes):
        with opened_place(_queue(target)) as place:
            if place is None:
                return None
            program = opencl.program_from_spirv(place, given)
            try:
                return opencl.binary_of(program)
            finally:
                opencl.release(program)
    return translate(_queue("cpu"), given) if target == "sycl" else machine_code._compile(given)


def _kept() -> int:
    (line,) = [
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon:")
    ]
    return int(line.split()[1]) * 1024


def _main(place: int) -> None:
    gc.set_threshold(20_000, 20, 50)  # by default a tenth of the time is spent in searches for garbage
    with os.fdopen(place, "wb") as replies:
        while True:
            try:
                target, given = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            began = time.process_time()
            try:
                made: Any = _compile(target, given)
            except Exception as error:
                made = error
            pickle.dump(Reply(made, time.process_time() - began, _kept()), replies)
            replies.flush()


if __name__ == "__main__":
    # Pickled objects must belong to the module that others import, not to `__main__`.
    from tests.support import compiler_process

    compiler_process._main(int(sys.argv[1]))
