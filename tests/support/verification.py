"""Tests that `make test` leaves to `make verify`: `tests/verification.md` lists them.

A row names tests by their file below `tests/`, function and parameters, in which ``*`` stands for any text.
Its last column names tests of `make test` that still show the same. `tests/test_support.py` fails where a row
names a test that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

__all__ = ["ERRORS", "TABLE", "Row", "errors_of", "leave_to_verify", "read_rows"]

TABLE = Path(__file__).resolve().parents[1] / "verification.md"

ERRORS = pytest.StashKey[list[str]]()
"""Errors of the table that the collection of tests showed, in the stash of the configuration."""


class Row(NamedTuple):
    """Tests that are left to `make verify`.

    Attributes:
        tests: their names, as patterns.
        showed: what they show.
        still: patterns of tests of `make test` that show it, too.
    """

    tests: tuple[str, ...]
    showed: str
    still: tuple[str, ...]


def read_rows(text: str) -> list[Row]:
    """Return the rows of all tables in a Markdown text."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 3:
            found.append(Row(_names(cells[0]), cells[1], _names(cells[2])))
    return found


def _names(cell: str) -> tuple[str, ...]:
    """Return the names of tests in a cell; those without a file are of the file before."""
    found: list[str] = []
    for name in re.findall(r"`([^`]+)`", cell):
        file, _, test = name.rpartition("::")
        found.append(f"{file or found[-1].partition('::')[0]}::{test}")
    return tuple(found)


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Return an expression for the names of a pattern; one without parameters stands for any of them."""
    text = ".*".join(map(re.escape, pattern.split("*")))
    return re.compile(text if pattern.endswith("]") else rf"{text}(\[.*\])?", re.DOTALL)


def errors_of(rows: Iterable[Row], left: Mapping[str, bool]) -> list[str]:
    """Return what is wrong with rows.

    Args:
        rows: rows of the table.
        left: names of all tests in the files that were collected, and whether each is left to `make verify`.
    """
    by_file: dict[str, list[str]] = {}
    for name in left:
        by_file.setdefault(name.partition("::")[0], []).append(name)
    errors = []
    for row in rows:
        for patterns, verified in ((row.tests, True), (row.still, False)):
            for pattern in patterns:
                names = by_file.get(pattern.partition("::")[0])
                fits = _expression(pattern).fullmatch
                if names and not any(left[name] == verified and fits(name) for name in names):
                    errors.append(f"{pattern}: no such test{'' if verified else ' in `make test`'}")
        if not row.still:
            errors.append(f"{row.tests[0]}: no test is named that still shows it")
    return errors


def leave_to_verify(items: Iterable[pytest.Item], root: Path) -> list[str]:
    """Mark the tests of the table, and return its errors, as far as the tests show them.

    Args:
        items: all tests of some files.
        root: folder of the tests.
    """
    rows = read_rows(TABLE.read_text(encoding="utf-8"))
    by_file: dict[str, list[re.Pattern[str]]] = {}
    for pattern in (pattern for row in rows for pattern in row.tests):
        by_file.setdefault(pattern.partition("::")[0], []).append(_expression(pattern))
    left: dict[str, bool] = {}
    for item in items:
        file = item.path.relative_to(root).as_posix()
        name = f"{file}::{item.nodeid.partition('::')[2]}"
        if any(one.fullmatch(name) for one in by_file.get(file, ())):
            item.add_marker("verification")
        left[name] = item.get_closest_marker("verification") is not None
    errors = errors_of(rows, left)
    named = {name.partition("::")[0] for row in rows for name in (*row.tests, *row.still)}
    return errors + [f"{file}: no such file" for file in sorted(named) if not (root / file).is_file()]
