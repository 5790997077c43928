"""Output folders: checked and locked at the start of a run, its files written as a whole at the end.

Locks between processes are files that exist only while they are locked.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from syclade.host.ground.atomic import Content, has_locks, is_at, try_lock
from syclade.host.ground.errors import BusyError, OutputError, SycladeError
from syclade.host.ground.files import cannot, check_output, move_files, refuse_link, refuse_same
from syclade.host.ground.signals import closed_at_exit, uninterrupted
from syclade.host.ground.values import path_of

__all__ = ["OutputFolder", "is_locked", "locked", "output_folder"]


class OutputFolder:
    """Folder of the files of one run; see `output_folder`.

    Attributes:
        path: the folder.
        force: whether existing files may be replaced.
        written: names of the files, once they are written.
    """

    def __init__(self, path: Path, record: str | None, force: bool, protected: Mapping[str, object]) -> None:
        self.path, self.force = path, force
        self.written: list[str] = []
        self._record, self._protected = record, protected
        self._seen = self._recorded()

    def check(self, names: Iterable[str]) -> None:
        """Check that files of these names can be written.

        Raises:
            OutputError: they cannot; or one of them, or of the files to remove, is also another file of the
                run; or files of a folder that is a link would be replaced or removed.
        """
        names = list(names)
        earlier = self._earlier(names)
        refuse_same([self.path / name for name in (*names, *earlier)], self._protected)
        if earlier:
            refuse_link(self.path)
        check_output(self.path, names, self.force)

    def write(self, files: Mapping[str, Content]) -> None:
        """Write all files, and with `force` remove those that the earlier run recorded.

        The record is the first file to be moved to its place, so it names whatever is there, even if the
        process is killed meanwhile. Signals are handled before or after the move of the files.

        Args:
            files: content by file name; see `write_files`.

        Raises:
            OutputError: the files cannot be written; or another run has written to the folder meanwhile.
        """
        self.check(files)
        if self._recorded() not in (None, self._seen):
            raise OutputError(
                f"another run has written to {self.path} meanwhile", hint="choose another directory"
            )
        order = sorted(files, key=lambda name: name != self._record)
        ordered = {name: files[name] for name in order}
        move_files(self.path, ordered, self.force, stale=self._earlier(files), written=self.written)

    def _earlier(self, names: Iterable[str]) -> list[str]:
        """Return the recorded files of the earlier run that are to be removed: all but those of `names`."""
        found = _names_in(self._seen) if self.force and self._seen is not None else []
        places = {name: self.path / name for name in found if name not in {*names}}
        return [name for name, place in places.items() if os.path.lexists(place) and not place.is_dir()]

    def _recorded(self) -> bytes | None:
        """Return the content of the record; None if there is none."""
        try:
            return None if self._record is None else (self.path / self._record).read_bytes()
        except (OSError, ValueError):
            return None


@contextmanager
def output_folder(
    directory: str | os.PathLike[str],
    names: Iterable[str],
    *,
    key: str,
    record: str | None = None,
    force: bool = False,
    protected: Mapping[str, object],
) -> Iterator[OutputFolder]:
    """Check, make and lock a folder for the files of one run, before anything is computed.

    At the end, a folder that was made and in which nothing was written is removed.

    Args:
        directory: the folder; made with its parents.
        names: names of files that the run will write, as far as they are known.
        key: a file that all runs of this kind write: of two runs with the same one, the second is refused.
        record: the file that has, as JSON, the names of all files of the run (`files`); None for no record.
        force: whether existing files of the same names may be replaced, and files recorded by the earlier run
            removed.
        protected: files that the run reads, or writes elsewhere; see `refuse_same`.

    Raises:
        BusyError: another run writes there now.
        OutputError: the files cannot be written, or would overwrite others.
    """
    path = path_of("the directory", directory, OutputError)
    made = [one for one in (path, *path.parents) if not os.path.lexists(one)]
    busy = BusyError(
        f"another run is writing to {path}", hint="wait for its end, or choose another directory"
    )
    with closed_at_exit() as stack:
        with uninterrupted():
            stack.callback(_remove_empty, made)
            check_output(path, (), force)
            stack.enter_context(locked(path / f".{key}.lock", busy))
            folder = OutputFolder(path, record, force, protected)
            folder.check(names)
        yield folder


def _remove_empty(made: Iterable[Path]) -> None:
    """Remove the folders, the innermost first, up to the first that is not empty."""
    with contextlib.suppress(OSError, ValueError):
        for path in made:
            path.rmdir()


def _names_in(record: bytes) -> list[str]:
    """Return the names in a record, without those in other folders; none if it is of another program."""
    try:
        content = json.loads(record)
    except (ValueError, RecursionError):
        return []
    if not isinstance(content, dict) or not {"options", "work", "version"} <= content.keys():
        return []
    names = content.get("files")
    plain = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [name for name in dict.fromkeys(plain) if name == Path(name).name]


@contextmanager
def locked(path: Path, busy: SycladeError) -> Iterator[None]:
    """Hold a lock in the context. The system releases it if the process is killed.

    File systems without locks, and Windows, lock nothing.

    Args:
        path: a file for this purpose only; it is removed at the end.
        busy: raised if someone else holds the lock.

    Raises:
        OutputError: the file cannot be made.
    """
    file = None
    try:
        if has_locks():
            with uninterrupted():
                file = _open_locked(path, busy)
        yield
    finally:
        if file is not None:
            with uninterrupted(), contextlib.suppress(OSError):
                if is_at(file, path):
                    path.unlink()
            os.close(file)


def is_locked(path: Path) -> bool:
    """Return whether someone holds the lock of a path now."""
    try:
        file = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):  # there is none, or a name with a null character
        return False
    try:
        return try_lock(file, shared=True) is False
    finally:
        os.close(file)


def _open_locked(path: Path, busy: SycladeError) -> int:
    while True:
        try:
            # An earlier owner may have removed the empty folder.
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as problem:
            raise cannot(f"cannot write to {path.parent}", problem) from problem
        found = try_lock(file)
        if found is False:
            os.close(file)
            raise busy
        if found is None or is_at(file, path):
            return file
        os.close(file)  # its owner has just removed it
