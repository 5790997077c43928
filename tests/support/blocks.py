"""Files of blocks with digests, taken apart and put together with valid digests."""

from __future__ import annotations

import io
from collections.abc import Iterable

from syclade.host.checkpoints.blocks import NO_DIGEST, make_block, read_block

__all__ = ["contents_of", "packed"]


def contents_of(file: bytes) -> list[bytes]:
    """Return the contents of all blocks of a checkpoint."""
    contents, at, digest, end = list[bytes](), 0, NO_DIGEST, len(file)
    while at < end:
        block, content = read_block(io.BytesIO(file), at, digest, end=end, unit=1, most=end)
        at, digest = block.place + block.items, block.digest
        contents.append(content)
    return contents


def packed(contents: Iterable[bytes]) -> bytes:
    """Return a checkpoint with these blocks, whatever they are."""
    file, digest = b"", NO_DIGEST
    for number, content in enumerate(contents):
        block, digest = make_block(digest, number, len(content), content)
        file += block
    return file
