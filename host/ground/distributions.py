"""Installed packages, found by their folders: loading `importlib.metadata` takes a tenth of a warm start."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

__all__ = ["files_of", "version_of"]

_SUFFIX = ".dist-info"


def version_of(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    folder = _folder_of(name)
    if folder is not None:
        return folder.name[: -len(_SUFFIX)].partition("-")[2]
    from importlib import metadata  # also finds eggs and archives

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def files_of(name: str) -> tuple[Path, ...]:
    """Return the files of a package; none if it is not installed or has no list of them."""
    folder = _folder_of(name)
    if folder is None:
        return ()
    try:
        lines = (folder / "RECORD").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    names = (line.rsplit(",", 2)[0].strip('"') for line in lines)
    return tuple(Path(os.path.normpath(folder.parent / name)) for name in names if name)


def _folder_of(name: str) -> Path | None:
    return _folders(tuple(sys.path)).get(_plain(name))


@cache
def _folders(places: tuple[str, ...]) -> dict[str, Path]:
    """Return the folder of each package by its plain name; of several, the first wins, as in Python."""
    found: dict[str, Path] = {}
    for place in places:
        try:
            names = [one.name for one in Path(place).iterdir()]
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith(_SUFFIX) and "-" in name[: -len(_SUFFIX)]:
                found.setdefault(_plain(name.partition("-")[0]), Path(place, name))
    return found


def _plain(name: str) -> str:
    """Normalise a name as PEP 503 does."""
    return re.sub(r"[-_.]+", "-", name).lower()
