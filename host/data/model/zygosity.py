"""Heterozygous and homozygous mutations: probabilities of the four observed values, and where 2 may occur.

Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016 (SCITE's table; its options
are ``-fd``, ``-ad`` with two values, and ``-cc``).
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import Rates

__all__ = [
    "HOMOZYGOUS",
    "MISSING",
    "Columns",
    "check_zygosity",
    "distinct_columns",
    "log_absent",
    "log_present",
    "log_table",
    "scored_values",
]

Column = tuple[float, float, float, float]
"""A number for each observed value."""

HOMOZYGOUS, MISSING = 2, 3
"""Observed values. 0 means that no mutation was observed, 1 that one was (heterozygous, where 2 occurs)."""


def log_table(rates: Rates) -> NDArray[np.float64]:
    """Return log P(observed d | true e), natural logarithm.

    Args:
        rates: error rates. Without rates for zygosity, 2 is uninformative; if merged, it counts as 1.

    Returns:
        float64, shape (4, 2): row d, column e (1 where the cell has the mutation).
    """
    merged = rates.merge_homozygous
    absent = log_absent(rates.fp_rate, rates.hom_rate, merged)
    present = log_present(rates.fn_rate, rates.fn_rate_hom, merged)
    return np.column_stack((absent, present))


def log_absent(fp_rate: float, hom_rate: float | None, merged: bool) -> Column:
    """Return the column of `log_table` for cells without the mutation, by the values of `Rates`."""
    if hom_rate is None:
        observed = math.log(fp_rate)
        return math.log1p(-fp_rate), observed, observed if merged else 0.0, 0.0
    return math.log1p(-(hom_rate + fp_rate)), math.log(fp_rate), math.log(hom_rate), 0.0


def log_present(fn_rate: float, fn_rate_hom: float | None, merged: bool) -> Column:
    """Return the column of `log_table` for cells with the mutation, by the values of `Rates`."""
    if fn_rate_hom is None:
        observed = math.log1p(-fn_rate)
        return math.log(fn_rate), observed, observed if merged else 0.0, 0.0
    return math.log(fn_rate), math.log1p(-(fn_rate + fn_rate_hom)), math.log(fn_rate_hom), 0.0


def scored_values(matrix: Matrix, rates: Rates) -> NDArray[np.uint8]:
    """Return the observed values as they are scored: 2 becomes 1 if the rates merge them.

    Returns:
        uint8, shape (n_mutations, n_cells).

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    check_zygosity(matrix, rates)
    if rates.merge_homozygous:
        return np.where(matrix.values == HOMOZYGOUS, np.uint8(1), matrix.values)
    return matrix.values


class Columns(NamedTuple):
    """Distinct columns of a matrix, as they are scored; the arrays are read-only.

    Attributes:
        values: uint8, shape (n_mutations, columns).
        column_of: int32, shape (cells,): the distinct column of each cell.
        multiplicity: int64, shape (columns,): number of cells with each column.
    """

    values: NDArray[np.uint8]
    column_of: NDArray[np.int32]
    multiplicity: NDArray[np.int64]


_COLUMNS: WeakKeyDictionary[Matrix, dict[bool, Columns]] = WeakKeyDictionary()
"""Distinct columns of matrices in use, without and with merged homozygous mutations: many parts of a run need
them, and sorting the columns of a large matrix takes long."""


def distinct_columns(matrix: Matrix, rates: Rates) -> Columns:
    """Return the distinct columns of `scored_values`.

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    check_zygosity(matrix, rates)
    known = _COLUMNS.setdefault(matrix, {})
    if rates.merge_homozygous not in known:
        values, column_of, multiplicity = np.unique(
            scored_values(matrix, rates), axis=1, return_inverse=True, return_counts=True
        )
        # The inverse is two-dimensional in numpy 2.0.
        found = Columns(values, column_of.reshape(-1).astype(np.int32), multiplicity.astype(np.int64))
        for array in found:
            array.setflags(write=False)
        known[rates.merge_homozygous] = found
    return known[rates.merge_homozygous]


def check_zygosity(matrix: Matrix, rates: Rates) -> None:
    """Check that the rates define what a 2 means, if there is one.

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    if rates.fn_rate_hom is None and not rates.merge_homozygous:
        _refuse_homozygous(matrix.values, matrix.source if matrix.file_sha256 else None)


def _refuse_homozygous(values: NDArray[np.uint8], path: str | os.PathLike[str] | None) -> None:
    """Raise a MatrixError for the first 2, in row order; do nothing if there is none.

    Args:
        values: uint8, shape (n_mutations, n_cells).
        path: the file, in which row r is line r + 1; None for an array.
    """
    found = values == HOMOZYGOUS
    if not found.any():
        return
    row, cell = divmod(int(found.argmax()), values.shape[1])
    where = f"array[{row}, {cell}]" if path is None else f"row {row + 1}, cell {cell + 1}"
    raise MatrixError(
        f"{where} is 2, a homozygous mutation ({int(found.sum())} in all), and there are no rates for it",
        path=path,
        line=None if path is None else row + 1,
        hint=f"give the rates of homozygous observations ({flag_of('fn_rate_hom')}, SCITE's second -ad, with "
        f"{flag_of('hom_rate')}, its -cc), or treat 2 as 1 ({flag_of('merge_homozygous')})",
    )
