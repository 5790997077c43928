"""A process that compiles kernels for tests: requests on standard input, replies on a pipe of its own.

Run as `python -m tests.support.compiler_process FD`. `compilers.py` starts it, and ends it when it has grown.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from syclade.host.compile import machine_code
from syclade.host.compile.kernel import Kernel
from syclade.host.compile.translate import translate

__all__ = ["Reply"]


@dataclass(frozen=True)
class Reply:
    """What came of a request.

    Attributes:
        made: the compiled kernel, or the exception.
        seconds: of processor time.
        resident: memory that this process now has, in bytes.
    """

    made: Any
    seconds: float
    resident: int


@cache
def _queue() -> Any:
    from syclade.host.backends.sycl_arrays import open_queue

    return open_queue("cpu")


def _compile(target: str, kernel: Kernel) -> Any:
    return translate(_queue(), kernel) if target == "sycl" else machine_code._compile(kernel)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _main(place: int) -> None:
    with os.fdopen(place, "wb") as replies:
        while True:
            try:
                target, kernel = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            began = time.process_time()
            try:
                made: Any = _compile(target, kernel)
            except Exception as error:
                made = error
            pickle.dump(Reply(made, time.process_time() - began, _resident()), replies)
            replies.flush()


if __name__ == "__main__":
    # What is pickled has to be of the module that others import, not of `__main__`.
    from tests.support import compiler_process

    compiler_process._main(int(sys.argv[1]))
