"""Journal: the events of a run with checkpoints, in a file beside the checkpoint.

Events are appended as they are emitted, and read on resume. A checkpoint stores the length of the journal at
that time. Events appended later belong to steps that are repeated after a resume, so they are cut off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from syclade.host.chains.events import Event
from syclade.host.checkpoints.archive import damaged
from syclade.host.common.errors import OutputError
from syclade.host.options import flag_of

__all__ = ["Journal", "journal_of", "read_journal"]

_BLOCK = 4096
"""Number of events that are read at once."""


def journal_of(checkpoint: Path) -> Path:
    """Return the path of the journal beside a checkpoint."""
    return checkpoint.with_name(f"{checkpoint.name}.events")


def _record(nodes: int) -> np.dtype[np.void]:
    numbers = [("chain", "<i8"), ("step", "<i8"), ("score", "<i8"), ("why", "<i8"), ("key", "<u8")]
    return np.dtype([*numbers, ("rate_at", "<i8", (2,)), ("parents", "<i4", (nodes,))])


class Journal:
    """A sink that appends events to a file.

    Args:
        path: the file.
        nodes: number of nodes of the trees.
        length: bytes of the existing file to keep; None for a new file.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be written.
    """

    def __init__(self, path: Path, nodes: int, *, length: int | None = None, force: bool = False) -> None:
        self._path, self._record = path, _record(nodes)
        if length is None and path.exists() and not force:
            raise OutputError(f"{path} is there already", hint=f"replace it with {flag_of('force')}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb" if length is None else "r+b")
            if length is not None:
                self._file.truncate(length)
                self._file.seek(length)
        except OSError as problem:
            raise self._failed(problem) from None

    @property
    def length(self) -> int:
        """Length of the journal in bytes."""
        return self._file.tell()

    def take(self, events: Sequence[Event]) -> None:
        """Append events; see `Sink.take`.

        Raises:
            OutputError: the file cannot be written.
        """
        if not events:
            return
        records = np.empty(len(events), self._record)
        for name in self._record.names or ():
            records[name] = [getattr(event, name) for event in events]
        try:
            self._file.write(records.tobytes())
        except OSError as problem:
            raise self._failed(problem) from None

    def sync(self) -> None:
        """Wait until all events are on the disk.

        Raises:
            OutputError: the file cannot be written.
        """
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise self._failed(problem) from None

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as problem:
            raise self._failed(problem) from None

    def _failed(self, problem: OSError) -> OutputError:
        return OutputError(f"{self._path} cannot be written: {problem.strerror}", hint="is the disk full?")


def read_journal(path: Path, nodes: int, length: int) -> Iterator[list[Event]]:
    """Yield the events of a journal in order, in lists.

    Args:
        path: the file.
        nodes: number of nodes of the trees.
        length: bytes to read; the rest of the file is ignored.

    Raises:
        CheckpointError: the file cannot be read, is shorter, or `length` is not a whole number of events.
    """
    record = _record(nodes)
    if length % record.itemsize:
        raise damaged(path, "its length fits no number of events")
    try:
        with path.open("rb") as stream:
            left = length // record.itemsize
            while left:
                content = stream.read(min(left, _BLOCK) * record.itemsize)
                records = np.frombuffer(content[: len(content) // record.itemsize * record.itemsize], record)
                if not len(records):
                    raise damaged(path, "it ends before the checkpoint's moment")
                left -= len(records)
                yield [_event(one) for one in records]
    except OSError as problem:
        raise damaged(path, f"it cannot be read: {problem.strerror}") from None


def _event(record: np.void) -> Event:
    numbers = {name: int(record[name]) for name in ("chain", "step", "score", "why", "key")}
    fn, fp = record["rate_at"].tolist()
    return Event(**numbers, parents=np.array(record["parents"], np.int32), rate_at=(fn, fp))
