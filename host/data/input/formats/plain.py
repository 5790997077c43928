"""Formats of values between blanks: SCITE's, SiFit's, SASC's, SPhyR's, and ScisTree2's probabilities."""

from __future__ import annotations

import re

import numpy as np

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
from syclade.host.data.input.reader import values_of
from syclade.host.data.input.textfile import excerpt, lines_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

__all__ = ["read_sasc", "read_scistree", "read_scite", "read_sifit", "read_sphyr"]


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
