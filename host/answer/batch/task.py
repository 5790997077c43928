"""Task of a batch: the inference of one matrix, as a value that can be pickled and written as JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.data.input.name_files import beside
from syclade.host.data.input.source import Source
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import CODING, OPTIONS

__all__ = ["CODING", "COLUMNS", "FILES", "Task", "deciding", "digest_of", "files_besides", "given_only"]

FILES = {"report": "report.html", "netcdf": "samples.nc"}
"""Options for more files of a result, and their names; they change no other file."""

_OF_THE_BATCH = (
    "checkpoint", "checkpoint_every", "resume", "trace", "threads", "scheduler", "multiqc", "out", "force",
    "json", "quiet", "verbose",
)  # fmt: skip

COLUMNS = tuple(name for name in OPTIONS if name not in _OF_THE_BATCH)
"""Options that each matrix of a batch may have; the others belong to the batch, or to single runs."""

_SAME_FILES = ("device", "encoding", "image", "slots", "stages")
"""Options that do not change the files of a result, but for times and devices."""

_PATHS = ("names", "tree")
"""Types of options whose files are read."""


class Task(NamedTuple):
    """The inference of one matrix.

    Attributes:
        name: name of the matrix, and of the folder of its results.
        matrix: path of the matrix; in Python any matrix of `infer`.
        options: values of `COLUMNS` by their names, without those that have their default.
    """

    name: str
    matrix: Any
    options: dict[str, Any]


def given_only(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that do not have their default."""
    return {name: value for name, value in options.items() if value != OPTIONS[name].default}


def files_besides(task: Task) -> tuple[str, ...]:
    """Return the names of the files that options request in addition (`FILES`)."""
    return tuple(file for name, file in FILES.items() if task.options.get(name))


def deciding(task: Task) -> dict[str, Any]:
    """Return the options that decide the content of the results."""
    return {name: value for name, value in task.options.items() if name not in (*_SAME_FILES, *FILES)}


def digest_of(task: Task) -> str:
    """Return a digest of all that decides the content of the results: options, and the content of files.

    Args:
        task: the task; its matrix is a path.

    Raises:
        MatrixError: a file cannot be read.
    """
    decides = deciding(task)
    read = {f"{what} beside the matrix": place for what, place in _beside(task)}
    for name in [name for name in decides if OPTIONS[name].type.name in _PATHS]:
        read[name] = decides.pop(name)
    contents = {name: _content_of(place) for name, place in {"matrix": task.matrix, **read}.items()}
    text = json.dumps([sorted(decides.items()), sorted(contents.items())])
    return hashlib.sha256(text.encode()).hexdigest()


def _beside(task: Task) -> Iterator[tuple[str, Path]]:
    """Yield the kind and the path of each name file beside the matrix."""
    for what in ("mutation", "cell"):
        place = beside(Path(task.matrix), what)
        if place is not None:
            yield what, place


def _content_of(place: str | os.PathLike[str]) -> str:
    """Return the digest of a file or folder.

    Raises:
        MatrixError: it cannot be read.
    """
    try:
        return Source.of(place).whole()[1]
    except (OSError, ValueError) as problem:
        raise MatrixError(
            f"cannot be read: {getattr(problem, 'strerror', None) or problem}", path=str(place)
        ) from None
