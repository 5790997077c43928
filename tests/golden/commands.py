"""Run one command of syclade, in this process or in a separate one, and capture its output."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from syclade.host.commands.main import main

__all__ = ["Called", "call", "call_apart", "stop_when_kept"]

PROGRAM = (sys.executable, "-c", "from syclade.__main__ import main; main()")
ATTEMPTS = 5

LONGEST = 300.0
"""Seconds that a stopped run may take to write its checkpoints, and to end."""


class Called(NamedTuple):
    """Outcome of a command.

    Attributes:
        status: its exit status.
        output: its standard output.
        messages: its standard error, to explain a failure; not compared.
    """

    status: int
    output: str
    messages: str = ""


def call(words: Sequence[str]) -> Called:
    """Run a command in this process."""
    output, messages = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
        try:
            main(words)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0
    return Called(status, output.getvalue(), messages.getvalue())


def call_apart(words: Sequence[str], given: Path | None) -> Called:
    """Run a command in a separate process, with a file as standard input."""
    content = b"" if given is None else given.read_bytes()
    done = subprocess.run([*PROGRAM, *words], input=content, capture_output=True, check=False)
    return Called(done.returncode, done.stdout.decode(), done.stderr.decode())


def stop_when_kept(words: Sequence[str], kept: Path, number: signal.Signals, times: int) -> None:
    """Start a run that writes the checkpoint `kept`, and stop it by a signal after `times` checkpoints.

    SIGTERM ends it with the best tree so far, SIGKILL at once.

    If the run ends before it can be stopped, as on a busy machine, it is started again.
    """
    for _ in range(ATTEMPTS):
        for path in (kept, kept.with_name(f"{kept.name}.events")):
            path.unlink(missing_ok=True)
        status, messages = _stopped(words, kept, number, times)
        if status in (128 + number, -number):
            return
        assert status == 0, f"the run to stop ended with status {status}: {messages}"
    raise AssertionError(f"the run ended before it could be stopped, {ATTEMPTS} times: give it more steps")


def _stopped(words: Sequence[str], kept: Path, number: signal.Signals, times: int) -> tuple[int, str]:
    """Start and stop a run, and return the exit status and the messages."""
    process = subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + LONGEST
        seen: set[int] = set()
        while len(seen) < times and process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(FileNotFoundError):
                seen.add(kept.stat().st_mtime_ns)
            time.sleep(0.002)
        process.send_signal(number)
        _, messages = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
        process.wait()
    return process.returncode, messages
