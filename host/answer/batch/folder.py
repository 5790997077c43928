"""Folder of a batch: its tasks in batch.json, a folder for the result of each, and tables of all of them."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from syclade.host.answer.batch.bootstrap import MATRICES, ORIGINAL, Resampling, files_of_bootstrap
from syclade.host.answer.batch.many import AT_A_TIME, bounded_map
from syclade.host.answer.batch.results_table import Line, failed_line, page_of, read_record, table_of
from syclade.host.answer.batch.run_task import INCOMPLETE, Place, drop_old_lock, known_line, run_task
from syclade.host.answer.batch.task import FILES, Task, deciding, digest_of
from syclade.host.answer.output.result_files import multiqc_table
from syclade.host.data.input.source import read_text
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import (
    BusyError,
    OptionError,
    OutputError,
    SycladeError,
    TableError,
    WorkersError,
)
from syclade.host.ground.files import check_output, is_file, is_folder, write_files
from syclade.host.ground.options import flag_of
from syclade.host.ground.output_folder import locked
from syclade.host.ground.values import ParsedJson, shown

__all__ = [
    "TASKS",
    "Batch",
    "check_earlier",
    "gather",
    "part_of",
    "read_batch",
    "run_batch",
    "run_tasks",
    "write_batch",
]

logger = logging.getLogger("syclade.batch")

TASKS = "batch.json"
_TABLES = ("results.tsv", "report.html", "syclade_mqc.json")
_FORM = 1
_EVERY = 1.0
"""Seconds between two versions of results.tsv while tasks run."""

Reporter = Callable[[Line], None]


class Batch(NamedTuple):
    """Many inferences whose results go to one folder.

    Attributes:
        folder: the folder.
        tasks: the tasks, in the order of the table.
        report: whether there is a page that links to the reports of all results.
        multiqc: whether there is a table for MultiQC.
        resampling: how matrices were drawn from the first one, whose tree they support; None for others.
        made: contents of the matrices that the batch itself makes, by the names of their files.
    """

    folder: Path
    tasks: tuple[Task, ...]
    report: bool = False
    multiqc: bool = False
    resampling: Resampling | None = None
    made: Mapping[str, str | Iterator[str]] = MappingProxyType({})


def write_batch(batch: Batch, force: bool = False) -> None:
    """Make the folder, and write its tasks.

    Args:
        batch: the batch.
        force: whether another batch in the folder is replaced.

    Raises:
        OutputError: they cannot be written, or there is another batch; BusyError: another process runs it.
    """
    check_output(batch.folder, ())
    with _locked(batch.folder):
        check_earlier(batch, force)
        _write_tasks(batch)


def check_earlier(batch: Batch, force: bool = False) -> None:
    """Check that the folder has no other batch. One with fewer tasks, or for fewer files, is the same.

    A batch of which all matrices failed, such as for want of an option, is replaced.

    Args:
        batch: the batch.
        force: whether another one may be replaced.

    Raises:
        OutputError: there is another one, or tables that no batch has written.
        TableError: the earlier tasks are damaged.
    """
    if force or not is_folder(batch.folder):
        return
    if not os.path.lexists(batch.folder / TASKS):
        check_output(batch.folder, (*_TABLES, MATRICES) if batch.made else _TABLES)
        return
    earlier = read_batch(batch.folder)
    other = _difference(earlier, batch)
    if other is not None and not _has_failed(earlier):
        raise OutputError(
            f"{batch.folder} has another batch: {other}",
            hint=f"choose another directory with {flag_of('out')}, or replace it with {flag_of('force')}",
        )


def _has_failed(batch: Batch) -> bool:
    """Return whether a batch has ended, as its table shows, and no matrix has a result."""
    ended = any(is_file(batch.folder / name) for name in _TABLES)
    return ended and not any(is_file(batch.folder / task.name / "summary.json") for task in batch.tasks)


def _difference(earlier: Batch, batch: Batch) -> str | None:
    """Return how an earlier batch of the folder differs; None if it is the same."""
    drawn = [one.resampling and one.resampling._replace(replicates=0) for one in (earlier, batch)]
    if drawn[0] != drawn[1]:
        return "other matrices are drawn"
    for name, content in batch.made.items():
        with contextlib.suppress(OSError):
            there = (batch.folder / MATRICES / name).read_bytes()
            if name.startswith(ORIGINAL) and there != "".join(content).encode():
                return f"{name} is another matrix"
    tasks = {task.name: task for task in batch.tasks}
    differences = (_change(batch.folder, one, tasks.get(one.name)) for one in earlier.tasks)
    return next(filter(None, differences), None)


def _change(folder: Path, earlier: Task, task: Task | None) -> str | None:
    """Return how a task differs from an earlier one of its name; None if its result is the same."""
    name = shown(earlier.name)
    if task is None:
        return f"{name} is missing here"
    before, now = deciding(earlier), deciding(task)
    if (earlier.matrix, before) == (task.matrix, now):
        return None
    with contextlib.suppress(SycladeError):  # files may have been moved since their matrix was done
        record = read_record(folder / task.name)
        if record is not None and record.digest == digest_of(task):
            return None
    changed = [one for one in sorted({*before, *now}) if before.get(one) != now.get(one)]
    if not changed:
        return f"{name} is the matrix {earlier.matrix}"
    return f"{name} has another {flag_of(changed[0])}"


def _write_tasks(batch: Batch) -> None:
    stored = {
        "form": _FORM,
        "report": batch.report,
        "multiqc": batch.multiqc,
        "resampling": None if batch.resampling is None else batch.resampling._asdict(),
        "tasks": [task.to_dict() for task in batch.tasks],
    }
    write_files(batch.folder, {TASKS: json.dumps(stored, indent=1) + "\n"}, force=True, links=True)
    if batch.made:
        write_files(batch.folder / MATRICES, batch.made, force=True, links=True)


def read_batch(folder: Path) -> Batch:
    """Return the batch of a folder.

    Raises:
        TableError: there is none, or its tasks are damaged.
    """
    path = folder / TASKS
    text = read_text(path, TableError)
    try:
        stored: ParsedJson = json.loads(text)
        if stored["form"] != _FORM:
            raise TableError("this is of another version of syclade", path=path)
        tasks = tuple(map(Task.of_dict, stored["tasks"]))
        twice = [name for name, count in Counter(task.name.lower() for task in tasks).items() if count > 1]
        if twice:
            raise ValueError(f"the name {shown(twice[0])} is there twice")
        drawn = stored["resampling"]
        resampling = None if drawn is None else Resampling(**drawn)
        return Batch(folder, tasks, bool(stored["report"]), bool(stored["multiqc"]), resampling)
    except (ValueError, TypeError, KeyError, RecursionError, OptionError) as error:
        raise TableError(
            f"the tasks are damaged: {error}",
            path=path,
            hint=f"prepare the folder again, with {flag_of('force')}",
        ) from None


def run_batch(
    batch: Batch, executor: Executor, place: Place, report: Reporter, at_a_time: int = AT_A_TIME
) -> list[Line]:
    """Run the tasks of a batch that are not done, and write its tables.

    Args:
        batch: the batch.
        executor: where the tasks run.
        place: where results are written.
        report: called with the line of each task as it ends.
        at_a_time: as for `bounded_map`.

    Returns:
        The line of every task.

    Raises:
        BusyError: another process runs this batch.
        OutputError: the tables cannot be written, or there is another batch.
    """
    check_output(batch.folder, ())
    with _locked(batch.folder):
        check_earlier(batch, place.force)
        _write_tasks(batch)
        lines = [_labelled(known_line(batch.folder, task), task) for task in batch.tasks]
        numbers = {task.name: number for number, task in enumerate(batch.tasks)}
        written = -_EVERY

        def note(line: Line) -> None:
            nonlocal written
            lines[numbers[line["name"]]] = line
            report(line)
            if time.monotonic() - written >= _EVERY:
                _write_table(batch, lines)
                written = time.monotonic()

        try:
            left = [task for task, line in zip(batch.tasks, lines, strict=True) if line["state"] != "done"]
            for done in (line["name"] for line in lines if line["state"] == "done"):
                drop_old_lock(batch.folder / done)
            again = sum(line.get("error") == INCOMPLETE for line in lines)
            if again:
                logger.info(
                    "inferring again what has a result, but not all of its files: %d of %d", again, len(lines)
                )
            run_tasks(left, executor, place, note, at_a_time)
        finally:
            _write_tables(batch, lines)
    return lines


def run_tasks(
    tasks: Sequence[Task], executor: Executor, place: Place, report: Reporter, at_a_time: int = AT_A_TIME
) -> list[Line]:
    """Run tasks, and return their lines as they end; arguments as for `run_batch`."""
    lines = []
    for number, future in bounded_map(
        partial(run_task, place), tasks, executor, at_a_time=at_a_time, stop=place.stop
    ):
        lines.append(_labelled(_line_of(future, tasks[number]), tasks[number]))
        report(lines[-1])
    return lines


def _line_of(future: Future[Line], task: Task) -> Line:
    """Return the line of a task; that of one whose workers were lost says so."""
    try:
        return future.result()
    except WorkersError as error:
        return failed_line(task.name, error.text, "waiting")


def _labelled(line: Line, task: Task) -> Line:
    """Return a line with the labels of its task: they may change while its result stays the same."""
    return {**line, "labels": dict(task.labels)} if task.labels else line


def part_of(batch: Batch, part: int, parts: int) -> list[Task]:
    """Return the tasks of one of several parts, numbered from 1: every task belongs to one of them."""
    return list(batch.tasks[part - 1 :: parts])


def gather(batch: Batch) -> list[Line]:
    """Write the tables of a batch from the folders of its results; return the line of every task.

    Raises:
        BusyError: another process runs this batch.
        OutputError: the tables cannot be written.
    """
    with _locked(batch.folder):
        lines = [_labelled(known_line(batch.folder, task), task) for task in batch.tasks]
        _write_tables(batch, lines)
    return lines


def _locked(folder: Path) -> AbstractContextManager[None]:
    busy = BusyError(f"another process runs the batch in {folder}", hint="wait for its end")
    return locked(folder / f".{TASKS}.lock", busy)


def _write_table(batch: Batch, lines: Sequence[Line]) -> None:
    write_files(batch.folder, {"results.tsv": table_of(lines)}, force=True, links=True)


def _write_tables(batch: Batch, lines: Sequence[Line]) -> None:
    files: dict[str, Content] = {"results.tsv": table_of(lines)}
    if batch.multiqc:
        rows = {line["name"]: line["multiqc"] for line in lines if line["state"] == "done"}
        files["syclade_mqc.json"] = multiqc_table(rows, "trees")
    if batch.report:
        done = [line["name"] for line in lines if line["state"] == "done"]
        files["report.html"] = page_of(
            lines, {name for name in done if (batch.folder / name / FILES["report"]).is_file()}
        )
    if batch.resampling is not None:
        complete = [line["state"] == "done" for line in lines]
        files |= files_of_bootstrap(batch.folder, batch.resampling, batch.tasks, complete)
    write_files(batch.folder, files, force=True, links=True)
