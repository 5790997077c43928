"""Files of blocks with digests, taken apart and put together with valid digests."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from syclade.host.chains.checkpoints.archive import NO_DIGEST, make_block, read_block

__all__ = ["blocks_of", "contents_of", "packed", "packed_blocks", "packed_samples", "sample_type"]


def blocks_of(file: bytes, unit: int = 1) -> list[tuple[int, bytes]]:
    """Return number and content of all blocks of a file, whose items have `unit` bytes."""
    found, at, digest, end = list[tuple[int, bytes]](), 0, NO_DIGEST, len(file)
    while at < end:
        block, content = read_block(io.BytesIO(file), at, digest, end=end, unit=unit, most=end)
        at, digest = block.place + block.items * unit, block.digest
        found.append((block.number, content))
    return found


def contents_of(file: bytes) -> list[bytes]:
    """Return the contents of all blocks of a checkpoint."""
    return [content for _, content in blocks_of(file)]


def packed_blocks(blocks: Iterable[tuple[int, bytes]], unit: int = 1) -> tuple[bytes, bytes]:
    """Return a file with these blocks, whatever they are, and its digest."""
    file, digest = b"", NO_DIGEST
    for number, content in blocks:
        block, digest = make_block(digest, number, len(content) // unit, content)
        file += block
    return file, digest


def packed(contents: Iterable[bytes]) -> bytes:
    """Return a checkpoint with these blocks, whatever they are."""
    return packed_blocks(enumerate(contents))[0]


def sample_type(nodes: int) -> np.dtype[Any]:
    """Return the type of a sample (`Records`) of trees with so many nodes."""
    fields = [("step", "<i8"), ("score", "<i8"), ("rate_at", "<i8", (3,)), ("parents", "<i4", (nodes,))]
    return np.dtype(fields)


def packed_samples(state: bytes, blocks: Iterable[tuple[int, bytes]], unit: int) -> tuple[bytes, bytes]:
    """Return a checkpoint that has other samples, and the file of these samples."""
    samples, digest = packed_blocks(blocks, unit)
    head, *contents = contents_of(state)
    about = json.loads(head)
    about["run"] |= {"events": len(samples), "events_digest": digest.hex()}
    return packed([json.dumps(about).encode(), *contents]), samples
