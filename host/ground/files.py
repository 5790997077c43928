"""Atomic writes of result files; existing files are replaced only with `force`."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from syclade.host.ground.atomic import Content, temporary_files
from syclade.host.ground.errors import OptionError, OutputError
from syclade.host.ground.options import flag_of
from syclade.host.ground.signals import uninterrupted
from syclade.host.ground.values import path_of

__all__ = [
    "MISSING",
    "cannot",
    "check_file",
    "check_output",
    "entries_of",
    "is_file",
    "is_folder",
    "move_files",
    "problem_of",
    "refuse_link",
    "refuse_same",
    "tsv_text",
    "write_file",
    "write_files",
]


def check_output(
    directory: str | os.PathLike[str], names: Iterable[str], force: bool = False, *, links: bool = False
) -> Path:
    """Check that files can be written, before anything is computed; create the directory.

    Args:
        directory: the directory for the files; created with its parents.
        names: names of the files, without directories.
        force: whether existing files of these names may be replaced.
        links: whether that holds for a directory that is a link, too.

    Returns:
        The directory.

    Raises:
        OutputError: the directory cannot be created or written to; a directory, a device or a pipe has one of
            the names; such files exist and `force` is not set, or is set and the directory is a link.
    """
    folder = path_of("the directory", directory, OutputError)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = [name for name in names if os.path.lexists(folder / name)]
        blocked = [name for name in present if (folder / name).is_dir()]
        special = [name for name in present if name not in blocked and _is_special(folder / name)]
    except FileExistsError:
        what = "a link to nothing" if folder.is_symlink() and not folder.exists() else "a file"
        raise OutputError(f"{folder} is {what}, not a directory", hint="choose another directory") from None
    except (OSError, ValueError) as problem:
        raise cannot(f"cannot make the directory {folder}", problem) from problem
    if blocked:
        raise OutputError(f"in {folder} there are directories called {', '.join(blocked)}")
    if special:
        raise OutputError(
            f"{folder / special[0]} is a device or a pipe, which no file replaces", hint="choose another name"
        )
    if present and not force:
        raise OutputError(
            f"{folder} already has {', '.join(present)}",
            hint=f"choose another directory, or replace the files with {flag_of('force')}",
        )
    if present and not links:
        refuse_link(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"the directory {folder} may not be written to", hint="choose another directory")
    return folder


def _is_special(path: Path) -> bool:
    """Return whether a path is of a device, a pipe or a socket, also by a link."""
    return path.exists() and not path.is_file()


def refuse_link(folder: Path) -> None:
    """Refuse to replace or remove files in a folder that is a link: they may be those of somebody else.

    A file that is a link needs no such check: the link is replaced, not the file behind it.
    """
    if folder.is_symlink():
        raise OutputError(
            f"{folder} is a link to {folder.resolve()}: {flag_of('force')} replaces no files behind a link",
            hint="give the directory itself, or choose another one",
        )


def check_file(path: Path, force: bool = False, also: Iterable[str] = ()) -> None:
    """Check that a file can be written, before anything is computed. Its directory must exist.

    Args:
        path: the file.
        force: whether an existing file may be replaced.
        also: names of further files beside it.

    Raises:
        OutputError: there is no such directory, or the path is one; or as for `check_output`.
    """
    if not path.name:  # such as `.`
        raise OutputError(f"{path} is a directory", hint="give the name of a file in it")
    if not os.path.lexists(path.parent):
        raise missing_directory(path)
    check_output(path.parent, (path.name, *also), force, links=True)


def missing_directory(path: Path) -> OutputError:
    """Return the error for a file whose directory does not exist: only directories of results are made."""
    return OutputError(
        f"cannot write {path}: there is no directory {path.parent}",
        hint="make it (mkdir -p), or choose another place",
    )


def write_file(
    path: Path, content: Content, force: bool = False, protected: Mapping[str, object] | None = None
) -> None:
    """Write a file atomically; see `write_files`. Its directory must exist.

    Raises:
        OutputError: as for `check_file` and `write_files`.
    """
    check_file(path, force)
    write_files(path.parent, {path.name: content}, force, protected, links=True)


def write_files(
    directory: str | os.PathLike[str],
    files: Mapping[str, Content],
    force: bool = False,
    protected: Mapping[str, object] | None = None,
    *,
    links: bool = False,
) -> None:
    """Write files atomically; texts are UTF-8 with LF line ends.

    Each file is written to a temporary file, in a folder beside the targets. All of them are renamed once
    every one is on the disk. So neither a full disk nor an interruption leaves a broken file or destroys an
    older one. What a killed process left of writing the same files is removed.

    Args:
        directory: the directory for the files; created with its parents.
        files: content by file name: a text, whole or in pieces, bytes, or a function that writes the file.
        force: whether existing files of these names may be replaced.
        protected: files that must not be overwritten, such as inputs; see `refuse_same`.
        links: as for `check_output`.

    Raises:
        OutputError: as ``check_output``; a file is one of `protected`; or the disk is full or fails.
    """
    refuse_same([path_of("the directory", directory, OutputError) / name for name in files], protected or {})
    move_files(check_output(directory, files, force, links=links), files, force)


def move_files(
    folder: Path,
    files: Mapping[str, Content],
    force: bool,
    *,
    stale: Iterable[str] = (),
    written: list[str] | None = None,
) -> None:
    """Write temporary files, then remove the files `stale` and move all files to their places, in order.

    Args:
        folder, files, force: as for `write_files`; the folder exists.
        stale: names of the files to remove.
        written: receives the names as soon as all files are at their places.

    Raises:
        OutputError: a file cannot be written, or has appeared meanwhile. New files are then removed again.
    """
    place = folder
    try:
        with temporary_files(folder, files) as temporary:
            for name, content in files.items():
                place = folder / name
                temporary.write(place, content, sync=True)
            with uninterrupted(), ExitStack() as undo:
                for name in stale:
                    (folder / name).unlink(missing_ok=True)
                for place in temporary.waiting:
                    temporary.move(place, replace=force)
                    if not force:
                        undo.callback(place.unlink)
                undo.pop_all()
                temporary.close()
                if written is not None:
                    written += files
        _sync_directory(folder)
    except FileExistsError:
        raise OutputError(
            f"{place} has appeared since the run began", hint="choose another directory"
        ) from None
    except OSError as problem:
        raise cannot(f"cannot write {place}", problem) from problem


def _sync_directory(folder: Path) -> None:
    """Flush the new names to the disk, on systems where a directory can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cannot(what: str, problem: Exception) -> OutputError:
    """Return the error for a file or folder that cannot be written, with the system's reason."""
    reason = getattr(problem, "strerror", None) or str(problem)
    hint = _HINTS.get(getattr(problem, "errno", None), f"choose another directory with {flag_of('out')}")
    return OutputError(f"{what}: {reason}", hint=hint)


_SPACE = f"choose another directory with {flag_of('out')}, or free some space"
_HINTS: dict[int | None, str] = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: _SPACE,
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""Hints for errors of the system, by number, where another directory alone is not the answer."""


def refuse_same(outputs: Iterable[Path], others: Mapping[str, object]) -> None:
    """Check that outputs are none of other files, under any name (links included).

    Args:
        outputs: the files to write, which may not exist yet.
        others: files that a run reads or writes besides, by the user's names for them. A path stands for the
            file, or for all files of the folder. A stream stands for its file. Other values are ignored.

    Raises:
        OutputError: an output is one of the others.
    """
    known = {key: name for name, value in others.items() for key in _keys_of(value)}
    for place in outputs:
        for key in _keys(place):
            if key in known:
                raise OutputError(
                    f"{place} is also {known[key]}, and would be overwritten",
                    hint="choose another place for the results",
                )


def _keys_of(value: object) -> Iterable[object]:
    """Return the keys of the files that a value stands for."""
    if isinstance(value, (str, os.PathLike)):
        path = Path(value)
        try:
            files = [path, *path.iterdir()] if path.is_dir() else [path]
        except (OSError, ValueError):
            files = [path]
        return {key for file in files for key in _keys(file)}
    try:
        found = os.fstat(value.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError, TypeError, ValueError):
        return ()
    return ((found.st_dev, found.st_ino),)


def _keys(path: Path) -> list[object]:
    """Return keys of which equal files share one: the real path, and the file itself if it exists."""
    if "\0" in str(path):
        return []
    keys: list[object] = [os.path.realpath(path)]
    with contextlib.suppress(OSError):
        found = path.stat()
        keys.append((found.st_dev, found.st_ino))
    return keys


MISSING = "no such file"
"""Why a path cannot be opened that is not there."""


def problem_of(path: Path) -> str | None:
    """Return why a path cannot be opened, such as for want of permission; None if it exists."""
    try:
        path.stat()
    except FileNotFoundError:
        return MISSING
    except ValueError as problem:  # a null character
        return f"cannot be read: {problem}"
    except OSError as problem:
        return f"cannot be read: {problem.strerror}"
    return None


def is_file(path: Path) -> bool:
    """Return whether a file is there, as far as this process may see; Python's own method may raise."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Return whether a folder is there, as far as this process may see."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def entries_of(folder: Path) -> list[Path]:
    """Return the files and folders in a folder.

    Raises:
        OptionError: it cannot be read, such as for want of permission.
    """
    try:
        return list(folder.iterdir())
    except OSError as problem:
        raise OptionError(f"the folder {folder} cannot be read: {problem.strerror}") from problem


def tsv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return the text of a tab-separated table: a line of the names of the columns, then a line for each row.

    Texts with a tab, a quote or a line end are quoted as in CSV, with the quote doubled.
    """
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    return text.getvalue()
