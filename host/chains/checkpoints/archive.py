"""Archives of plain arrays and JSON metadata: files of blocks with digests, written atomically.

The first block is JSON; the others are the arrays, in the order of a layout that the reader derives from the
run. So a file tells neither sizes nor types, and reading takes no more memory than the run itself.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.checkpoints.blocks import NO_DIGEST, DamagedError, make_block, read_block
from syclade.host.ground.errors import CheckpointError
from syclade.host.ground.files import write_file

__all__ = ["Layout", "damaged", "read_archive", "write_archive"]

FORMAT = 6

Layout = Mapping[str, tuple[str, tuple[int, ...]]]
"""Type and shape of each array, by name."""

_MOST_ABOUT = 2**20
"""Maximum size in bytes of the metadata."""


def write_archive(
    path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], force: bool = False
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
    told = json.dumps({"syclade_checkpoint": FORMAT, **about}).encode()
    content, digest = b"", NO_DIGEST
    for number, one in enumerate((told, *(array.tobytes() for array in arrays.values()))):
        block, digest = make_block(digest, number, len(one), one)
        content += block
    write_file(path, content, force)


def read_archive(
    path: Path, layout_of: Callable[[dict[str, Any]], Layout]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the metadata of an archive.

    Args:
        path: the file.
        layout_of: (metadata) -> layout of the arrays; raises a CheckpointError if the archive is none of
            this run.

    Raises:
        CheckpointError: the file cannot be read, is no such archive, is damaged, or has another format.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe may never end
            raise CheckpointError("the checkpoint cannot be read: it is no regular file", path=path)
        with path.open("rb") as file:
            return _read(path, file, layout_of)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CheckpointError(f"the checkpoint cannot be read: {reason}", path=path) from error


def _read(
    path: Path, file: IO[bytes], layout_of: Callable[[dict[str, Any]], Layout]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    end = file.seek(0, os.SEEK_END)
    try:
        try:
            block, told = read_block(file, 0, NO_DIGEST, end=end, unit=1, most=_MOST_ABOUT)
        except DamagedError:
            raise DamagedError("at byte 0: this is no checkpoint, or its beginning has changed") from None
        about = _about(path, told)
        arrays: dict[str, NDArray[Any]] = {}
        for number, (name, (dtype, shape)) in enumerate(layout_of(about).items(), start=1):
            at, size = block.place + block.items, math.prod(shape) * np.dtype(dtype).itemsize
            block, content = read_block(file, at, block.digest, end=end, unit=1, most=size)
            if (block.number, block.items) != (number, size):
                raise DamagedError(f"at byte {at}: the array {name} has another size")
            arrays[name] = np.frombuffer(content, dtype).reshape(shape)
        if block.place + block.items != end:
            raise DamagedError(f"at byte {block.place + block.items}: it should end there")
    except DamagedError as error:
        raise damaged(path, str(error)) from error
    return arrays, about


def _about(path: Path, told: bytes) -> dict[str, Any]:
    """Return the metadata; raise a CheckpointError if the format is another one."""
    try:
        about = dict(json.loads(told))
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
