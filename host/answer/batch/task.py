"""Task of a batch: the inference of one matrix, as a value that can be pickled and written as JSON.

The name of a task is the name of its folder. Tasks come from a table (`table.py`), or from paths.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.answer.request.arguments import settled
from syclade.host.data.input.formats import format_for
from syclade.host.data.input.names import name_file_of
from syclade.host.data.input.source import Source
from syclade.host.findings.kinds import kind_named, weights_of
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.files import MISSING, entries_of, is_file, is_folder, problem_of
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
from syclade.host.ground.values import DOWNLOAD, ParsedJson, counted, is_address, shown

__all__ = [
    "COLUMNS",
    "FILES",
    "INPUTS",
    "MATRICES",
    "Task",
    "check_name",
    "check_options",
    "deciding",
    "digest_of",
    "files_besides",
    "matrices_of",
    "named",
    "options_of_matrix",
    "stem_of",
]


_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
_MAGIC = re.compile(r"[*?[]")
_MOST = 200
"""Bytes of a name; file systems have 255, and names of files beside it are a little longer."""

_OWN = ("batch.json", "results.tsv", "report.html", "syclade_mqc.json")
"""Files beside the folders."""

MATRICES = ("matrix", "matrices")
"""Words for `counted`."""

INPUTS = "give a table of matrices, or matrices: files, folders of files, or a pattern in quotes"
"""Help where an input is none."""

_NO_MATRICES = (".geneNames", ".cellNames")
"""Endings of files in a folder of matrices that are none."""


def check_name(name: str) -> str:
    """Return a name, if a folder may have it on any system.

    Raises:
        OptionError: it may not.
    """
    if not name:
        raise OptionError("the name is empty", hint="names are folders of results")
    ends = name[0] in ". -" or name[-1] in ". "
    if _UNSAFE.search(name) or ends or len(name.encode()) > _MOST or name.lower() in _OWN:
        raise OptionError(
            f"{shown(name)} is no name for a folder",
            hint="use letters, digits, _, - and dots, with a letter or digit first",
        )
    return name


def stem_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without `.gz` and its ending."""
    place = Path(path)
    return place.with_suffix("").stem if place.suffix == ".gz" else place.stem


def matrices_of(given: Sequence[str]) -> list[Path]:
    """Return the matrices of paths, which may be files, folders of matrices, and patterns.

    Raises:
        OptionError: a path does not exist, or a folder or pattern has no matrices.
    """
    found: list[Path] = []
    missing = [one for one in given if problem_of(Path(one)) and not _MAGIC.search(one)]
    if missing and is_address(missing[0]):
        raise OptionError(f"{missing[0]} is an address", hint=DOWNLOAD)
    if missing:
        more = f" (nor {counted(len(missing) - 1, 'other input', 'other inputs')})" if missing[1:] else ""
        if (problem := problem_of(Path(missing[0]))) != MISSING:
            raise OptionError(f"{missing[0]}: {problem}")
        raise OptionError(f"there is no file or folder {missing[0]}{more}", hint=INPUTS)
    for one in given:
        path = Path(one)
        if problem_of(path):
            files = sorted(file for file in _matching(path) if is_file(file) and _may_be_matrix(file))
        elif path.is_dir():
            files = sorted(file for file in entries_of(path) if is_file(file) and _may_be_matrix(file))
        else:
            files = [path]
        if not files:
            raise OptionError(f"there are no matrices in {one}", hint=INPUTS)
        found += files
    return list(dict.fromkeys(file.absolute() for file in found))


def _matching(pattern: Path) -> Iterator[Path]:
    """Yield the paths that match a pattern: its first parts without one are the folder to look in."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    folder = Path(*parts[:first])
    if is_folder(folder):
        entries_of(folder)  # which says why it cannot be read, unlike glob
    return folder.glob("/".join(parts[first:]))


def _may_be_matrix(file: Path) -> bool:
    return not file.name.startswith(".") and file.suffix not in _NO_MATRICES


def named(paths: Sequence[Path]) -> dict[str, Path]:
    """Return matrices by their names: those of the files, with folders where files have the same name.

    Args:
        paths: absolute paths, each once.

    Raises:
        OptionError: a name is no name for a folder, or two are alike.
    """
    names = [stem_of(path) for path in paths]
    if len({name.lower() for name in names}) < len(names):
        top = Path(os.path.commonpath([path.parent for path in paths]))
        names = [_with_folders(path.relative_to(top)) for path in paths]
    twice = [name for name, count in Counter(name.lower() for name in names).items() if count > 1]
    if twice:
        alike = [str(path) for path, name in zip(paths, names, strict=True) if name.lower() == twice[0]]
        raise OptionError(
            f"{alike[0]} and {alike[1]} have the same name {shown(twice[0])}",
            hint="give a table with a column name",
        )
    return {check_name(name): path for name, path in zip(names, paths, strict=True)}


def _with_folders(path: Path) -> str:
    """Return the name of a file with its folders; `matrix` is left out, as `simulate` names all files."""
    parts = [*path.parent.parts, stem_of(path)]
    return "_".join(parts[:-1] if parts[-1] == "matrix" and parts[:-1] else parts)


FILES = {"report": "report.html", "netcdf": "samples.nc"}
"""Options for more files of a result, and their names; they change no other file."""

_OF_THE_BATCH = (
    "checkpoint", "checkpoint_every", "resume", "trace", "threads", "scheduler", "title", "highlight",
    "anndata", "multiqc", "out", "force", "json", "quiet", "verbose",
)  # fmt: skip

COLUMNS = tuple(name for name in OPTIONS if name not in _OF_THE_BATCH)
"""Options that each matrix of a batch may have; the others belong to the batch, or to single runs."""

_SAME_FILES = ("device", "encoding", "image", "slots", "stages")
"""Options that do not change the files of a result, but for times and devices."""

_PATHS = ("names", "tree", "labels")
"""Types of options whose files are read."""


class Task(NamedTuple):
    """The inference of one matrix.

    Attributes:
        name: name of the matrix, and of the folder of its results.
        matrix: path of the matrix; in Python any matrix of `infer`.
        options: its options, of which only `COLUMNS` are given.
        labels: names and texts of labels, such as a patient's stage, that the tables of the batch repeat.
    """

    name: str
    matrix: Any
    options: Options
    labels: tuple[tuple[str, str], ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the task as plain values, with the options that do not have their default."""
        values = {"name": self.name, "matrix": self.matrix, "options": given_of(self.options)}
        return {**values, "labels": dict(self.labels)} if self.labels else values

    @classmethod
    def of_dict(cls, values: ParsedJson) -> Task:
        """Return the task of plain values.

        Raises:
            OptionError: the name or an option is invalid.
            ValueError, TypeError, KeyError: these are no values of a task.
        """
        options = options_of_matrix(values["options"])
        check_options(options)
        labels = tuple((str(name), str(text)) for name, text in values.get("labels", {}).items())
        return cls(check_name(values["name"]), str(values["matrix"]), options, labels)


def options_of_matrix(values: Mapping[str, ParsedJson]) -> Options:
    """Return checked options of a matrix of a batch from values by name.

    Raises:
        OptionError: an option is not one of a batch, or has a bad value.
    """
    for name in values:
        if name not in COLUMNS:
            raise OptionError(f"{name} is no option of a matrix of a batch")
    return options_of({name: checked(name, value) for name, value in values.items()})


def check_options(options: Options) -> None:
    """Check that options of a matrix of a batch go together, as far as that needs no matrix.

    Raises:
        OptionError: an option does not go with another, or with the format of the matrix.
    """
    settled(options.replace(out="."))
    if is_given(options, "format"):
        names = [name for name in CODING if name != "format" and is_given(options, name)]
        format_for(options.format, names, evidence=options.evidence)
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
    read: dict[str, object] = {f"{what} beside the matrix": place for what, place in _companion_files(task)}
    for name in [name for name in decides if OPTIONS[name].type.name in _PATHS]:
        read[name] = decides.pop(name)
    contents = {name: _content_of(place) for name, place in {"matrix": task.matrix, **read}.items()}
    text = json.dumps([sorted(decides.items()), sorted(contents.items())])
    return hashlib.sha256(text.encode()).hexdigest()


def _companion_files(task: Task) -> Iterator[tuple[str, Path]]:
    """Yield the kind and the path of each name file beside the matrix."""
    for what in ("mutation", "cell"):
        place = name_file_of(Path(task.matrix), what)
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
