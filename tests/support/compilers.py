"""Separate process that compiles the tests' kernels: compilers keep their results in memory.

The tests have hundreds of kernels; a process ends when it has grown too large. Tests of the compilers
use the fixture `compile_here`, which compiles as the program itself does.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from syclade.host.device.compile import machine_code, program, translate
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.translate import Spirv
from syclade.host.ground.cache import cache_folder, read_checked, write_checked
from tests.support.compiler_process import Reply

__all__ = ["MADE", "Compilers", "compiled_apart", "compiled_here", "running_seconds"]

MOST = 400 * 2**20
"""Private memory, in bytes, at which a compiler process is ended; it starts with about 200 MB."""

MADE: list[tuple[str, float]] = []
"""Kernels compiled for this process, each with its processor time in seconds."""

_running: set[int] = set()


def running_seconds() -> float:
    """Return the processor time of the running compilers, in seconds."""
    ticks = 0
    for process in _running:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


_TRANSLATE, _COMPILE, _BUILD = translate.translate, machine_code._compile, program.build_program


class Compilers:
    """One compiling process at a time, replaced by a new one when it has grown too large."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: Any = None
        self._one_at_a_time = threading.Lock()

    def translate(self, queue: Any, kernel: Kernel) -> Spirv:
        """Replace `translate.translate`."""
        with _alone(kernel.key([])):
            stored = read_checked(program._cache_name(kernel))
            if stored is None:
                made: Spirv = self._ask("sycl", kernel, kernel.name)
                program._store(kernel, made)
                return made
        name, _, module = stored.partition(b"\n")
        return Spirv(name.decode(), module)

    def compile(self, kernel: Kernel) -> tuple[str, bytes]:
        """Replace `machine_code._compile`."""
        with _alone(kernel.key([])):
            return machine_code._load_compiled(kernel) or self._ask_and_keep(kernel)

    def _ask_and_keep(self, kernel: Kernel) -> tuple[str, bytes]:
        made: tuple[str, bytes] = self._ask("native", kernel, kernel.name)
        write_checked(machine_code._cache_name(kernel), made[0].encode() + b"\n" + made[1])
        return made

    def build_program(self, queue: Any, module: bytes) -> Any:
        """Replace `program.build_program`: the driver's compiler runs in that process, too."""
        name = program._binary_name(queue, module)
        if name is not None:
            # The build below, in this process, reports any error.
            with _alone(name.rpartition("/")[2]), contextlib.suppress(Exception):
                if read_checked(name) is None:
                    device = queue.sycl_device.filter_string
                    binary: bytes | None = self._ask(device, module, "the driver")
                    if binary:
                        write_checked(name, binary)
        return _BUILD(queue, module)

    def _ask(self, target: str, given: Kernel | bytes, name: str) -> Any:
        with self._one_at_a_time:
            if self._process is None:
                self._start()
            assert self._process is not None
            assert self._process.stdin is not None
            pickle.dump((target, given), self._process.stdin)
            self._process.stdin.flush()
            try:
                reply: Reply = pickle.load(self._replies)
            except EOFError:
                self.stop()
                raise RuntimeError(f"the compiler of {name} has ended") from None
            MADE.append((f"{name} for {target}", reply.seconds))
            if reply.kept > MOST:
                self.stop()
        if isinstance(reply.made, Exception):
            raise reply.made
        return reply.made

    def _start(self) -> None:
        ours, its = os.pipe()
        # The other process can import the same modules: parts of a kernel may belong to a test.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.support.compiler_process", str(its)],
            stdin=subprocess.PIPE,
            pass_fds=(its,),
            env=os.environ | {"PYTHONPATH": paths},
        )
        os.close(its)
        _running.add(self._process.pid)
        self._replies = os.fdopen(ours, "rb")

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is None:
            return
        self._process.communicate()
        _running.discard(self._process.pid)
        self._replies.close()
        self._process = None


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Let other processes of this session that need the same kernel wait, and then find it in the cache."""
    folder = cache_folder() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def compiled_apart() -> Iterator[Compilers]:
    """Compile kernels in separate processes within this context."""
    made = Compilers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "translate", made.translate)
        patch.setattr(machine_code, "_compile", made.compile)
        patch.setattr(program, "build_program", made.build_program)
        try:
            yield made
        finally:
            made.stop()


def compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile kernels in this process, as the program does."""
    monkeypatch.setattr(program, "translate", _TRANSLATE)
    monkeypatch.setattr(machine_code, "_compile", _COMPILE)
    monkeypatch.setattr(program, "build_program", _BUILD)
