"""Parser of SCITE's matrix format: fast for SCITE's symbols, slow for other symbols and to locate an error.

The format (Jahn, Kuipers, Beerenwinkel 2016) has one line per mutation and one column per cell, separated by
white space. The sizes n and m follow from the file.
"""

from __future__ import annotations

import logging
import os
import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.textfile import as_lf
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

__all__ = ["ALLOWED", "MEANING", "is_value", "values_of"]

logger = logging.getLogger("syclade.input")

ALLOWED = (0, 1, 2, 3)
MEANING = "0 (not observed), 1 (mutation), 2 (homozygous mutation) or 3 (missing)"

_VALUE, _BLANK, _NEWLINE, _OTHER = range(4)
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[[ord(char) for char in " \t\v\f"]] = _BLANK
_KIND[[ord(str(value)) for value in ALLOWED]] = _VALUE
_KIND[ord("\n")] = _NEWLINE

# Not \S: no-break spaces and similar characters do not separate values.
_FIELD = re.compile(r"[^ \t\v\f]+")
_SYMBOLS = frozenset(str(value) for value in ALLOWED)
_MISSING = ("-1", "NA", "NaN", "N/A", "#N/A", "<NA>", "None", "NULL", "-", ".", "?")
"""Symbols of other programs for missing values; their case is ignored."""

_THREES = re.compile(
    rb"(?<![^ \t\v\f\n])(?:%s)(?![^ \t\v\f\n])" % "|".join(map(re.escape, _MISSING)).encode(), re.IGNORECASE
)


def values_of(data: bytes, path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """Return the values of a matrix file.

    Args:
        data: the content of the file.
        path: the file, for messages.

    Returns:
        uint8, shape (n_mutations, n_cells), C-contiguous; entries 0, 1, 2 or 3.

    Raises:
        MatrixError: the first error in the file, with line and column.
    """
    text = as_lf(data, path, MatrixError).rstrip()
    if not text:
        raise MatrixError(
            "the file is empty", path=path, hint="write one line per mutation and one column per cell"
        )
    values = _parse(text)
    if values is None:
        values = _parse(_with_threes(text, path))
    if values is None:
        _explain(text, path)
    return values


def _with_threes(text: bytes, path: str | os.PathLike[str]) -> bytes:
    """Return the text with 3 for other symbols of missing values, and log their number."""
    found: dict[str, int] = {}

    def three(match: re.Match[bytes]) -> bytes:
        symbol = match.group().decode()
        found[symbol] = found.get(symbol, 0) + 1
        return b"3"

    text = _THREES.sub(three, text)
    if found:
        counts = ", ".join(f"{count} of {symbol}" for symbol, count in found.items())
        logger.info("%s: read as missing: %s", path, counts)
    return text


def _parse(text: bytes) -> NDArray[np.uint8] | None:
    """Return the values, or None if the text has any error."""
    codes = np.frombuffer(text, np.uint8)
    kinds = _KIND[codes]
    if (kinds == _OTHER).any():
        return None
    is_value = kinds == _VALUE
    if (is_value[1:] & is_value[:-1]).any():  # two digits without a separator
        return None
    ends = np.append(np.flatnonzero(kinds == _NEWLINE), codes.size - 1)
    per_line = np.diff(np.cumsum(is_value)[ends], prepend=0)
    if (per_line != per_line[0]).any() or per_line[0] == 0:
        return None
    return np.ascontiguousarray(codes[is_value] - ord("0")).reshape(ends.size, -1)


def _explain(text: bytes, path: str | os.PathLike[str]) -> NoReturn:
    """Raise the first error in the file."""
    expected = None
    for number, raw in enumerate(text.split(b"\n"), 1):
        line = raw.decode("utf-8", "replace")
        fields = _FIELD.findall(line)
        if not fields:
            raise MatrixError("blank line between rows", path=path, line=number, hint="delete the line")
        if not all(map(is_value, fields)):
            _refuse_symbol(line, number, path)
        if expected is None:
            expected = len(fields)
        if len(fields) != expected:
            _refuse_length(line, number, expected, path)
    raise AssertionError("a matrix file was refused without a reason")


def is_value(field: str) -> bool:
    """Return whether a field is a value, or a symbol of a missing one."""
    return field in _SYMBOLS or _THREES.fullmatch(field.encode()) is not None


def _refuse_symbol(line: str, number: int, path: str | os.PathLike[str]) -> NoReturn:
    """Raise MatrixError for the first symbol of a line that is not a value."""
    fields = enumerate(_FIELD.finditer(line), 1)
    cell, match = next((cell, match) for cell, match in fields if not is_value(match.group()))
    symbol = match.group()
    shown = symbol if len(symbol) <= 20 else symbol[:17] + "..."
    raise MatrixError(
        f"{shown!r} (row {number}, cell {cell}) is not 0, 1, 2 or 3",
        path=path,
        line=number,
        column=match.start() + 1,
        hint=_symbol_hint(symbol, number, cell),
    )


def _symbol_hint(symbol: str, row: int, cell: int) -> str:
    """Return a hint for an invalid symbol at a row and cell, from 1."""
    if cell == 1 and symbol in (str(row), str(row - 1)):
        return f"if each line begins with its number, as in SiFit's files, give {flag_of('format', 'sifit')}"
    if "," in symbol or ";" in symbol:
        return "values are separated by blanks or tabs: replace the commas or semicolons by blanks"
    if re.fullmatch(r"[+-]?\d+\.\d*", symbol):
        return f"values are written as whole numbers: {MEANING}"
    if re.fullmatch(r"[0123\s]+", symbol):
        return "values are separated by blanks or tabs"
    if (row == 1 or cell == 1) and not re.fullmatch(r"[+-]?[\d.]+", symbol):
        return (
            "SCITE's format has no header and no row names: for a table with names, give "
            f"{flag_of('format', 'tsv')} {flag_of('rows', 'cells')}, or {flag_of('rows', 'mutations')}"
        )
    return f"values are {MEANING}"


def _refuse_length(line: str, number: int, expected: int, path: str | os.PathLike[str]) -> NoReturn:
    """Raise MatrixError for a row with more or fewer values than the first."""
    starts = [match.start() + 1 for match in _FIELD.finditer(line)]
    found = len(starts)
    column = starts[expected] if found > expected else len(line.rstrip()) + 1
    raise MatrixError(
        f"row {number} has {found} values, but the first row has {expected}",
        path=path,
        line=number,
        column=column,
        hint="every row needs one value for each cell; a missing value is written 3",
    )
