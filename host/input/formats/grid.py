"""What all readers share: symbols become values, and rows that are cells become columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.errors import MatrixError
from syclade.host.input.textfile import excerpt

__all__ = ["MISSING", "PLAIN", "Asked", "Grid", "code", "refuse_two", "with_two"]

PLAIN = {"0": 0, "1": 1, "2": 2, "3": 3, "0.0": 0, "1.0": 1, "2.0": 2, "3.0": 3}
MISSING = dict.fromkeys(("-1", "-1.0", "?", "", "NA", "NaN", "nan", "."), 3)


@dataclass(frozen=True)
class Asked:
    """What only the user can say of a file.

    Attributes:
        two: what 2 means, "homozygous" or "missing"; None if it was not said.
        rows: what rows are, "cells" or "mutations"; None if it was not said.
        min_depth: how many reads a call needs, else it is missing; None if it was not said.
        min_gq: the quality (GQ) that a call needs, else it is missing; None takes all.
        vaf_ref: per cent of alternate reads that a wild type may have at most, else it is missing; None: all.
        vaf_het: per cent that a heterozygous call needs; None takes all.
        vaf_hom: per cent that a homozygous call needs; of cellsnp, from which on a call is one.
        layer: of a file with several tables; None takes the first, X.
        coding: what a layer's numbers are, "scite" or "cyvcf2"; None if it was not said.
    """

    two: str | None = None
    rows: str | None = None
    min_depth: int | None = None
    min_gq: int | None = None
    vaf_ref: float | None = None
    vaf_het: float | None = None
    vaf_hom: float | None = None
    layer: str | None = None
    coding: str | None = None


@dataclass(frozen=True)
class Grid:
    """What a file has.

    Attributes:
        values: uint8, shape (n_mutations, n_cells), C-contiguous; 0, 1, 2 or 3.
        mutations: names of the rows; None if the file has none.
        cells: names of the columns; None if the file has none.
    """

    values: NDArray[np.uint8]
    mutations: tuple[str, ...] | None = None
    cells: tuple[str, ...] | None = None


def code(
    rows: Sequence[Sequence[str]], symbols: Mapping[str, int], lines: Sequence[int], path: str
) -> NDArray[np.uint8]:
    """The values of symbols.

    Args:
        rows: the symbols of each row, as they stand in the file.
        symbols: what each of them means.
        lines: the line of each row, from 1.
        path: the file, for messages.

    Returns:
        uint8, shape (rows, symbols of a row).

    Raises:
        MatrixError: no rows, rows of different lengths, or another symbol, with the line.
    """
    if not rows or not rows[0]:
        raise MatrixError("the file has no values", path=path)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise MatrixError(
                f"the row has {len(row)} values, but the first has {len(rows[0])}", path=path, line=line
            )
        for number, symbol in enumerate(row, 1):
            if symbol.strip() not in symbols:
                raise MatrixError(
                    f"{excerpt(symbol)} (value {number} of the row) is no value of this format",
                    path=path,
                    line=line,
                    hint=f"values are {', '.join(name for name in symbols if name)}",
                )
    return np.array([[symbols[symbol.strip()] for symbol in row] for row in rows], np.uint8)


def with_two(values: NDArray[np.uint8], asked: Asked, path: str, hint: str = "") -> NDArray[np.uint8]:
    """The values, 2 as it was said to be meant; the hint is what else it may be.

    Raises:
        MatrixError: 2 occurs, and nothing was said.
    """
    if asked.two == "missing":
        return np.where(values == 2, np.uint8(3), values)
    if asked.two is None and (values == 2).any():
        raise MatrixError(
            "2 occurs, which may be homozygous or missing",
            path=path,
            hint=f"say which: --two homozygous or --two missing{hint}",
        )
    return values


def refuse_two(asked: Asked, rows: str, path: str) -> None:
    """For formats that say themselves what 2 and rows are.

    Raises:
        MatrixError: the user said something of 2, or that rows are not these.
    """
    if asked.two is not None:
        raise MatrixError("this format says itself what 2 is", path=path, hint="leave out --two")
    if asked.rows not in (None, rows):
        raise MatrixError(f"rows are {rows} in this format", path=path, hint="leave out --rows")
