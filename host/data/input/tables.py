"""Matrices from pandas DataFrames and AnnData, without importing either library."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import ReadOptions
from syclade.host.data.input.formats.h5ad import CODINGS, refuse_together
from syclade.host.data.input.formats.hdf import PLACE
from syclade.host.data.input.formats.reads import SHARES, Called, called, refuse_reads
from syclade.host.data.input.left_out import Marks
from syclade.host.data.input.matrix import Matrix, values_from_array
from syclade.host.data.input.names import check_names, distinct_names
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.values import Array

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import DataFrame

__all__ = ["is_anndata", "is_frame", "marks_of", "of_anndata", "of_frame"]

logger = logging.getLogger("syclade.input")


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
    _only(
        options, ("rows", "two", "evidence", "total_reads", "ref_reads", "min_depth", *SHARES), "a DataFrame"
    )
    if options.rows is None:
        raise MatrixError(
            "a DataFrame's rows may be cells or mutations",
            hint='call syclade.read_matrix(frame, rows="cells"), or rows="mutations"',
        )
    if options.total_reads is not None or options.ref_reads is not None:
        return _called_frames(frame, options)
    refuse_reads(options, "DataFrame", "total_reads or ref_reads, a data frame")
    values = _numbers(_floats(frame))
    rows, columns = [str(name) for name in frame.index], [str(name) for name in frame.columns]
    if options.rows == "cells":
        values, rows, columns = values.T, columns, rows
    return _matrix(Called(values, (), None), rows, columns, options)


def of_anndata(data: AnnData, options: ReadOptions) -> Matrix:
    """Return the matrix of an AnnData, from X or a layer; rows are cells, NaN is missing.

    Raises:
        OptionError: an option does not apply to AnnData.
        MatrixError: X is all 0 and there is scphylo's layer of genotypes; a layer without the option
            `coding`; an invalid value or name.
    """
    known = (
        "two",
        "evidence",
        "layer",
        "coding",
        "total_layer",
        *SHARES,
        "min_depth",
        "obs_mask",
        "var_mask",
    )
    _only(options, known, "an AnnData")
    refuse_together(options.total_layer is not None, options.coding, options.two)
    for name in (options.layer, options.total_layer):
        if name is not None and name not in data.layers:
            names = [name for name in data.layers if name is not None]  # from anndata 0.13 on, None is X
            raise MatrixError(f"there is no layer {name}", hint=f"there are {', '.join(names) or 'none'}")
    if options.total_layer is not None:
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
    return replace(matrix, annotated=data)


def _genotypes(data: AnnData, options: ReadOptions) -> NDArray[np.uint8]:
    """Return the genotypes in X or the layer, shape (cells, mutations)."""
    layer = options.layer
    if layer is not None and options.coding is None:
        raise MatrixError(
            f"the meaning of 2 and 3 in the layer {layer} is not given",
            hint='give coding="scite" (2 homozygous, 3 missing) or coding="cyvcf2" (2 unknown, 3 homozygous)',
        )
    table = data.X if layer is None else data.layers[layer]
    values = _numbers(np.asarray(table.toarray() if hasattr(table, "toarray") else table))
    if layer is None and "genotype" in data.layers and not values.any():
        raise MatrixError(
            "X is all 0, and there is a layer genotype",
            hint='for the calls that scphylo has there: layer="genotype", coding="cyvcf2"',
        )
    if options.coding is not None:
        values = np.array(CODINGS[options.coding], np.uint8)[values]
    return values


def _places(columns: DataFrame) -> list[str]:
    """Return position and alleles of each mutation, if there are columns of them."""
    if not all(name in columns for name in PLACE):
        return []
    rows = zip(*(columns[name] for name in PLACE), strict=True)
    return [f"{chrom}:{position}:{ref}/{alt}" for chrom, position, ref, alt in rows]


def _called_layers(data: AnnData, options: ReadOptions) -> Called:
    """Return the calls of layers of reads, shape (mutations, cells)."""
    if options.layer is None and data.X is None:
        raise MatrixError("there is no X", hint='give the layer of alternate reads: layer="AD"')
    tables = [data.X if name is None else data.layers[name] for name in (options.layer, options.total_layer)]
    alternate, depth = (
        np.asarray(table.toarray() if hasattr(table, "toarray") else table, np.float64).T for table in tables
    )
    return called(alternate, depth, options, "AnnData")


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
    try:
        paired = other.loc[frame.index, frame.columns]
    except KeyError as problem:
        raise MatrixError(f"{given[0]} lacks names of the first data frame: {problem}") from None
    if paired.shape != frame.shape or other.shape != frame.shape:
        raise MatrixError(f"{given[0]} has the shape {other.shape}, but the first data frame {frame.shape}")
    alternate, depth = _floats(frame), _floats(paired)
    if given == ["ref_reads"]:
        depth = alternate + depth
    rows, columns = [str(name) for name in frame.index], [str(name) for name in frame.columns]
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
        raise MatrixError(f"the DataFrame has an entry that is not a number: {problem}") from None
    return floats


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
    return Matrix(values, tuple(mutations), "array", None, tuple(cells), evidence=found.evidence)
