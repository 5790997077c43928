"""Formats of values between blanks: SCITE's, SiFit's, SASC's, SPhyR's, and ScisTree2's probabilities.

The parser of SCITE's format is fast for SCITE's symbols, and slow for other symbols and to locate an error.
"""

from __future__ import annotations

import logging
import os
import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import (
    MISSING,
    PLAIN,
    Grid,
    ReadOptions,
    code,
    named_grid,
    of_sasc,
    refuse_rows,
    refuse_two,
    with_two,
)
from syclade.host.data.input.formats.likelihoods import likely_grid, odds_of
from syclade.host.data.input.matrix import ALLOWED, MEANING
from syclade.host.data.input.source import as_lf, lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = ["is_value", "read_sasc", "read_scistree", "read_scite", "read_sifit", "read_sphyr", "values_of"]


def read_scite(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read the format of SCITE (Jahn, Kuipers, Beerenwinkel 2016) and BnpC: rows are mutations; 0, 1, 2, 3.

    Raises:
        MatrixError: an error in the file, with line and column; 2 occurs, and `two` is not given; `rows` is
            "cells".
    """
    values = values_of(data, path)  # the first to fail: other formats are read so, too, if none fits
    refuse_rows(options, "mutations", path)
    return Grid(with_two(values, options, path, f"; {of_sasc()}"))


def read_sasc(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read SASC's format (Ciccolella et al. 2021): rows are cells; 0, 1, and 2 for missing.

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(options, "cells", path)
    if options.two == "homozygous":
        raise MatrixError(
            "2 is missing in this format, not homozygous", path=path, hint=f"{flag_of('two')} missing"
        )
    lines = lines_of(data, path)
    symbols = {"0": 0, "1": 1, "2": 3}
    values = code([line.split() for line in lines], symbols, range(1, len(lines) + 1), path)
    return Grid(np.ascontiguousarray(values.T))


def read_sifit(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read SiFit's format (Zafar et al. 2017): rows are mutations, each behind its number; 2 is homozygous.

    Raises:
        MatrixError: an error in the file, with the line; an option contradicts the format.
    """
    refuse_rows(options, "mutations", path)
    if options.two == "missing":
        raise MatrixError(
            "2 is homozygous in this format, not missing", path=path, hint=f"{flag_of('two')} homozygous"
        )
    rows = [line.split() for line in lines_of(data, path)]
    numbers = [row[0] if row else "" for row in rows]
    values = code([row[1:] for row in rows], PLAIN | MISSING, range(1, len(rows) + 1), path)
    return named_grid(values, numbers, ())


def read_sphyr(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read SPhyR's format (El-Kebir 2018): two lines of sizes, then cells; 0, 1, -1 for missing.

    The sizes are "n #cells" and "m #SNVs", or plain numbers, as ConDoR writes them.

    Raises:
        MatrixError: an error in the file, with the line; the sizes differ from those of the rows.
    """
    refuse_rows(options, "cells", path)
    lines = lines_of(data, path)
    sizes = []
    for number, what in enumerate(("cells", "SNVs")):
        line = lines[number] if number < len(lines) else ""
        match = re.fullmatch(rf"\s*([0-9]{{1,9}})\s*(?:#\s*{what}\s*)?", line)
        if match is None:
            raise MatrixError(
                f"the line is not a number of {what}",
                path=path,
                line=number + 1,
                hint="SPhyR's files begin with 'n #cells' and 'm #SNVs', or with n and m",
            )
        sizes.append(int(match[1]))
    symbols = {"0": PLAIN["0"], "1": PLAIN["1"], "-1": 3}
    values = code([line.split() for line in lines[2:]], symbols, range(3, len(lines) + 1), path)
    if values.shape != tuple(sizes):
        raise MatrixError(
            f"{values.shape[0]} rows of {values.shape[1]} values, but the first lines give "
            f"{sizes[0]} cells and {sizes[1]} mutations",
            path=path,
            hint="rows are cells in this format" if values.shape == tuple(sizes[::-1]) else None,
        )
    return Grid(np.ascontiguousarray(values.T))


_PROBABILITY = re.compile(r"[0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,3})?|[0-9]+\.")


def read_scistree(data: bytes, path: str, options: ReadOptions) -> Grid:
    """Read ScisTree2's HAPLOID format (Zhang et al. 2025).

    Rows are mutations; an entry is the probability that a cell does not have the mutation. Below 0.5 the
    call is 1, above it 0; exactly 0.5 carries no information and is missing.

    Raises:
        MatrixError: an error in the file, with the line.
    """
    refuse_two(options, "mutations", path)
    lines = lines_of(data, path)
    head = lines[0].split()
    sizes = [int(size) for size in head[1:3] if re.fullmatch("[0-9]{1,9}", size)]
    if head[:1] != ["HAPLOID"] or len(sizes) != 2:
        raise MatrixError(
            "the line is not 'HAPLOID mutations cells'",
            path=path,
            line=1,
            hint="only HAPLOID data can be read",
        )
    rows = [line.split() for line in lines[1:]]
    cells = head[3:]
    named = bool(rows) and len(rows[0]) == sizes[1] + 1
    if len(rows) != sizes[0] or (cells and len(cells) != sizes[1]):
        raise MatrixError(
            f"{len(rows)} rows and {len(cells)} names of cells, "
            f"but the first line gives {sizes[0]} and {sizes[1]}",
            path=path,
        )
    wild = [_probabilities(row[named:], sizes[1], path, number) for number, row in enumerate(rows, 2)]
    if not rows or not sizes[1]:
        raise MatrixError("the file has no values", path=path)
    names = [row[0] for row in rows] if named else []
    return likely_grid(odds_of(1.0 - np.array(wild), np.array(wild)), names, cells, options)


def _probabilities(row: list[str], size: int, path: str, line: int) -> list[float]:
    """Return the probabilities of the wild type in a row."""
    if len(row) != size:
        raise MatrixError(f"the row has {len(row)} values, not {size}", path=path, line=line)
    for symbol in row:
        if not _PROBABILITY.fullmatch(symbol) or float(symbol) > 1:
            raise MatrixError(f"{excerpt(symbol)} is not a probability", path=path, line=line)
    return [float(symbol) for symbol in row]


logger = logging.getLogger("syclade.input")

_VALUE, _BLANK, _NEWLINE, _OTHER = range(4)
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[[ord(char) for char in " \t\v\f"]] = _BLANK
_KIND[[ord(str(value)) for value in ALLOWED]] = _VALUE
_KIND[ord("\n")] = _NEWLINE

_BLOCK_BYTES = 2**18
"""Bytes that are read at once, which fit into the cache of a processor."""

# Not \S: no-break spaces and similar characters do not separate values.
_FIELD = re.compile(r"[^ \t\v\f]+")
_SYMBOLS = frozenset(str(value) for value in ALLOWED)
_ABSENT = ("-1", "NA", "NaN", "N/A", "#N/A", "<NA>", "None", "NULL", "-", ".", "?")
"""Symbols of other programs for missing values; their case is ignored."""

_THREES = re.compile(
    rb"(?<![^ \t\v\f\n])(?:%s)(?![^ \t\v\f\n])" % "|".join(map(re.escape, _ABSENT)).encode(), re.IGNORECASE
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
    values = _parse_even(text)
    if values is not None:
        return values
    codes = np.frombuffer(text, np.uint8)
    kinds = _KIND[codes]
    if (kinds == _OTHER).any():
        return None
    is_value = kinds == _VALUE
    if (is_value[1:] & is_value[:-1]).any():  # two digits without a separator
        return None
    ends = np.append(np.flatnonzero(kinds == _NEWLINE), codes.size - 1)
    per_line = np.diff(np.searchsorted(np.flatnonzero(is_value), ends, "right"), prepend=0)
    if (per_line != per_line[0]).any() or per_line[0] == 0:
        return None
    return np.ascontiguousarray(codes[is_value] - ord("0")).reshape(ends.size, -1)


def _parse_even(text: bytes) -> NDArray[np.uint8] | None:
    """Return the values if all are separated by one blank, or all by one tab, and lines are of equal length.

    Most files are so, and each of their values is two bytes.
    """
    length = text.find(b"\n") + 1 or len(text) + 1
    rows, rest = divmod(len(text) + 1, length)
    separator = text[1:2]
    if length % 2 or rest or separator not in (b" ", b"\t", b"\n", b""):
        return None
    ends = np.full(length // 2, ord(separator or b" ") << 8 | ord("0"), "<u2")  # what 0 is, at each place
    ends[-1] = ord("\n") << 8 | ord("0")
    values = np.empty((rows, length // 2), np.uint8)
    block = max(1, _BLOCK_BYTES // length)
    for first in range(0, rows, block):
        part = text[first * length : (first + block) * length]
        part = part if len(part) % 2 == 0 else part + b"\n"  # the last line has no end
        numbers = np.frombuffer(part, "<u2").reshape(-1, length // 2) ^ ends
        if numbers.max() > max(ALLOWED):
            return None
        values[first : first + block] = numbers
    return values


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
