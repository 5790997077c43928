"""Blocks with digests: checkpoints and stores of samples consist of them.

The digest of a block covers its numbers, its content and all blocks before it. So no block can be changed,
lost, doubled, exchanged or taken from another file without notice.
"""

from __future__ import annotations

import hashlib
import os
import struct
from typing import IO, NamedTuple

__all__ = ["HEAD_SIZE", "NO_DIGEST", "Block", "DamagedError", "make_block", "read_block"]

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
