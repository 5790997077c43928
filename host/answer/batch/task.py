"""Task of a batch: the inference of one matrix, as a value that can be pickled and written as JSON."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.answer.batch.names import check_name
from syclade.host.answer.request.arguments import settled
from syclade.host.data.input.formats import format_for
from syclade.host.data.input.names import beside
from syclade.host.data.input.source import Source
from syclade.host.findings.kinds.named import kind_named, weights_of
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import (
    CODING,
    OPTIONS,
    Options,
    Plain,
    checked,
    given_of,
    is_given,
    options_of,
)

__all__ = [
    "COLUMNS",
    "FILES",
    "Task",
    "check_options",
    "deciding",
    "digest_of",
    "files_besides",
    "options_of_matrix",
]

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
        options: its options, of which only `COLUMNS` are given.
    """

    name: str
    matrix: Any
    options: Options

    def to_dict(self) -> dict[str, object]:
        """Return the task as plain values, with the options that do not have their default."""
        return {"name": self.name, "matrix": self.matrix, "options": given_of(self.options)}

    @classmethod
    def of_dict(cls, told: Any) -> Task:
        """Return the task of plain values.

        Raises:
            OptionError: the name or an option is invalid.
            ValueError, TypeError, KeyError: these are no values of a task.
        """
        options = options_of_matrix(told["options"])
        check_options(options)
        return cls(check_name(told["name"]), str(told["matrix"]), options)


def options_of_matrix(told: Mapping[str, Any]) -> Options:
    """Return checked options of a matrix of a batch from values by name.

    Raises:
        OptionError: an option is not one of a batch, or has a bad value.
    """
    for name in told:
        if name not in COLUMNS:
            raise OptionError(f"{name} is no option of a matrix of a batch")
    return options_of({name: checked(name, value) for name, value in told.items()})


def check_options(options: Options) -> None:
    """Check that options of a matrix of a batch go together, as far as that needs no matrix.

    Raises:
        OptionError: an option does not go with another, or with the format of the matrix.
    """
    settled(options._replace(out="."))
    if is_given(options, "format"):
        format_for(options.format, [name for name in CODING if name != "format" and is_given(options, name)])
    weights_of(kind_named(options.tree), options.move_probabilities)


def files_besides(task: Task) -> tuple[str, ...]:
    """Return the names of the files that options request in addition (`FILES`)."""
    return tuple(file for name, file in FILES.items() if getattr(task.options, name))


def deciding(task: Task) -> dict[str, Plain]:
    """Return the given options that decide the content of the results."""
    given = given_of(task.options)
    return {name: value for name, value in given.items() if name not in (*_SAME_FILES, *FILES)}


def digest_of(task: Task) -> str:
    """Return a digest of all that decides the content of the results: options, and the content of files.

    Args:
        task: the task; its matrix is a path.

    Raises:
        MatrixError: a file cannot be read.
    """
    decides = deciding(task)
    read: dict[str, Any] = {f"{what} beside the matrix": place for what, place in _beside(task)}
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
