"""Names of mutations and cells: one per line of a file, in the order of the matrix, or made.

Beside a matrix `x.csv` in SCITE's format, `x.geneNames` and `x.cellNames` have its names.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import logging
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from syclade.host.data.input.source import read_text
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.values import excerpt, shown

__all__ = [
    "IF_PRESENT",
    "check_names",
    "chosen_mutations",
    "default_names",
    "distinct_names",
    "listed_names",
    "match_names",
    "name_file_of",
    "names_of_list",
    "near_names",
    "read_name_file",
    "read_names",
    "split_if_present",
]


IF_PRESENT = "if-present:"
"""Beginning of a list of names of mutations of which a matrix need not have all."""

MOST_CHARACTERS = 1000
"""Maximum length of a name: longer ones are mistakes, and table programs cannot read them."""

_MATRIX_ROW = re.compile(r"[0123]( +[0123])+")


def listed_names(text: str) -> tuple[str, ...]:
    """Return names separated by commas; a name with a comma is in double quotes, as in CSV."""
    rows = csv.reader([text], skipinitialspace=True)
    return tuple(name for row in rows for name in row if name)


def split_if_present(text: str) -> tuple[str, str]:
    """Return `IF_PRESENT` and the rest of a list of names that begins with it; else "" and the list."""
    prefix = IF_PRESENT if text.startswith(IF_PRESENT) else ""
    return prefix, text.removeprefix(prefix)


def names_of_list(value: str | os.PathLike[str] | Sequence[str], flag: str) -> tuple[str, ...]:
    """Return the names of an option of the type `list`.

    Args:
        value: names with commas between; `@` and the path of a file with one name per line, both perhaps
            after `IF_PRESENT`; or the names.
        flag: the option, for messages.

    Raises:
        OptionError: there is no name, or the value is no list of names.
        MatrixError: the file cannot be read, or has no names.
    """
    if isinstance(value, str):
        _, text = split_if_present(value)
        names = read_names(text[1:]) if text.startswith("@") else listed_names(text)
    elif isinstance(value, Sequence) and all(isinstance(name, str) for name in value):
        names = tuple(value)
    else:
        raise OptionError(f"{flag} is {shown(value)}", hint="give names of mutations, or @FILE")
    if not names:
        raise OptionError(f"{flag} has no names", hint="give names with commas between, or @FILE")
    return names


def chosen_mutations(names: Sequence[str], mutations: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the mutations that a user names, and the names that none has.

    A name that no mutation has is a gene if names of mutations begin with it and a blank, or a hyphen, as in
    "FLT3 p.D835Y" and "FLT3-ITD".
    """
    found: dict[str, None] = {}
    unknown = []
    for name in names:
        own = [name] if name in mutations else [one for one in mutations if _is_of_gene(one, name)]
        found |= dict.fromkeys(own)
        unknown += [] if own else [name]
    return list(found), unknown


def _is_of_gene(mutation: str, gene: str) -> bool:
    after = mutation.removeprefix(gene)
    return mutation.startswith(gene) and (after[:1].isspace() or after.startswith("-"))


def near_names(name: str, mutations: Sequence[str]) -> list[str]:
    """Return the mutations that a wrong name may mean: their names contain it, or are spelt like it."""
    return [one for one in mutations if name.lower() in one.lower()] or difflib.get_close_matches(
        name, mutations
    )


def default_names(n_mutations: int) -> tuple[str, ...]:
    """Return ``"1"`` to ``"n"``, SCITE's names for mutations without names."""
    return tuple(str(number) for number in range(1, n_mutations + 1))


def read_names(path: str | os.PathLike[str], what: str = "mutation") -> tuple[str, ...]:
    """Read the names of the mutations or cells, one per line (SCITE's ``.geneNames``).

    White space around a name is removed; blanks, commas and other characters inside are part of the name.

    Raises:
        MatrixError: unreadable or empty file, blank line before the last name, tabs between columns, a
            matrix instead of names, duplicate or otherwise invalid names.
    """
    lines = read_text(path, MatrixError).rstrip().split("\n")
    if lines == [""]:
        raise MatrixError("the file is empty", path=path, hint="write one name per line")
    _refuse_others(lines, path, what)
    names = tuple(line.strip() for line in lines)
    check_names(names, path, what)
    return names


def check_names(
    names: Sequence[str], path: str | os.PathLike[str] | None = None, what: str = "mutation"
) -> None:
    """Check that names are distinct, not empty, at most MOST_CHARACTERS long, and fit on one line.

    Args:
        names: the names; the i-th is in line i of ``path``.
        path: the file of the names, or None.
        what: what they are names of: "mutation" or "cell".

    Raises:
        MatrixError: names the first invalid name, and its line if there is a path, else its number.
    """
    seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        problem = _problem(name)
        if problem is not None and path is None:
            problem = f"{what} {number}: {problem}"
        if problem is None and name in seen:
            problem = f"the name {excerpt(name)} occurs twice, for {what}s {seen[name]} and {number}"
        if problem is not None:
            line = None if path is None else number
            raise MatrixError(
                problem, path=path, line=line, hint=f"each {what} needs a name of its own, on one line"
            )
        seen[name] = number


def distinct_names(names: Sequence[str], details: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Add a detail to each name that occurs more than once, such as position and alleles.

    Args:
        names: the names.
        details: what to add to each name; empty for nothing. May have no elements.

    Returns:
        The names, which may still be equal where the details are; and a note that says so if any has changed.
    """
    counts = Counter(names)
    changed = [
        f"{name} {detail}" if counts[name] > 1 and detail else name
        for name, detail in itertools.zip_longest(names, details, fillvalue="")
    ]
    pairs = [(name, new) for name, new in zip(names, changed, strict=True) if name != new]
    if not pairs:
        return changed, ()
    old, new = (excerpt(name, 120) for name in pairs[0])
    note = f"{len(pairs)} mutations share names with others and are renamed, such as {old} to {new}"
    return changed, (note,)


def match_names(
    names: Sequence[str],
    n_mutations: int,
    n_cells: int,
    path: str | os.PathLike[str] | None = None,
    what: str = "mutation",
) -> None:
    """Check that there is one name per row of the matrix, or per column for names of cells.

    Raises:
        MatrixError: the numbers differ; with a hint if the matrix looks transposed.
    """
    wanted, other, line, across = (n_mutations, n_cells, "row", "columns")
    if what == "cell":
        wanted, other, line, across = (n_cells, n_mutations, "column", "rows")
    if len(names) == wanted:
        return
    if len(names) == other:
        hint = (
            f"there are as many names as {across}: the matrix looks transposed; "
            "rows must be mutations and columns cells"
        )
    else:
        hint = f"give one name for each {line} of the matrix, one per line"
    called = "names" if what == "mutation" else "names of cells"
    raise MatrixError(
        f"{len(names)} {called} for a matrix of {n_mutations} mutations (rows) and {n_cells} cells (columns)",
        path=path,
        hint=hint,
    )


def _problem(name: str) -> str | None:
    """Return why a name is invalid, or None."""
    if not isinstance(name, str):
        return f"the name {shown(name)} is not a text"
    if not name.strip():
        return "a name is empty"
    if name != name.strip():
        return f"the name {excerpt(name)} begins or ends with a blank"
    if len(name) > MOST_CHARACTERS:
        return f"the name {excerpt(name)} has {len(name)} characters, more than {MOST_CHARACTERS}"
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name):
        return f"the name {excerpt(name)} contains a control character or a line end"
    return None


def _refuse_others(lines: list[str], path: str | os.PathLike[str], what: str) -> None:
    """Raise MatrixError for a table with tabs between its columns, or a matrix."""
    for number, line in enumerate(lines, 1):
        if "\t" in line.strip():
            column = line.index("\t", len(line) - len(line.lstrip())) + 1
            hint = "delete the other columns, and write one name per line"
            raise MatrixError("several columns of names", path=path, line=number, column=column, hint=hint)
    if all(_MATRIX_ROW.fullmatch(line.strip()) for line in lines):
        raise MatrixError(
            "this looks like a matrix, not like names",
            path=path,
            line=1,
            hint=f"the names of the {what}s belong in a separate file, one per line",
        )


logger = logging.getLogger("syclade.input")

_ENDINGS = {"mutation": ".geneNames", "cell": ".cellNames"}


def read_name_file(path: Path, shape: tuple[int, ...], what: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the name file beside a matrix and its names, and log that they are used.

    A file whose names do not fit the matrix is ignored with a warning.

    Args:
        path: path of the matrix; it may end in `.gz`.
        shape: number of rows and columns of the matrix.
        what: "mutation" or "cell".

    Returns:
        The path of the file and the names; None if there is no usable file.
    """
    found = name_file_of(path, what)
    if found is None:
        return None
    try:
        names = read_names(found, what)
        match_names(names, shape[0], shape[1], found, what)
    except MatrixError as error:
        logger.warning("%s: %s; the %ss are numbered", error.location(), error.message, what)
        return None
    logger.info("names of the %ss: %s", what, found)
    return str(found), names


def name_file_of(path: Path, what: str) -> Path | None:
    """Return the name file beside a matrix; None if there is none.

    If the matrix is a symbolic link without one, it is that beside its target.

    Args:
        path, what: as for `read_name_file`.
    """
    try:
        targets = [path.resolve()] if path.is_symlink() else []
        for one in (path, *targets):
            stem = one.with_suffix("") if one.suffix == ".gz" else one
            place = stem.with_suffix(_ENDINGS[what])
            if place != one and place.is_file():
                return place
    except (OSError, RuntimeError, ValueError):  # such as a name that is too long, or none
        return None
    return None
