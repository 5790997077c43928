"""AnnData (.h5ad): observations are cells, variables are mutations; X, or a layer.

Only the table and the names are loaded. Sparse tables are read with anndata's functions for elements.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.input.bounded import MOST_BYTES
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_rows, with_two
from syclade.host.input.formats.hdf import blocks, coded, opened, places, require, shape_of, texts
from syclade.host.options import flag_of

__all__ = ["CODINGS", "read_h5ad"]

CODINGS = {"scite": (0, 1, 2, 3), "cyvcf2": (0, 1, 3, 2)}
"""Our values for 0 to 3; cyvcf2's 2 is unknown and its 3 homozygous, as in scphylo's layer `genotype`."""


def read_h5ad(path: Path, asked: Asked) -> Grid:
    """Read X, or the layer given by the options; rows are cells.

    Raises:
        MatrixError: an error in the file; X is all 0 and the calls are in a layer; a layer without the option
            `coding`; 2 occurs, and neither `two` nor `coding` is given.
    """
    refuse_rows(asked, "cells", str(path))
    require("h5py", "anndata", "scipy")
    with opened(path) as file:
        for part in ("obs", "var"):
            if part not in file:
                raise MatrixError(f"there is no {part}", path=str(path), hint="is it an AnnData?")
        values = _table(file, asked, path)
        cells = _index(file["obs"], values.shape[0], "obs", path)
        names = _index(file["var"], values.shape[1], "var", path)
        where = places(file["var"], names, path) if hasattr(file["var"], "keys") else []
        called = "genotype" in file.get("layers", ())
    if asked.layer is None and not values.any() and called:
        raise MatrixError(
            "X is all 0, and there is a layer genotype",
            path=str(path),
            hint="for the calls that scphylo has there: "
            f"{flag_of('layer', 'genotype')} {flag_of('coding', 'cyvcf2')}",
        )
    grid = np.array(CODINGS[asked.coding or "scite"], np.uint8)[values].T
    if asked.coding is None or asked.two is not None:  # a coding defines the meaning of 2
        grid = with_two(grid, asked, str(path))
    return named_grid(grid, names, cells, where)


def _table(file: Any, asked: Asked, path: Path) -> NDArray[np.uint8]:
    """Return X or the layer: uint8, shape (cells, mutations)."""
    if asked.layer is None:
        what, at = "X", "X"
        if "X" not in file:
            raise MatrixError("there is no X", path=str(path), hint=f"give one: {_layers(file)}")
    else:
        what, at = f"layer {asked.layer}", f"layers/{asked.layer}"
        if asked.layer not in file.get("layers", ()):
            raise MatrixError(f"there is no {what}", path=str(path), hint=f"there is {_layers(file)}")
        if asked.coding is None:
            raise MatrixError(
                f"the meaning of 2 and 3 in the {what} is not given",
                path=str(path),
                hint=f"{flag_of('coding', 'scite')} (2 homozygous, 3 missing), or "
                f"{flag_of('coding', 'cyvcf2')} (2 unknown, 3 homozygous)",
            )
    element = file[at]
    if hasattr(element, "keys"):
        return _sparse(element, what, path)
    shape = shape_of(element, what, path)
    values = np.empty(shape, np.uint8)
    for rows in blocks(shape):
        values[rows] = coded(element[rows], what, rows.start, path)
    return values


def _sparse(element: Any, what: str, path: Path) -> NDArray[np.uint8]:
    """Read a sparse table with anndata: uint8, shape (cells, mutations)."""
    shape = tuple(int(size) for size in element.attrs.get("shape", element.attrs.get("h5sparse_shape", ())))
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] > MOST_BYTES:
        raise MatrixError(f"{what} is not a table, or is too large", path=str(path))
    for part in ("data", "indices", "indptr"):
        if part not in element or len(element[part]) > MOST_BYTES:
            raise MatrixError(f"{what} has no {part}", path=str(path))
    from anndata.io import read_elem

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = read_elem(element)
            table.check_format(full_check=True)
        except Exception as problem:  # anndata has its own error for unknown elements
            words = " ".join(str(problem).split()) or type(problem).__name__
            raise MatrixError(f"{what} cannot be read by anndata: {words}", path=str(path)) from None
    return coded(table.toarray(), what, 0, path)


def _index(frame: Any, count: int, what: str, path: Path) -> list[str]:
    """Return the names of the cells or mutations."""
    if hasattr(frame, "keys"):
        column = frame.attrs.get("_index", "_index")
        column = column.decode() if isinstance(column, bytes) else str(column)
        if column not in frame:
            raise MatrixError(f"{what} has no index", path=str(path))
        return texts(frame[column], count, f"{what}'s index", path)
    fields = frame.dtype.names or ()  # files before anndata 0.7: a structured array
    if not fields:
        raise MatrixError(f"{what} has no index", path=str(path))
    return texts(frame.fields(fields[0])[()].view(np.ndarray), count, f"{what}'s index", path)


def _layers(file: Any) -> str:
    return ", ".join(f"{flag_of('layer')} {name}" for name in file.get("layers", ())) or "no layer"
