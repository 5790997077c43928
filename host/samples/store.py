"""Store of samples: the states that chains emitted, in a file of blocks, each with a digest.

A block has samples of one chain, in order. Its digest covers the block and all blocks before it, so that a
checkpoint that has the last digest identifies the whole file. Blocks after the checkpoint's length belong to
steps that a resumed run repeats; they are cut off.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event
from syclade.host.checkpoints.archive import damaged
from syclade.host.common.errors import CheckpointError, OutputError
from syclade.host.options import flag_of

__all__ = ["Records", "SampleStore", "store_of"]

Records = NDArray[np.void]
"""Samples of one chain, shape (samples,).

The fields are step and score, int64; rate_at, int64, shape (2,); parents, int32, shape (nodes,).
"""

WAITING = 4096
"""Number of events that wait in memory before they are written."""

IN_MEMORY = 2**24
"""Bytes of a temporary store that stay in memory."""

_MAGIC = b"syclade1"
_HEAD = struct.Struct("<8sqq16s")
"""Magic bytes, number of the chain, number of samples, digest."""

_NO_DIGEST = bytes(16)


class _Block(NamedTuple):
    """Position of a block's samples in the file, their number, and the digests before and of the block."""

    place: int
    samples: int
    before: bytes
    digest: bytes


def store_of(checkpoint: Path) -> Path:
    """Return the path of the store beside a checkpoint."""
    return checkpoint.with_name(f"{checkpoint.name}.events")


class SampleStore:
    """A sink that stores samples in a file. Its memory does not grow with their number, but for an index.

    Args:
        nodes: number of nodes of the trees.
        path: the file; None for a temporary one.
        why: bits of the recorders whose events are samples.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be written.
    """

    def __init__(self, nodes: int, path: Path | None = None, *, why: int = 1, force: bool = False) -> None:
        if path is not None and path.exists() and not force:
            raise OutputError(f"{path} is there already", hint=f"replace it with {flag_of('force')}")
        self._begin(nodes, path, why)
        try:
            if path is None:
                file: Any = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+b")  # noqa: SIM115
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                file = path.open("w+b")
        except OSError as problem:
            raise self._failed(problem) from None
        self._attach(file)

    @classmethod
    def resumed(cls, nodes: int, path: Path, length: int, digest: str, *, to_extend: bool) -> SampleStore:
        """Open the store of an earlier run.

        Args:
            nodes: number of nodes of the trees.
            path: the file.
            length, digest: those of the store when the checkpoint was written.
            to_extend: whether to cut off what is beyond `length`, and to write on.

        Raises:
            CheckpointError: the file cannot be read, is shorter, or is damaged.
        """
        store = cls.__new__(cls)
        store._begin(nodes, path, 1)
        try:
            store._attach(path.open("r+b" if to_extend else "rb"))
            store._read_blocks(length, digest)
            if to_extend:
                store._file.truncate(length)
        except OSError as problem:
            raise store._damaged(f"it cannot be read: {problem.strerror}") from None
        return store

    def _begin(self, nodes: int, path: Path | None, why: int) -> None:
        fields = [("step", "<i8"), ("score", "<i8"), ("rate_at", "<i8", (2,)), ("parents", "<i4", (nodes,))]
        self._record = np.dtype(fields)
        self._path, self._why = path, why
        self._blocks: dict[int, list[_Block]] = {}
        self._digest = _NO_DIGEST
        self._waiting: list[Event] = []

    def _attach(self, file: IO[bytes]) -> None:
        self._file = file
        weakref.finalize(self, file.close)

    @property
    def length(self) -> int:
        """Length of the file in bytes, with all events taken so far."""
        self._write_waiting()
        return self._file.seek(0, os.SEEK_END)

    @property
    def digest(self) -> str:
        """Digest of all blocks, in hexadecimal."""
        self._write_waiting()
        return self._digest.hex()

    @property
    def chains(self) -> list[int]:
        """Numbers of the chains that have samples, in ascending order."""
        self._write_waiting()
        return sorted(self._blocks)

    def count(self, chain: int) -> int:
        """Return the number of samples of a chain."""
        self._write_waiting()
        return sum(block.samples for block in self._blocks.get(chain, ()))

    def take(self, events: Sequence[Event]) -> None:
        """Store events; see `Sink.take`.

        Raises:
            OutputError: the file cannot be written.
        """
        self._waiting += [event for event in events if event.why & self._why]
        if len(self._waiting) >= WAITING:
            self._write_waiting()

    def of_chain(self, chain: int) -> Iterator[Records]:
        """Yield the samples of a chain in order, in blocks.

        Raises:
            CheckpointError: the file was changed meanwhile.
        """
        self._write_waiting()
        for block in list(self._blocks.get(chain, ())):
            self._file.seek(block.place)
            content = self._file.read(block.samples * self._record.itemsize)
            if _digest(block.before, chain, block.samples, content) != block.digest:
                raise self._damaged(f"byte {block.place} and after it were changed")
            yield np.frombuffer(content, self._record)

    def copy_to(self, other: SampleStore) -> None:
        """Append all samples to another store.

        Raises:
            OutputError: the other file cannot be written.
        """
        for chain in self.chains:
            for records in self.of_chain(chain):
                other._append(chain, len(records), records.tobytes())

    def sync(self) -> None:
        """Wait until all events are on the disk.

        Raises:
            OutputError: the file cannot be written.
        """
        self._write_waiting()
        try:
            self._file.flush()
            if self._path is not None:
                os.fsync(self._file.fileno())
        except OSError as problem:
            raise self._failed(problem) from None

    def close(self) -> None:
        """Close the file; a temporary one is removed."""
        self._file.close()

    def _write_waiting(self) -> None:
        """Write the waiting events, a block for each chain."""
        waiting, self._waiting = self._waiting, []
        by_chain: dict[int, list[Event]] = {}
        for event in waiting:
            by_chain.setdefault(event.chain, []).append(event)
        for chain, events in by_chain.items():
            records = np.empty(len(events), self._record)
            for name in self._record.names or ():
                records[name] = [getattr(event, name) for event in events]
            self._append(chain, len(events), records.tobytes())

    def _append(self, chain: int, count: int, content: bytes) -> None:
        digest = _digest(self._digest, chain, count, content)
        try:
            place = self._file.seek(0, os.SEEK_END) + _HEAD.size
            self._file.write(_HEAD.pack(_MAGIC, chain, count, digest) + content)
        except OSError as problem:
            raise self._failed(problem) from None
        self._index(chain, _Block(place, count, self._digest, digest))

    def _index(self, chain: int, block: _Block) -> None:
        self._blocks.setdefault(chain, []).append(block)
        self._digest = block.digest

    def _read_blocks(self, length: int, digest: str) -> None:
        """Check the blocks of an earlier run, and index them.

        Raises:
            CheckpointError: a block is damaged, or the digest of the last one is not `digest`.
        """
        self._file.seek(0)
        at = 0
        while at < length:
            head = self._file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise self._damaged("it ends before the checkpoint's moment")
            magic, chain, count, told = _HEAD.unpack(head)
            size = count * self._record.itemsize
            if magic != _MAGIC or not 0 < size <= length - at - _HEAD.size:
                raise self._damaged(f"there is no block of samples at byte {at}")
            content = self._file.read(size)
            if len(content) < size:
                raise self._damaged("it ends before the checkpoint's moment")
            if told != _digest(self._digest, chain, count, content):
                raise self._damaged(f"the block at byte {at} has changed")
            self._index(chain, _Block(at + _HEAD.size, count, self._digest, told))
            at += _HEAD.size + size
        if self._digest.hex() != digest:
            raise self._damaged("its samples are not those of the checkpoint")

    def _failed(self, problem: OSError) -> OutputError:
        what = "the temporary file of samples" if self._path is None else str(self._path)
        return OutputError(f"{what} cannot be written: {problem.strerror}", hint="is the disk full?")

    def _damaged(self, why: str) -> CheckpointError:
        return damaged(self._path, why)


def _digest(before: bytes, chain: int, count: int, content: bytes) -> bytes:
    """Return the digest of a block, 16 bytes: of the digest before it, its numbers and its content."""
    digest = hashlib.blake2b(before, digest_size=16)
    digest.update(struct.pack("<qq", chain, count))
    digest.update(content)
    return digest.digest()
