"""Archives of plain arrays and JSON metadata: npz files without pickles, written atomically."""

from __future__ import annotations

import io
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import CheckpointError
from syclade.host.common.files import write_files
from syclade.host.input.bounded import read_bounded

__all__ = ["damaged", "read_archive", "write_archive"]

FORMAT = 4

_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions that numpy and zipfile raise for bytes that are not an archive of arrays."""


def write_archive(
    path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any], force: bool = False
) -> None:
    """Write an archive atomically.

    Args:
        path: the file.
        arrays: the arrays, by name; the name `about` is reserved.
        about: metadata, stored as JSON.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be written.
    """
    told = np.frombuffer(json.dumps({"syclade_checkpoint": FORMAT, **about}).encode(), dtype=np.uint8)
    content = io.BytesIO()
    contents: dict[str, Any] = {**arrays, "about": told}
    np.savez_compressed(content, **contents)
    write_files(path.parent, {path.name: content.getvalue()}, force)


def read_archive(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the metadata of an archive.

    Raises:
        CheckpointError: the file cannot be read, is not such an archive, or has another format.
    """
    try:
        content = read_bounded(path, 2**32, begins=(b"PK",))  # as zip archives begin
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(f"the checkpoint cannot be read: {reason}", path=path) from error
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
        version = about.pop("syclade_checkpoint")
    except _UNREADABLE as error:
        raise damaged(path, "this is no checkpoint, or a part of one") from error
    if version != FORMAT:
        raise CheckpointError(
            f"the checkpoint has format {version}, this syclade reads {FORMAT}",
            path=path,
            hint="go on with the syclade that wrote it",
        )
    return arrays, about


def damaged(path: Path | None, why: str) -> CheckpointError:
    """Return the error for a file of a checkpoint whose content is not valid; None for a temporary one."""
    return CheckpointError(
        f"the checkpoint is damaged: {why}", path=path, hint="use an older one, or begin anew without it"
    )
