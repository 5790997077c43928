"""Signs in a matrix of a wrong input: rows that are cells, and mutations that nearly all cells have."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import numpy as np

from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.values import counted, listed

__all__ = ["warn_of_suspects"]

logger = logging.getLogger("syclade.input")

_MISSING = 3
_IN_NEARLY_ALL, _FEWEST_CELLS = 0.95, 20
"""Part of the cells with a value, of at least so many, from which a variant may be a germline one."""

_MANY, _MOST_CELLS = 10, 100
"""Mutations for each cell from which rows may be cells, and the number of cells from which they are not."""

_BARCODE = re.compile(r"(?:.*[^A-Za-z])?[ACGT]{8,}(?:[-_.]\w{1,8})?|cell[-_. ]?\d+", re.IGNORECASE)
_VARIANT = re.compile(r"(?:chr)?[0-9XYM]{1,2}[:_]\d+\b.*|.*\b[pc]\.[A-Z*_\d].*", re.IGNORECASE)
_FEWEST_NAMES = 3


def warn_of_suspects(matrix: Matrix) -> None:
    """Warn if rows and columns seem to be exchanged, or if nearly all cells have some of the mutations."""
    if (
        not _warn_of_names(matrix)
        and _MANY * matrix.n_cells <= matrix.n_mutations
        and (2 <= matrix.n_cells < _MOST_CELLS)
    ):
        logger.info(
            "%s: %s mutations of %s cells: if its rows are cells, rows and columns are exchanged",
            matrix.source, matrix.n_mutations, matrix.n_cells,
        )  # fmt: skip
    _warn_of_common(matrix)


def _warn_of_names(matrix: Matrix) -> bool:
    """Return whether names of rows look like cells, or names of columns like mutations, and warn of it."""
    rows = _share_of(_BARCODE, matrix.mutations) > 0.5
    columns = _share_of(_VARIANT, matrix.cells or ()) > 0.5
    if rows or columns:
        name = matrix.mutations[0] if rows else (matrix.cells or ("",))[0]
        logger.warning(
            "%s: rows and columns may be exchanged: %s looks like the name of a %s, and is read as one of "
            "the %s",
            matrix.source, name, *(("cell", "mutations") if rows else ("mutation", "cells")),
        )  # fmt: skip
    return rows or columns


def _share_of(pattern: re.Pattern[str], names: Sequence[str]) -> float:
    """Return the part of some names that have a form; 0 of too few."""
    if len(names) < _FEWEST_NAMES:
        return 0.0
    return sum(pattern.fullmatch(name) is not None for name in names) / len(names)


def _warn_of_common(matrix: Matrix) -> None:
    """Warn of mutations that are seen in nearly all cells with a value."""
    known = (matrix.values != _MISSING).sum(axis=1)
    seen = ((matrix.values == 1) | (matrix.values == 2)).sum(axis=1)
    rows = np.flatnonzero((known >= _FEWEST_CELLS) & (seen >= _IN_NEARLY_ALL * known)).tolist()
    if rows:
        logger.warning(
            "%s seen in at least %.0f %% of the cells with a value (%s): germline variants are in all cells, "
            "also normal ones, and make no clones: leave those out; in a sample without normal cells they "
            "may be the first mutations of the tumour",
            counted(len(rows), "mutation is", "mutations are"),
            100 * _IN_NEARLY_ALL,
            listed([f"{matrix.mutations[row]} {seen[row] / known[row]:.1%}" for row in rows]),
        )
