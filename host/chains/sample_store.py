"""Store of samples: the states that chains emitted, in a file of blocks, each with a digest.

A block has samples of one chain, in order. Its digest covers the block and all blocks before it, so that a
checkpoint that has the last digest identifies the whole file. Blocks after the checkpoint's length belong to
steps that a resumed run repeats; they are cut off.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.checkpoints.archive import (
    NO_DIGEST,
    Block,
    DamagedError,
    damaged,
    make_block,
    read_block,
)
from syclade.host.chains.state import Event
from syclade.host.data.trees.tree import are_trees
from syclade.host.ground.errors import CheckpointError, OutputError
from syclade.host.ground.options import flag_of

__all__ = ["Records", "SampleStore", "store_of"]

Records = NDArray[np.void]
"""Samples of one chain, shape (samples,).

The fields are step and score, int64; rate_at, int64, shape (3,); parents, int32, shape (nodes,).
"""

WAITING = 4096
"""Number of events that wait in memory before they are written, and most samples of a block."""

IN_MEMORY = 2**24
"""Bytes of a temporary store that stay in memory."""


def store_of(checkpoint: Path) -> Path:
    """Return the path of the store beside a checkpoint."""
    return checkpoint.with_name(f"{checkpoint.name}.events")


class SampleStore:
    """A sink that stores samples in a file. Its memory does not grow with their number, but for an index.

    If the file cannot be written any more, the samples go on in a temporary file.

    Attributes:
        failure: why the file could not be written; None while it can.

    Args:
        nodes: number of nodes of the trees.
        path: the file; None for a temporary one.
        why: bits of the recorders whose events are samples.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be made.
    """

    failure: OutputError | None = None

    def __init__(self, nodes: int, path: Path | None = None, *, why: int = 1, force: bool = False) -> None:
        if path is not None and os.path.lexists(path) and not force:
            raise OutputError(f"{path} is there already", hint=f"replace it with {flag_of('force')}")
        self._begin(nodes, path, why)
        if path is None:
            self._attach(_temporary_file())
            return
        try:
            path.unlink(missing_ok=True)  # a link is replaced, not the file behind it
            self._attach(path.open("x+b", buffering=0))
        except OSError as problem:
            raise self._failed(problem) from None

    @classmethod
    def resumed(
        cls,
        nodes: int,
        path: Path,
        length: int,
        digest: str,
        *,
        to_extend: bool,
        check: Callable[[int, Records], None] | None = None,
    ) -> SampleStore:
        """Open the store of an earlier run.

        Args:
            nodes: number of nodes of the trees.
            path: the file.
            length, digest: those of the store when the checkpoint was written.
            to_extend: whether to cut off what is beyond `length`, and to write on.
            check: called with each chain and its samples, block by block; raises a ValueError if they are not
                those of the run. By default they only have to be trees.

        Raises:
            CheckpointError: the file cannot be read, is shorter, or is damaged.
        """
        store = cls.__new__(cls)
        store._begin(nodes, path, 1)
        try:
            store._attach(path.open("r+b" if to_extend else "rb", buffering=0))
            store._read_blocks(length, digest, check or _check_trees)
            if to_extend:
                store._file.truncate(length)
        except OSError as problem:
            words = f"the samples of the checkpoint cannot be read: {problem.strerror}"
            raise CheckpointError(words, path=path) from None
        except DamagedError as error:
            raise damaged(path, str(error)) from None
        return store

    def _begin(self, nodes: int, path: Path | None, why: int) -> None:
        fields = [("step", "<i8"), ("score", "<i8"), ("rate_at", "<i8", (3,)), ("parents", "<i4", (nodes,))]
        self._record = np.dtype(fields)
        self._path, self._why = path, why
        self._blocks: dict[int, list[Block]] = {}
        self._end, self._digest = 0, NO_DIGEST
        self._waiting: list[Event] = []

    def _attach(self, file: IO[bytes]) -> None:
        self._file = file
        weakref.finalize(self, file.close)

    @property
    def length(self) -> int:
        """Length of the file in bytes, with all events taken so far."""
        self._write_waiting()
        return self._end

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
        return sum(block.items for block in self._blocks.get(chain, ()))

    def take(self, events: Sequence[Event]) -> None:
        """Store events; see `Sink.take`.

        Raises:
            OutputError: neither the file nor a temporary one can be written.
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
            content = self._file.read(block.items * self._record.itemsize)
            if not block.holds(content):
                raise damaged(self._path, f"at byte {block.place}: it was changed meanwhile")
            yield np.frombuffer(content, self._record)

    def trees(self) -> Iterator[NDArray[np.int32]]:
        """Yield the trees of all samples in blocks, chain by chain: int32, shape (trees, nodes).

        Raises:
            CheckpointError: the file was changed meanwhile.
        """
        for chain in self.chains:
            for records in self.of_chain(chain):
                yield np.ascontiguousarray(records["parents"])

    def trees_by_chain(self) -> list[NDArray[np.int32]]:
        """Return the trees of each chain's samples: int32, shape (samples, nodes).

        Raises:
            CheckpointError: the file was changed meanwhile.
        """
        return [
            np.concatenate([records["parents"] for records in self.of_chain(chain)]) for chain in self.chains
        ]

    def copy_to(self, other: SampleStore, chains: Sequence[int] | None = None, every: int = 1) -> None:
        """Append all samples to another store, or some of them.

        Args:
            other: the other store.
            chains: chains whose samples are copied; None for all.
            every: the last one of so many samples of a chain is copied.

        Raises:
            OutputError: the other file cannot be written, nor a temporary one.
        """
        for chain in self.chains if chains is None else chains:
            before = 0
            for records in self.of_chain(chain):
                some = records[every - 1 - before % every :: every]
                before += len(records)
                if len(some):
                    other._append(chain, len(some), some.tobytes())

    def sync(self) -> None:
        """Wait until all events are on the disk."""
        self._write_waiting()
        if self._path is not None:
            try:
                os.fsync(self._file.fileno())
            except OSError as problem:
                self._leave(problem)

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickle, with the content of the file in place of the file."""
        self._write_waiting()
        self._file.seek(0)
        return {**self.__dict__, "_path": None, "_file": self._file.read(self._end)}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore a pickled store, in a temporary file."""
        self.__dict__.update(state)
        self._attach(_temporary_file())
        content = state["_file"]
        assert isinstance(content, bytes)
        self._file.write(content)

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
            for first in range(0, len(events), WAITING):
                self._append(chain, *self._records(events[first : first + WAITING]))

    def _records(self, events: Sequence[Event]) -> tuple[int, bytes]:
        records = np.empty(len(events), self._record)
        columns = dict(zip(Event._fields, zip(*events, strict=True), strict=True))
        for name in self._record.names or ():
            records[name] = columns[name]
        return len(events), records.tobytes()

    def _append(self, chain: int, count: int, content: bytes) -> None:
        data, digest = make_block(self._digest, chain, count, content)
        try:
            self._write(data)
        except OSError as problem:
            self._leave(problem)
            self._append(chain, count, content)
            return
        self._index(Block(chain, count, self._end + len(data) - len(content), self._digest, digest))

    def _write(self, data: bytes) -> None:
        """Write a block after the others."""
        self._file.seek(self._end)
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        self._file.flush()

    def _leave(self, problem: OSError) -> None:
        """Continue in a temporary file, with all blocks at their places.

        Raises:
            OutputError: the temporary file cannot be written.
        """
        error = self._failed(problem)
        if self._path is None:
            raise error from None
        left, end = self._file, self._end
        self._path, self.failure = None, error
        self._attach(_temporary_file())
        self._end = 0
        left.seek(0)
        try:
            while self._end < end:
                piece = left.read(min(end - self._end, IN_MEMORY))
                self._write(piece)
                self._end += len(piece)
        except OSError as another:
            raise self._failed(another) from None
        left.close()

    def _index(self, block: Block) -> None:
        self._blocks.setdefault(block.number, []).append(block)
        self._end = block.place + block.items * self._record.itemsize
        self._digest = block.digest

    def _read_blocks(self, length: int, digest: str, check: Callable[[int, Records], None]) -> None:
        """Check the blocks of an earlier run, and index them.

        Raises:
            DamagedError: a block is damaged, or the digest of the last one is not `digest`.
        """
        while self._end < length:
            at, unit = self._end, self._record.itemsize
            block, content = read_block(self._file, at, self._digest, end=length, unit=unit, most=WAITING)
            try:
                check(block.number, np.frombuffer(content, self._record))
            except ValueError as error:
                raise DamagedError(f"at byte {at}: {error}") from None
            self._index(block)
        if self._digest.hex() != digest:
            raise DamagedError(f"at byte {self._end}: its samples are not those of the checkpoint")

    def _failed(self, problem: OSError) -> OutputError:
        what = "the temporary file of samples" if self._path is None else str(self._path)
        return OutputError(f"{what} cannot be written: {problem.strerror}", hint="is the disk full?")


def _temporary_file() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY, "w+b")


def _check_trees(_: int, records: Records) -> None:
    if not are_trees(records["parents"]):
        raise ValueError("a stored sample is not a tree")
