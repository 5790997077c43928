"""Matrices from arrays of numbers, pandas DataFrames and AnnData, without importing either library."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.formats.grid import ReadOptions
from syclade.host.data.input.formats.h5ad import CODINGS, check_x, expression_hint, refuse_together
from syclade.host.data.input.formats.hdf import PLACE
from syclade.host.data.input.formats.likelihoods import calls_of, check_coding, odds_of_numbers
from syclade.host.data.input.formats.reads import SHARES, Called, called, refuse_reads
from syclade.host.data.input.matrix import ALLOWED, MEANING, Marks, Matrix, values_from_array
from syclade.host.data.input.names import check_names, default_names, distinct_names
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import Array, counted, listed, on_host

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import DataFrame

__all__ = ["OF_ARRAYS", "is_anndata", "is_frame", "marks_of", "of_anndata", "of_array", "of_frame"]

logger = logging.getLogger("syclade.input")


OF_ARRAYS = ("evidence", "coding", "absent", "total_reads", "ref_reads", "min_depth", *SHARES)
"""Options of arrays; without any of them, arrays have calls."""


def of_array(source: object, options: ReadOptions) -> Matrix:
    """Return the matrix of arrays of reads or of likelihoods, shape (n_mutations, n_cells); NaN is missing.

    Raises:
        OptionError: the second array has another shape, or an option is missing.
        MatrixError: an invalid value.
    """
    coding = check_coding(options, second=options.absent is not None, path="array")
    if coding is None and options.total_reads is None and options.ref_reads is None:
        refuse_reads(options, "array", "total_reads or ref_reads, an array")
    first, second = _array(source), None
    name = (
        "absent" if coding is not None else "total_reads" if options.total_reads is not None else "ref_reads"
    )
    if getattr(options, name) is not None:
        second = _array(getattr(options, name))
        if second.shape != first.shape:
            raise OptionError(f"{name} has the shape {second.shape}, but the first array {first.shape}")
    if coding is not None:
        odds = odds_of_numbers(first, second, coding, "array")
        found = Called(calls_of(odds), (), Likelihoods(odds))
    else:
        assert second is not None
        found = called(first, second if name == "total_reads" else first + second, options, "array")
    for note in found.notes:
        logger.info("%s", note)
    return Matrix(
        np.ascontiguousarray(found.values), default_names(len(first)), "array", evidence=found.evidence
    )


def _array(source: object) -> NDArray[np.float64]:
    """Return an array of two dimensions, in memory of the host, as float64."""
    try:
        numbers = np.array(on_host(source), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise MatrixError(
            f"a {type(source).__name__} cannot be read as an array of numbers: {problem}"
        ) from None
    if numbers.ndim != 2 or 0 in numbers.shape:
        raise MatrixError(
            f"the array has the shape {numbers.shape}", hint="rows are mutations and columns are cells"
        )
    return numbers


def is_frame(source: object) -> bool:
    """Return whether an object has the interface of a pandas DataFrame."""
    return all(hasattr(source, name) for name in ("columns", "index", "to_numpy"))


def is_anndata(source: object) -> bool:
    """Return whether an object has the interface of an AnnData."""
    return all(hasattr(source, name) for name in ("obs_names", "var_names", "layers", "X"))


def of_frame(frame: DataFrame, options: ReadOptions) -> Matrix:
    """Return the matrix of a data frame; NaN, None and pd.NA are missing.

    Raises:
        OptionError: an option does not apply to data frames.
        MatrixError: the option `rows` is not given; an invalid value or name.
    """
    known = ("rows", "two", "evidence", "total_reads", "ref_reads", "absent", "coding", "min_depth", *SHARES)
    _only(options, known, "a DataFrame")
    if options.rows is None:
        raise MatrixError(
            "a DataFrame's rows may be cells or mutations",
            hint='call syclade.read_matrix(frame, rows="cells"), or rows="mutations"',
        )
    coding = check_coding(options, second=options.absent is not None, path="DataFrame")
    if coding is not None:
        return _likely_frames(frame, options, coding)
    if options.total_reads is not None or options.ref_reads is not None:
        return _called_frames(frame, options)
    refuse_reads(options, "DataFrame", "total_reads or ref_reads, a data frame")
    floats, (rows, columns) = _floats(frame), _names_of(frame)
    _check_values(floats, rows, columns)
    values = _numbers(floats)
    if options.rows == "cells":
        values, rows, columns = values.T, columns, rows
    return _matrix(Called(values, (), None), rows, columns, options)


def _names_of(frame: DataFrame) -> tuple[list[str], list[str]]:
    """Return the names of the rows and of the columns of a data frame.

    Raises:
        MatrixError: a name is missing (NaN, None or pd.NA), which would be a name such as nan.
    """
    for what, names in (("row", frame.index), ("column", frame.columns)):
        for number, name in enumerate(names, 1):
            if _is_missing(name):
                raise MatrixError(
                    f"{what} {number} of the DataFrame has no name ({name})",
                    hint=f"give each {what} a name, or leave it out",
                )
    return [str(name) for name in frame.index], [str(name) for name in frame.columns]


def _is_missing(name: object) -> bool:
    """Return whether a name is None, NaN, NaT or pd.NA, of which the last has no truth value."""
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def _check_values(floats: NDArray[np.float64], rows: list[str], columns: list[str]) -> None:
    """Raise a MatrixError with the names of the first entry that is not 0, 1, 2, 3 or missing."""
    wrong = np.argwhere(~(np.isnan(floats) | np.isin(floats, ALLOWED)))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise MatrixError(
            f"the DataFrame has {floats[row, column]:g} in the row {rows[row]!r}, column "
            f"{columns[column]!r}, not 0, 1, 2 or 3",
            hint="a missing value is written 3, or NaN"
            if floats[row, column] == -1
            else f"values are {MEANING}",
        )


def of_anndata(data: AnnData, options: ReadOptions) -> Matrix:
    """Return the matrix of an AnnData, from X or a layer; rows are cells, NaN is missing.

    Raises:
        OptionError: an option does not apply to AnnData.
        MatrixError: X is all 0 and there are layers; a layer without the option
            `coding`; an invalid value or name.
    """
    known = (
        "two",
        "evidence",
        "layer",
        "coding",
        "total_layer",
        "absent_layer",
        *SHARES,
        "min_depth",
        "obs_mask",
        "var_mask",
    )
    _only(options, known, "an AnnData")
    refuse_together(options.total_layer is not None, options.coding, options.two)
    for name in (options.layer, options.total_layer, options.absent_layer):
        if name is not None and name not in data.layers:
            names = [name for name in data.layers if name is not None]  # from anndata 0.13 on, None is X
            raise MatrixError(f"there is no layer {name}", hint=f"there are {', '.join(names) or 'none'}")
    coding = check_coding(options, second=options.absent_layer is not None, path="AnnData")
    if coding is not None:
        found = _likely_layers(data, options, coding)
    elif options.total_layer is not None:
        found = _called_layers(data, options)
    else:
        refuse_reads(options, "AnnData", 'total_layer="DP"')
        found = Called(_genotypes(data, options).T, (), None)
    if options.coding is not None or options.total_layer is not None:
        options = options.with_two("homozygous")
    mutations, notes = distinct_names([str(name) for name in data.var_names], _places(data.var))
    for note in (*found.notes, *notes):
        logger.info("%s", note)
    matrix = _matrix(found, mutations, [str(name) for name in data.obs_names], options)
    return replace(matrix, annotated=data, labels=_labels(data))


def _labels(data: AnnData) -> dict[str, tuple[str, ...]]:
    """Return the columns of obs as texts, but those of an earlier result; empty where a value is missing."""
    obs: DataFrame = data.obs
    written = {
        str(name) for name in getattr(data, "uns", {}).get("syclade", {}).get("written", {}).get("obs", ())
    }
    return {
        str(name): tuple("" if gap else str(value) for value, gap in zip(column, column.isna(), strict=True))
        for name, column in obs.items()
        if not obs.columns.duplicated().any() and str(name) not in written
    }


def _genotypes(data: AnnData, options: ReadOptions) -> NDArray[np.uint8]:
    """Return the genotypes in X or the layer, shape (cells, mutations)."""
    layer = options.layer
    if layer is not None and options.coding is None:
        raise MatrixError(
            f"the meaning of 2 and 3 in the layer {layer} is not given",
            hint='give coding="scite" (2 homozygous, 3 missing) or coding="cyvcf2" (2 unknown, 3 homozygous)',
        )
    table = data.X if layer is None else data.layers[layer]
    try:
        values = _numbers(_dense(table))
    except MatrixError as error:
        raise MatrixError(error.message, hint=expression_hint(data.layers)) from None
    if layer is None:
        check_x(values, data.layers)
    if options.coding is not None:
        values = np.array(CODINGS[options.coding], np.uint8)[values]
    return values


def _places(columns: DataFrame) -> list[str]:
    """Return position and alleles of each mutation, if there are columns of them."""
    if not all(name in columns for name in PLACE):
        return []
    rows = zip(*(columns[name] for name in PLACE), strict=True)
    return [f"{chrom}:{position}:{ref}/{alt}" for chrom, position, ref, alt in rows]


def _layers(data: AnnData, *names: str | None) -> list[NDArray[np.float64]]:
    """Return layers as numbers, shape (mutations, cells); None is X."""
    if None in names and data.X is None:
        raise MatrixError("there is no X", hint='give the layer of alternate reads: layer="AD"')
    tables = [data.X if name is None else data.layers[name] for name in names]
    return [_dense(table).astype(np.float64).T for table in tables]


def _dense(table: Any) -> Array:
    """Return a table of an AnnData as an array; one that is sparse, or in a file, is read whole."""
    if hasattr(table, "to_memory"):
        table = table.to_memory()
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def _called_layers(data: AnnData, options: ReadOptions) -> Called:
    """Return the calls of layers of reads, shape (mutations, cells)."""
    alternate, depth = _layers(data, options.layer, options.total_layer)
    return called(alternate, depth, options, "AnnData")


def _likely_layers(data: AnnData, options: ReadOptions, coding: str) -> Called:
    """Return the log odds of one layer or two, shape (mutations, cells)."""
    refuse_reads(options, "AnnData", 'evidence="reads"')
    mutated = _layers(data, options.layer)[0]
    absent = None if options.absent_layer is None else _layers(data, options.absent_layer)[0]
    odds = odds_of_numbers(mutated, absent, coding, "AnnData")
    return Called(calls_of(odds), (), Likelihoods(odds))


def _paired(frame: DataFrame, other: AnyPath | DataFrame | None, name: str) -> NDArray[np.float64]:
    """Return the numbers of a second data frame, in the order of the first."""
    if other is None or isinstance(other, (str, os.PathLike)) or not is_frame(other):
        raise OptionError(f"{name} must be one data frame", hint="with the names of the first")
    try:
        paired = other.loc[frame.index, frame.columns]
    except KeyError as problem:
        raise MatrixError(f"{name} lacks names of the first data frame: {problem}") from None
    if paired.shape != frame.shape or other.shape != frame.shape:
        raise MatrixError(f"{name} has the shape {other.shape}, but the first data frame {frame.shape}")
    return _floats(paired)


def _likely_frames(frame: DataFrame, options: ReadOptions, coding: str) -> Matrix:
    """Return the matrix of one data frame of probabilities or log odds, or of two of likelihoods."""
    refuse_reads(options, "DataFrame", 'evidence="reads"')
    absent = None if options.absent is None else _paired(frame, options.absent, "absent")
    odds = odds_of_numbers(_floats(frame), absent, coding, "DataFrame")
    rows, columns = _names_of(frame)
    if options.rows == "cells":
        odds, rows, columns = odds.T, columns, rows
    return _matrix(Called(calls_of(odds), (), Likelihoods(odds)), rows, columns, options)


def _called_frames(frame: DataFrame, options: ReadOptions) -> Matrix:
    """Return the calls of a data frame of alternate reads and one of all reads, or of reference reads."""
    given = [name for name in ("total_reads", "ref_reads") if name in options.given]
    other: DataFrame = getattr(options, given[0])
    if len(given) > 1 or not is_frame(other):
        raise OptionError(
            f"{' and '.join(given)} must be one data frame", hint="of all reads, or of reference reads"
        )
    if options.two is not None:
        raise OptionError("two is for genotypes, not for numbers of reads", hint="leave it out")
    alternate, depth = _floats(frame), _paired(frame, other, given[0])
    if given == ["ref_reads"]:
        depth = alternate + depth
    rows, columns = _names_of(frame)
    if options.rows == "cells":
        alternate, depth, rows, columns = alternate.T, depth.T, columns, rows
    found = called(alternate, depth, options, "DataFrame")
    for note in found.notes:
        logger.info("%s", note)
    return _matrix(found, rows, columns, ReadOptions(two="homozygous"))


def _floats(frame: DataFrame) -> NDArray[np.float64]:
    """Return the entries of a data frame; NaN for None and pd.NA."""
    try:
        floats: NDArray[np.float64] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as problem:
        raise _no_numbers(frame, problem) from None
    return floats


def _no_numbers(frame: DataFrame, problem: Exception) -> MatrixError:
    """Return the error for a data frame with an entry that is not a number, with its columns."""
    columns = []
    for at, name in enumerate(frame.columns):
        try:
            frame.iloc[:, at].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            columns.append(str(name))
    where = f" in {counted(len(columns), 'column', 'columns')} ({listed(columns)})" if columns else ""
    return MatrixError(
        f"the DataFrame has an entry that is not a number{where}: {problem}",
        hint="leave out columns that are no mutations or cells: frame.drop(columns=[...])",
    )


def marks_of(data: AnnData, options: ReadOptions) -> Marks:
    """Return what the masks of the options, columns of an AnnData's obs and var, do not have.

    Raises:
        MatrixError: there is no such column of booleans.
    """
    found: list[NDArray[np.bool_] | None] = []
    for part, frame, name in (("var", data.var, options.var_mask), ("obs", data.obs, options.obs_mask)):
        if name is not None and (
            name not in frame.columns or str(frame[name].dtype) not in ("bool", "boolean")
        ):
            columns = [str(one) for one in frame.columns if str(frame[one].dtype) in ("bool", "boolean")]
            raise MatrixError(
                f"{part} has no column {name} of booleans", hint=f"there are {', '.join(columns) or 'none'}"
            )
        found.append(None if name is None else ~frame[name].to_numpy(dtype=np.bool_, na_value=False))
    return Marks(found[0], found[1], f"false in var[{options.var_mask}]", f"false in obs[{options.obs_mask}]")


def _only(options: ReadOptions, known: tuple[str, ...], what: str) -> None:
    for option in options.given:
        if option not in known:
            raise OptionError(
                f"{option} does not go with {what}", hint=f"of its options, there are {', '.join(known)}"
            )


def _numbers(values: Array) -> NDArray[np.uint8]:
    """Return the values as uint8, with NaN as missing (3)."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), 3.0, values)
    return values_from_array(values)


def _matrix(found: Called, mutations: list[str], cells: list[str], options: ReadOptions) -> Matrix:
    """Return the matrix of calls and their evidence."""
    values = found.values
    check_names(mutations, what="mutation")
    check_names(cells, what="cell")
    if options.two is None and (values == 2).any():
        raise MatrixError(
            "2 occurs, which may be homozygous or missing",
            hint='give two="homozygous" or two="missing"',
        )
    if options.two == "missing":
        values = np.where(values == 2, np.uint8(3), values)
    values = np.ascontiguousarray(values)
    return Matrix(
        values,
        tuple(mutations),
        "array",
        None,
        tuple(cells),
        evidence=found.evidence,
        says_homozygous=True,
    )
