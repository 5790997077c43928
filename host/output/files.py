"""Writes results: all of a file or nothing of it, and never over another without being told so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from syclade.host.atomic import passing_files
from syclade.host.errors import OutputError
from syclade.host.values import path_of

__all__ = ["FILES", "check_output", "write_files"]

FILES = ("tree.newick", "tree.gv", "attachments.tsv", "summary.json", "run.json")
"""Of a result, whatever was asked for besides."""


def check_output(directory: str | os.PathLike[str], names: Iterable[str], force: bool = False) -> Path:
    """Checks that files could be written, before anything is computed; creates the directory.

    Args:
        directory: where the files will go; created with its parents.
        names: the files' names, without directories.
        force: whether files of these names may be replaced.

    Returns:
        The directory.

    Raises:
        OutputError: the directory cannot be made or written to, or has such files and force is not set.
    """
    folder = path_of("the directory", directory, OutputError)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = [name for name in names if os.path.lexists(folder / name)]
        blocked = [name for name in present if (folder / name).is_dir()]
    except FileExistsError:
        raise OutputError(f"{folder} is a file, not a directory", hint="choose another directory") from None
    except (OSError, ValueError) as problem:
        raise _cannot(f"cannot make the directory {folder}", problem) from problem
    if blocked:
        raise OutputError(f"in {folder} there are directories called {', '.join(blocked)}")
    if present and not force:
        raise OutputError(
            f"{folder} already has {', '.join(present)}",
            hint="choose another directory, or replace the files with --force",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"the directory {folder} may not be written to", hint="choose another directory")
    return folder


def write_files(
    directory: str | os.PathLike[str], files: Mapping[str, str | bytes | Iterable[str]], force: bool = False
) -> None:
    """Writes files, each one whole or not at all; texts are UTF-8 with LF line ends.

    Every file is written under a passing name beside its place, and they take their places when all are
    on the disk: neither a full disk nor an interruption leaves a broken file or destroys an older one.

    Args:
        directory: where the files go; created with its parents.
        files: the text, in one or in pieces, or the bytes of each file by its name.
        force: whether files of these names may be replaced.

    Raises:
        OutputError: what ``check_output`` says, or the disk is full or fails.
    """
    folder = check_output(directory, files, force)
    place = folder
    try:
        with passing_files() as passing:
            for name, content in files.items():
                place = folder / name
                passing.write(place, content, sync=True)
            for place in passing.waiting:
                passing.move(place)
        _sync_directory(folder)
    except OSError as problem:
        raise _cannot(f"cannot write {place}", problem) from problem


def _sync_directory(folder: Path) -> None:
    """Brings the new names to the disk, where the system lets a directory be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot(what: str, problem: Exception) -> OutputError:
    reason = getattr(problem, "strerror", None) or str(problem)
    return OutputError(f"{what}: {reason}", hint="choose another directory with --out, or free some space")
