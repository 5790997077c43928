"""Pack a reference folder into one archive, and unpack it; the package contains its reference in this form.

With the same version of zlib, the same files give the same bytes: names are sorted, and times, owners and
modes are fixed. `archive_digest` depends only on the files.

``python -m syclade.quality.reference.archive FOLDER ARCHIVE`` packs a folder.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

from syclade.host.ground.files import write_files
from syclade.quality.reference.folder import SETTINGS_FILE, ReferenceFolderError, read_reference

__all__ = ["archive_digest", "pack_reference", "read_archive"]

FOLDERS = ("inputs", "scite")


def pack_reference(folder: Path, archive: Path) -> str:
    """Pack `reference.json`, `inputs/` and `scite/` of a reference folder into a `.tar.gz` file.

    Args:
        folder: a complete reference folder.
        archive: the file to write; an existing file is replaced.

    Returns:
        The digest of the files, see `archive_digest`.

    Raises:
        ReferenceFolderError: the folder is not complete.
        OutputError: the archive cannot be written.
    """
    read_reference(folder)
    paths = [path for name in FOLDERS for path in (folder / name).iterdir() if path.is_file()]
    paths += [path for path in [folder / SETTINGS_FILE] if path.exists()]
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)  # time 0, owner 0, mode 0644
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    packed = gzip.compress(unpacked.getvalue(), compresslevel=9, mtime=0)
    write_files(archive.parent, {archive.name: packed}, force=True)
    return archive_digest(files)


def read_archive(content: bytes) -> dict[str, bytes]:
    """Return the files of an archive by name, such as ``inputs/01.csv``.

    Raises:
        ReferenceFolderError: the archive is damaged.
    """
    files = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
            for entry in tar:
                file = tar.extractfile(entry)
                if file is not None:
                    files[entry.name] = file.read()
    except (tarfile.TarError, OSError, EOFError, ValueError) as problem:
        raise ReferenceFolderError(f"the archive of a reference is damaged: {problem}") from problem
    return files


def archive_digest(files: dict[str, bytes]) -> str:
    """Return the SHA-256 of the files' names and contents, in hexadecimal, regardless of compression."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode())
        digest.update(files[name])
    return digest.hexdigest()


if __name__ == "__main__":
    print(pack_reference(Path(sys.argv[1]), Path(sys.argv[2])))
