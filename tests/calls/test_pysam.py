"""Tracebacks of pysam's finalizers are dropped, and nothing else, however many threads open files."""

from __future__ import annotations

import struct
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from syclade.host.ground.packages import pysam_of, quiet_finalizers


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """Return the problems that reach the hooks outside."""
    seen: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda problem: seen.append(problem.exc_value))
    monkeypatch.setattr(sys, "excepthook", lambda _kind, value, _trace: seen.append(value))
    return seen


END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
"""The empty block that ends a BAM file (SAM specification, 4.1.2)."""


def open_damaged(path: Path) -> None:
    """Open a file whose only block has a wrong checksum: pysam can neither read nor close it."""
    header = b"BAM\x01" + struct.pack("<i", 4) + b"@HD\n" + struct.pack("<i", 0)
    compressor = zlib.compressobj(wbits=-15)
    packed = compressor.compress(header) + compressor.flush()
    extra = b"BC\x02\x00" + struct.pack("<H", len(packed) + 25)
    block = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0" + extra + packed + b"checksum"
    path.write_bytes(block + END)
    with pytest.raises((OSError, ValueError)):
        pysam_of().AlignmentFile(str(path))


def test_problems_inside_are_dropped(tmp_path: Path, problems: list[Any]) -> None:
    open_damaged(tmp_path / "outside.bam")
    count = len(problems)
    assert count, "the control: pysam prints them"
    with quiet_finalizers():
        open_damaged(tmp_path / "inside.bam")
    assert len(problems) == count


def test_overlapping_threads_leave_hooks_and_streams_as_they_were(problems: list[Any]) -> None:
    """The first to enter leaves first; then hooks were once those of the second thread for ever."""
    before = (sys.unraisablehook, sys.excepthook, sys.stderr)
    entered, left = threading.Event(), threading.Event()

    def second() -> None:
        with quiet_finalizers():
            entered.set()
            assert left.wait(10)

    thread = threading.Thread(target=second)
    with quiet_finalizers():
        thread.start()
        assert entered.wait(10)
    sys.excepthook(ValueError, ValueError("of this thread"), None)
    assert len(problems) == 1, "only the thread inside is quiet"
    assert sys.stderr is before[2]
    left.set()
    thread.join()
    assert (sys.unraisablehook, sys.excepthook, sys.stderr) == before
