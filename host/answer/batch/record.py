"""Record of a task in the folder of its results: whether they are complete, and of which options and input.

It is written before the other files, as begun, and once more when all of them are there. So a killed process
leaves no files that the next one takes for complete, or for a user's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.answer.batch.result_row import Line
from syclade.host.ground.files import is_file, write_files

__all__ = ["RECORD", "Record", "is_complete", "read_record", "write_record"]

RECORD = "task.json"


class Record(NamedTuple):
    """State of a task.

    Attributes:
        digest: digest of the options and inputs (`digest_of`); None if they could not be read.
        line: its line of results.tsv; None while it runs.
        files: names of the files of its result.
    """

    digest: str | None
    line: Line | None = None
    files: tuple[str, ...] = ()


def read_record(folder: Path) -> Record | None:
    """Return the record in a folder; None if there is none, or it is damaged."""
    try:
        told: Any = json.loads((folder / RECORD).read_text("utf-8"))
        return Record(told["digest"], told["line"], tuple(told["files"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_record(folder: Path, record: Record) -> None:
    """Write a record in place of the earlier one.

    Raises:
        OutputError: it cannot be written.
    """
    text = json.dumps(record._asdict(), indent=2) + "\n"
    write_files(folder, {RECORD: text}, force=True, links=True)


def is_complete(folder: Path, record: Record | None, besides: Iterable[str] = ()) -> bool:
    """Return whether a record is of a result, all of whose files are there.

    Args:
        folder: the folder of the result.
        record: its record.
        besides: files that must be among them.
    """
    if record is None or record.line is None or record.line.get("state") != "done":
        return False
    return {*besides} <= {*record.files} and all(is_file(folder / name) for name in record.files)
