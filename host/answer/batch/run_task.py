"""One task of a batch: its inference, the files of its result, and its line, on any machine."""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.answer.batch.many import infer_task
from syclade.host.answer.batch.results_table import (
    Line,
    Record,
    failed_line,
    is_complete,
    line_of,
    read_record,
    write_record,
)
from syclade.host.answer.batch.task import FILES, Task, digest_of, files_besides
from syclade.host.answer.output.result_files import RECORD, files_of, folder_of_result
from syclade.host.ground.errors import BusyError, OutputError, SycladeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.output_folder import locked
from syclade.host.ground.signals import Stop

__all__ = ["INCOMPLETE", "MATRIX", "Place", "drop_old_lock", "known_line", "run_task"]

_INPUTS = ("names", "cell_names", "metadata", "total_reads", "ref_reads", "absent", "image", "true_tree")
"""Options whose files are read."""

MATRIX: ContextVar[str | None] = ContextVar("MATRIX", default=None)
"""Name of the matrix that this thread infers, for messages."""

NOT_DONE = "it was not run to its end yet"

INCOMPLETE = "files of its result are missing"
"""Reason why a matrix with a result of the same options is inferred again: no file can be made without."""


class Place(NamedTuple):
    """Where the results of tasks are written, and how.

    Attributes:
        folder: the folder of the batch; each task has a folder there.
        force: whether results of other options, and files of other runs, are replaced.
        stop: a stop request: tasks in progress end without results.
    """

    folder: Path
    force: bool
    stop: Stop


def run_task(place: Place, task: Task) -> Line:
    """Infer the tree of one matrix, and write its result; an earlier result of the same task is kept.

    All errors are in the line, so that a matrix that fails stops no other.

    Args:
        place: where to write.
        task: the task; its matrix is a path.
    """
    MATRIX.set(task.name)
    folder = place.folder / task.name
    if place.stop.wanted:
        return failed_line(task.name, NOT_DONE, "waiting")
    digest = None
    try:
        digest = digest_of(task)
        return _kept(folder, task, digest) or _infer(place, task, folder, digest)
    except BusyError as error:
        return _kept(folder, task, digest) or failed_line(task.name, error.text, "waiting")
    except _Stopped:
        return failed_line(task.name, NOT_DONE, "waiting")
    except _OtherFiles as error:
        return failed_line(task.name, str(error))
    except SycladeError as error:
        line = failed_line(task.name, error.text)
    except MemoryError:
        line = failed_line(task.name, "out of memory")
    except Exception as error:  # such as one of a library that draws the report
        line = failed_line(task.name, f"{type(error).__name__}: {error}")
    with contextlib.suppress(OutputError):
        _note_failure(place, folder, digest, line)
    return line


def known_line(folder: Path, task: Task) -> Line:
    """Return the line of a task as far as its folder shows it; nothing is run.

    Args:
        folder: the folder of the batch.
        task: the task.
    """
    record = read_record(folder / task.name)
    try:
        digest = digest_of(task)
    except SycladeError as error:
        return failed_line(task.name, error.text)
    if record is None and _has_files(folder / task.name):
        return failed_line(task.name, str(_other_files(folder / task.name)))
    if record is None or record.line is None:
        return failed_line(task.name, NOT_DONE, "waiting")
    done = record.line.get("state") == "done"
    if record.digest != digest:
        other = str(_other_options(folder / task.name))
        return failed_line(task.name, other) if done else failed_line(task.name, NOT_DONE, "waiting")
    if done and not is_complete(folder / task.name, record, files_besides(task)):
        return failed_line(task.name, INCOMPLETE, "waiting")
    return record.line


class _Stopped(Exception):
    """Raised where a stop was requested: the result so far is not written."""


class _OtherFiles(Exception):
    """Raised where a folder has files that are not those of this task."""


def _kept(folder: Path, task: Task, digest: str | None) -> Line | None:
    """Return the line of a complete result of the same options and input; None if there is none."""
    record = read_record(folder)
    if record is None or record.digest != digest or not is_complete(folder, record, files_besides(task)):
        return None
    drop_old_lock(folder)
    return record.line


def drop_old_lock(folder: Path) -> None:
    """Remove the lock that a process left in a folder which was killed after its last file."""
    lock = folder / f".{RECORD}.lock"
    if os.path.lexists(lock):
        with contextlib.suppress(SycladeError), locked(lock, BusyError("")):
            pass


def _infer(place: Place, task: Task, folder: Path, digest: str) -> Line:
    """Infer the tree, and write its result; raise `_Stopped` if it was stopped before its end."""
    inputs = {"the matrix": task.matrix, **{flag_of(name): getattr(task.options, name) for name in _INPUTS}}
    with folder_of_result(folder, (), force=place.force, protected=inputs) as opened:
        kept = _kept(folder, task, digest)  # another process may have ended meanwhile
        if kept is not None:
            return kept
        if not place.force:
            _refuse_others(folder, digest)
        opened.force = True
        record = read_record(folder)
        same = record if record is not None and record.digest == digest else Record(digest)
        if not is_complete(folder, same):  # else it stays so until files are added to it
            write_record(folder, Record(digest))
        result = infer_task(task, place.stop)
        if result.interrupted:
            raise _Stopped
        also: dict[str, Any] = {
            name: getattr(task.options, name) or file in same.files for name, file in FILES.items()
        }
        files = files_of(result, task.name, multiqc=False, title=task.name, **also)
        opened.write(files)
        line = line_of(task.name, result)
        write_record(folder, Record(digest, line, tuple(files)))
    return line


def _refuse_others(folder: Path, digest: str) -> None:
    """Check that a folder has nothing but an earlier state of this task.

    Raises:
        _OtherFiles: it has a result of other options, or files of another run.
    """
    record = read_record(folder)
    if record is None and _has_files(folder):
        raise _other_files(folder)
    done = record is not None and record.line is not None and record.line.get("state") == "done"
    if record is not None and done and record.digest != digest:
        raise _other_options(folder)


def _has_files(folder: Path) -> bool:
    """Return whether a folder is there and has files that are not hidden, or may not be read."""
    try:
        return any(not path.name.startswith(".") for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _other_files(folder: Path) -> _OtherFiles:
    return _OtherFiles(
        f"{folder} has files that no batch has written: choose another name, or replace them with "
        f"{flag_of('force')}"
    )


def _other_options(folder: Path) -> _OtherFiles:
    return _OtherFiles(
        f"{folder} has a result of other options or of another matrix: choose another name, or replace it "
        f"with {flag_of('force')}"
    )


def _note_failure(place: Place, folder: Path, digest: str | None, line: Line) -> None:
    """Write the reason why a matrix has no result, unless there is a result of other options.

    Raises:
        OutputError: it cannot be written.
    """
    with folder_of_result(folder, (), force=place.force, protected={}):
        record = read_record(folder)
        foreign = record is None and _has_files(folder)
        if not foreign and not is_complete(folder, record):
            write_record(folder, Record(digest, line))
