"""Reference that comes with the package: SCITE's results on 64 inputs (`quality/data/README.md`)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from syclade.quality.reference.archive import archive_digest, read_archive
from syclade.quality.reference.folder import Reference, ReferenceFolderError, read_reference

__all__ = ["DIGEST", "packaged_files", "reference_at"]

ARCHIVE = "tost64.tar.gz"

DIGEST = "04da294d2dbc3e20fcc99107eb4124360cbc50c2012ba228dffce1d409e3644a"
"""Digest of the archive's files (`archive_digest`): the published figures are for exactly these inputs."""


def packaged_files() -> dict[str, bytes]:
    """Return the packaged reference's files by name, such as ``inputs/01.csv``.

    Raises:
        ReferenceFolderError: the archive is missing, or its content is not the published one.
    """
    archive = files("syclade.quality").joinpath("data", ARCHIVE)
    try:
        found = read_archive(archive.read_bytes())
    except OSError as problem:
        raise _broken(f"cannot be read: {problem.strerror or problem}") from problem
    except ReferenceFolderError as problem:
        raise _broken("is damaged") from problem
    if archive_digest(found) != DIGEST:
        raise _broken("is not the published one")
    return found


@contextmanager
def reference_at(folder: str | os.PathLike[str] | None) -> Iterator[Reference]:
    """Open a reference folder; without one, unpack the packaged reference for as long as it is open.

    Raises:
        ReferenceFolderError: the folder or the package's archive cannot be used.
    """
    if folder is not None:
        yield read_reference(folder)
        return
    content = packaged_files()
    with tempfile.TemporaryDirectory(prefix="syclade-tost64-") as unpacked:
        for name, data in content.items():
            path = Path(unpacked, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        yield read_reference(unpacked)


def _broken(what: str) -> ReferenceFolderError:
    return ReferenceFolderError(
        f"the reference {ARCHIVE} of this installation {what}",
        hint="install syclade again, or give a reference folder with --reference",
    )
