"""Installed packages by their folders: to load `importlib.metadata` takes a tenth of a warm start."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

__all__ = ["files_of", "version_of"]

_SUFFIX = ".dist-info"


def version_of(name: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    folder = _folder_of(name)
    if folder is not None:
        return folder.name[: -len(_SUFFIX)].partition("-")[2]
    from importlib import metadata  # knows of eggs and archives as well

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def files_of(name: str) -> tuple[Path, ...]:
    """The files that a package brings; none if it is not installed, or has no list of them."""
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
    """The folder of each package, by its plain name; of several, Python takes the first."""
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
    """As PEP 503 compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()
