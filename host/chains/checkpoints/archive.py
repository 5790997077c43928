"""Archives of plain arrays and JSON metadata: files of blocks with digests, written atomically.

The first block is JSON; the others are the arrays, in the order of a layout that the reader derives from the
run. So a file contains neither sizes nor types, and reading takes no more memory than the run itself.

The digest of a block covers its numbers, its content and all blocks before it. So no block can be changed,
lost, doubled, exchanged or taken from another file without notice. Stores of samples consist of such
blocks, too.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from syclade.host.ground.errors import CheckpointError
from syclade.host.ground.files import write_file
from syclade.host.ground.values import Array, Json, ParsedJson

__all__ = [
    "HEAD_SIZE",
    "NO_DIGEST",
    "Block",
    "DamagedError",
    "Layout",
    "damaged",
    "make_block",
    "read_about",
    "read_archive",
    "read_block",
    "write_archive",
]


_MAGIC = b"syclade2"
_HEAD = struct.Struct("<8sqq16s")
"""Magic bytes, number of the block's chain or array, number of items, digest."""

HEAD_SIZE = _HEAD.size

NO_DIGEST = bytes(16)
"""Digest before the first block."""


class DamagedError(ValueError):
    """A block is damaged; the message says where, and how."""


class Block(NamedTuple):
    """A block of a file.

    Attributes:
        number: number of its chain or array.
        items: number of items.
        place: position of its content in the file.
        before: digest before the block.
        digest: digest of the block and all before it.
    """

    number: int
    items: int
    place: int
    before: bytes
    digest: bytes

    def holds(self, content: bytes) -> bool:
        """Return whether this is the content of the block."""
        return _digest(self.before, self.number, self.items, content) == self.digest


def make_block(before: bytes, number: int, items: int, content: bytes) -> tuple[bytes, bytes]:
    """Return the bytes of a block, and its digest.

    Args:
        before: digest of the block before; NO_DIGEST for the first one.
        number, items, content: as in `Block`; the content has all the items.
    """
    digest = _digest(before, number, items, content)
    return _HEAD.pack(_MAGIC, number, items, digest) + content, digest


def read_block(
    file: IO[bytes], at: int, before: bytes, *, end: int, unit: int, most: int
) -> tuple[Block, bytes]:
    """Read a block and check it; nothing is read or allocated for more than `most` items.

    Args:
        file: the file.
        at: position of the block.
        before: digest of the block before.
        end: position at which the last block ends.
        unit: bytes of an item.
        most: maximum number of items.

    Returns:
        The block and its content.

    Raises:
        DamagedError: there is no such block.
        OSError: the file cannot be read.
    """
    size = file.seek(0, os.SEEK_END)
    if size < end:
        raise DamagedError(f"at byte {size}: it ends there, and needs {end} bytes")
    file.seek(at)
    head = file.read(min(HEAD_SIZE, end - at))
    magic, number, items, digest = _HEAD.unpack(head.ljust(HEAD_SIZE, b"\0"))
    if magic != _MAGIC or not 0 <= items <= most or items * unit > end - at - HEAD_SIZE:
        raise DamagedError(f"at byte {at}: no block begins there")
    block = Block(number, items, at + HEAD_SIZE, before, digest)
    content = file.read(items * unit)
    if not block.holds(content):
        raise DamagedError(f"at byte {at}: the block that begins there has changed")
    return block, content


def _digest(before: bytes, number: int, items: int, content: bytes) -> bytes:
    """Return the digest of a block: 16 bytes."""
    digest = hashlib.blake2b(before, digest_size=len(NO_DIGEST))
    digest.update(struct.pack("<qq", number, items))
    digest.update(content)
    return digest.digest()


FORMAT = 6

Layout = Mapping[str, tuple[str, tuple[int, ...]]]
"""Type and shape of each array, by name."""

_MOST_ABOUT = 2**20
"""Maximum size in bytes of the metadata."""


def write_archive(
    path: Path, arrays: Mapping[str, Array], about: Mapping[str, Json], force: bool = False
) -> None:
    """Write an archive atomically.

    Args:
        path: the file.
        arrays: the arrays, in the order and with the types of the layout with which they will be read.
        about: metadata, stored as JSON.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be written.
    """
    metadata = json.dumps({"syclade_checkpoint": FORMAT, **about}).encode()
    content, digest = b"", NO_DIGEST
    for number, one in enumerate((metadata, *(array.tobytes() for array in arrays.values()))):
        block, digest = make_block(digest, number, len(one), one)
        content += block
    write_file(path, content, force)


def read_archive(
    path: Path, layout_of: Callable[[dict[str, ParsedJson]], Layout]
) -> tuple[dict[str, Array], dict[str, ParsedJson]]:
    """Return the arrays and the metadata of an archive.

    Args:
        path: the file.
        layout_of: (metadata) -> layout of the arrays; raises a CheckpointError if the archive is none of
            this run.

    Raises:
        CheckpointError: the file cannot be read, is no such archive, is damaged, or has another format.
    """
    with _opened(path) as (file, end):
        return _read(path, file, end, layout_of)


def read_about(path: Path) -> dict[str, ParsedJson]:
    """Return the metadata of an archive.

    Raises:
        CheckpointError: as for `read_archive`.
    """
    with _opened(path) as (file, end):
        return _first(path, file, end)[1]


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Open an archive, and find its end; what goes wrong in the block is a CheckpointError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe may never end
            raise CheckpointError("the checkpoint cannot be read: it is no regular file", path=path)
        with path.open("rb") as file:
            yield file, file.seek(0, os.SEEK_END)
    except DamagedError as error:
        raise damaged(path, str(error)) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CheckpointError(f"the checkpoint cannot be read: {reason}", path=path) from error


def _first(path: Path, file: IO[bytes], end: int) -> tuple[Block, dict[str, ParsedJson]]:
    """Return the first block of an archive, and the metadata in it."""
    try:
        block, metadata = read_block(file, 0, NO_DIGEST, end=end, unit=1, most=_MOST_ABOUT)
    except DamagedError:
        raise DamagedError("at byte 0: this is no checkpoint, or its beginning has changed") from None
    return block, _about(path, metadata)


def _read(
    path: Path, file: IO[bytes], end: int, layout_of: Callable[[dict[str, ParsedJson]], Layout]
) -> tuple[dict[str, Array], dict[str, ParsedJson]]:
    block, about = _first(path, file, end)
    arrays: dict[str, Array] = {}
    for number, (name, (dtype, shape)) in enumerate(layout_of(about).items(), start=1):
        at, size = block.place + block.items, math.prod(shape) * np.dtype(dtype).itemsize
        block, content = read_block(file, at, block.digest, end=end, unit=1, most=size)
        if (block.number, block.items) != (number, size):
            raise DamagedError(f"at byte {at}: the array {name} has another size")
        arrays[name] = np.frombuffer(content, dtype).reshape(shape)
    if block.place + block.items != end:
        raise DamagedError(f"at byte {block.place + block.items}: it should end there")
    return arrays, about


def _about(path: Path, metadata: bytes) -> dict[str, ParsedJson]:
    """Return the metadata; raise a CheckpointError if the format is another one."""
    try:
        about = dict(json.loads(metadata))
        version = about.pop("syclade_checkpoint")
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedError("at byte 0: this is no checkpoint") from None
    if version != FORMAT:
        raise CheckpointError(
            f"the checkpoint has format {version}, this syclade reads {FORMAT}",
            path=path,
            hint="resume it with the syclade that wrote it",
        )
    return about


def damaged(path: Path | None, where: str) -> CheckpointError:
    """Return the error for a file of a checkpoint whose content is not valid.

    Args:
        path: the file; None for a temporary one.
        where: where it is damaged, and how.
    """
    return CheckpointError(
        f"the checkpoint is damaged {where}",
        path=path,
        hint="resume an older one, or restart without it",
    )
