"""Names of the matrices of a batch, which are folders; and lists of matrices from paths."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import counted, shown

__all__ = ["INPUTS", "MATRICES", "check_name", "is_there", "matrices_of", "named", "stem_of"]

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
    missing = [one for one in given if not (is_there(one) or _MAGIC.search(one))]
    if missing:
        more = f" (nor {counted(len(missing) - 1, 'other input', 'other inputs')})" if missing[1:] else ""
        raise OptionError(f"there is no file or folder {missing[0]}{more}", hint=INPUTS)
    for one in given:
        path = Path(one)
        if not is_there(one):
            files = sorted(file for file in _matching(path) if file.is_file() and _may_be_matrix(file))
        elif path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file() and _may_be_matrix(file))
        else:
            files = [path]
        if not files:
            raise OptionError(f"there are no matrices in {one}", hint=INPUTS)
        found += files
    return list(dict.fromkeys(file.absolute() for file in found))


def is_there(path: str | os.PathLike[str]) -> bool:
    """Return whether a file or folder exists, as far as this process may see."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def _matching(pattern: Path) -> Iterator[Path]:
    """Yield the paths that match a pattern: its first parts without one are the folder to look in."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    return Path(*parts[:first]).glob("/".join(parts[first:]))


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
