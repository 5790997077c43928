"""Matrices from pandas DataFrames and AnnData, without importing either library."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError, OptionError
from syclade.host.input.array import values_from_array
from syclade.host.input.formats.h5ad import CODINGS
from syclade.host.input.formats.hdf import PLACE
from syclade.host.input.matrix import Matrix
from syclade.host.input.names import check_names, distinct_names

__all__ = ["is_anndata", "is_frame", "of_anndata", "of_frame"]

logger = logging.getLogger("syclade.input")


def is_frame(source: Any) -> bool:
    """Return whether an object has the interface of a pandas DataFrame."""
    return all(hasattr(source, name) for name in ("columns", "index", "to_numpy"))


def is_anndata(source: Any) -> bool:
    """Return whether an object has the interface of an AnnData."""
    return all(hasattr(source, name) for name in ("obs_names", "var_names", "layers", "X"))


def of_frame(frame: Any, said: dict[str, Any]) -> Matrix:
    """Return the matrix of a data frame; NaN, None and pd.NA are missing.

    Raises:
        OptionError: an option does not apply to data frames.
        MatrixError: the option `rows` is not given; an invalid value or name.
    """
    _only(said, ("rows", "two"), "a DataFrame")
    if "rows" not in said:
        raise MatrixError(
            "a DataFrame's rows may be cells or mutations",
            hint='call syclade.read_matrix(frame, rows="cells"), or rows="mutations"',
        )
    try:
        values = _numbers(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as problem:
        raise MatrixError(f"the DataFrame has an entry that is not a number: {problem}") from None
    rows, columns = [str(name) for name in frame.index], [str(name) for name in frame.columns]
    if said["rows"] == "cells":
        return _matrix(values.T, columns, rows, said)
    return _matrix(values, rows, columns, said)


def of_anndata(data: Any, said: dict[str, Any]) -> Matrix:
    """Return the matrix of an AnnData, from X or a layer; rows are cells, NaN is missing.

    Raises:
        OptionError: an option does not apply to AnnData.
        MatrixError: X is all 0 and there is scphylo's layer of genotypes; a layer without the option
            `coding`; an invalid value or name.
    """
    _only(said, ("two", "layer", "coding"), "an AnnData")
    layer = said.get("layer")
    if layer is not None and layer not in data.layers:
        names = [name for name in data.layers if name is not None]  # from anndata 0.13 on, None is X
        raise MatrixError(f"there is no layer {layer}", hint=f"there are {', '.join(names) or 'none'}")
    if layer is not None and "coding" not in said:
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
    if "coding" in said:
        values = np.array(CODINGS[said["coding"]], np.uint8)[values]
        said = {"two": "homozygous", **said}
    mutations, notes = distinct_names([str(name) for name in data.var_names], _places(data.var))
    for note in notes:
        logger.info("%s", note)
    matrix = _matrix(values.T, mutations, [str(name) for name in data.obs_names], said)
    return replace(matrix, annotated=data)


def _places(columns: Any) -> list[str]:
    """Return position and alleles of each mutation, if there are columns of them."""
    if not all(name in columns for name in PLACE):
        return []
    rows = zip(*(columns[name] for name in PLACE), strict=True)
    return [f"{chrom}:{position}:{ref}/{alt}" for chrom, position, ref, alt in rows]


def _only(said: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    for option in said:
        if option not in known:
            raise OptionError(
                f"{option} does not go with {what}", hint=f"of its options, there are {', '.join(known)}"
            )


def _numbers(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the values as uint8, with NaN as missing (3)."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), 3.0, values)
    return values_from_array(values)


def _matrix(
    values: NDArray[np.uint8], mutations: list[str], cells: list[str], said: dict[str, Any]
) -> Matrix:
    check_names(mutations, what="mutation")
    check_names(cells, what="cell")
    if "two" not in said and (values == 2).any():
        raise MatrixError(
            "2 occurs, which may be homozygous or missing",
            hint='give two="homozygous" or two="missing"',
        )
    if said.get("two") == "missing":
        values = np.where(values == 2, np.uint8(3), values)
    return Matrix(np.ascontiguousarray(values), tuple(mutations), "array", None, tuple(cells))
