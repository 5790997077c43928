"""AnnData (.h5ad): observations are cells, variables are mutations; X, or a layer.

Only the table and the names are loaded. Sparse tables are read with anndata's functions for elements.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.formats.grid import Grid, ReadOptions, refuse_rows, with_two
from syclade.host.data.input.formats.hdf import (
    blocks,
    coded,
    counted,
    flags,
    opened,
    places,
    require,
    shape_of,
    texts,
)
from syclade.host.data.input.formats.likelihoods import calls_of, check_coding, odds_of_numbers
from syclade.host.data.input.formats.reads import Called, called, refuse_reads, require_depth
from syclade.host.data.input.matrix import Marks
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.limits import MOST_BYTES
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import Array, listed

if TYPE_CHECKING:
    from h5py import Dataset, File, Group

__all__ = ["CODINGS", "check_x", "expression_hint", "read_h5ad", "refuse_together"]

CODINGS = {"scite": (0, 1, 2, 3), "cyvcf2": (0, 1, 3, 2)}
"""Our values for 0 to 3; cyvcf2's 2 is unknown and its 3 homozygous, as in scphylo's layer `genotype`."""

_WRITTEN = "tree"
"""Layer of results that has no observations."""


def read_h5ad(path: Path, options: ReadOptions) -> Grid:
    """Read X, or the layer given by the options; rows are cells.

    With the option `total_layer`, they are numbers of alternate reads, from which genotypes are called.

    Raises:
        MatrixError: an error in the file; X is all 0 and the calls are in a layer; a layer without the option
            `coding`; 2 occurs, and neither `two` nor `coding` is given; numbers of reads without `min_depth`.
    """
    refuse_rows(options, "cells", str(path))
    require("h5py", "anndata", "scipy")
    refuse_together(options.total_layer is not None, options.coding, options.two)
    with opened(path) as file:
        for part in ("obs", "var"):
            if part not in file:
                raise MatrixError(f"there is no {part}", path=str(path), hint="is it an AnnData?")
        coding = check_coding(options, second=options.absent_layer is not None, path=str(path))
        if coding is not None:
            found = _likely(file, options, coding, path)
        elif options.total_layer is None:
            refuse_reads(options, str(path), f"{flag_of('total_layer')} NAME")
            found = Called(_genotypes(file, options, path), (), None)
        else:
            found = _called(file, options, path)
        count = found.values.shape
        cells = _index(file["obs"], count[1], "obs", path)
        names = _index(file["var"], count[0], "var", path)
        where = places(file["var"], names, path) if hasattr(file["var"], "keys") else []
        marks, columns = _masks(file, count, options, path)
        labels = _labels(file, count[1], path)
    grid = found.grid(names, cells, where)
    return replace(grid, marks=marks, notes=(*grid.notes, *columns), labels=labels)


def _labels(file: File, count: int, path: Path) -> dict[str, tuple[str, ...]]:
    """Return the columns of obs that are texts, categories or numbers, but those of an earlier result."""
    found: dict[str, tuple[str, ...]] = {}
    frame, record = file["obs"], "uns/syclade/written/obs"
    written = set(file[record].asstr()[()]) if record in file else set()
    for name in frame if hasattr(frame, "keys") else ():
        kind = getattr(getattr(frame[name], "dtype", None), "kind", "O")
        if name == frame.attrs.get("_index", "_index") or kind not in "OSUiubf":
            continue
        if name in written:
            continue
        with suppress(
            MatrixError
        ):  # such as a group that is no column: what a run needs is requested by name
            values = texts(frame[name], count, f"obs's {name}", path, gaps=True)
            found[str(name)] = tuple("" if kind == "f" and value == "nan" else value for value in values)
    return found


def _masks(
    file: File, shape: tuple[int, ...], options: ReadOptions, path: Path
) -> tuple[Marks, tuple[str, ...]]:
    """Return what the masks of the options do not have; without masks, a note of the columns that can be.

    Raises:
        MatrixError: a column is not there, or not of booleans.
    """
    found: list[NDArray[np.bool_] | None] = []
    notes = []
    for part, option, count in (("var", "var_mask", shape[0]), ("obs", "obs_mask", shape[1])):
        frame, name = file[part], getattr(options, option)
        columns = [key for key in frame if _is_bool(frame[key], count)] if hasattr(frame, "keys") else []
        if name is None:
            found.append(None)
            if columns:
                notes.append(
                    f"{part} has columns of booleans ({listed(columns)}): {flag_of(option)} heeds one"
                )
        elif name not in columns:
            others = f"there are {', '.join(columns)}" if columns else f"leave out {flag_of(option)}"
            raise MatrixError(f"{part} has no column {name} of booleans", path=str(path), hint=others)
        else:
            mask = flags(frame[name], count)
            assert mask is not None
            found.append(~mask)
    return Marks(
        found[0], found[1], f"false in var[{options.var_mask}]", f"false in obs[{options.obs_mask}]"
    ), tuple(notes)


def _is_bool(element: Group | Dataset, count: int) -> bool:
    """Return whether an element is a column of booleans, of numpy or of pandas."""
    kind = element["values"] if hasattr(element, "keys") and "values" in element else element
    return getattr(getattr(kind, "dtype", None), "kind", "") == "b" and flags(element, count) is not None


def refuse_together(reads: bool, coding: str | None, two: str | None) -> None:
    """Raise an OptionError for options of genotypes, where the values are numbers of reads."""
    option = "coding" if coding is not None else "two" if two is not None else None
    if reads and option is not None:
        raise OptionError(
            f"{flag_of(option)} is for genotypes, not for numbers of reads",
            hint=f"leave out {flag_of(option)}, or {flag_of('total_layer')}",
        )


def _genotypes(file: File, options: ReadOptions, path: Path) -> NDArray[np.uint8]:
    """Return the genotypes in X or the layer: uint8, shape (mutations, cells)."""
    if options.layer is not None and options.coding is None and options.layer in file.get("layers", ()):
        raise MatrixError(
            f"the meaning of 2 and 3 in the layer {options.layer} is not given",
            path=str(path),
            hint=f"{flag_of('coding', 'scite')} (2 homozygous, 3 missing), or "
            f"{flag_of('coding', 'cyvcf2')} (2 unknown, 3 homozygous); for alternate reads, "
            f"{flag_of('total_layer')} NAME",
        )
    try:
        values: NDArray[np.uint8] = _table(file, options.layer, coded, np.uint8, path)
    except MatrixError as error:
        error.hint = error.hint or expression_hint(file.get("layers", ()))
        raise
    if options.layer is None:
        check_x(values, file.get("layers", ()), path)
    genotypes: NDArray[np.uint8] = np.array(CODINGS[options.coding or "scite"], np.uint8)[values].T
    if options.coding is None or options.two is not None:  # a coding defines the meaning of 2
        genotypes = with_two(genotypes, options, str(path))
    return genotypes


def expression_hint(layers: Iterable[str | None]) -> str:
    """Return what to do about numbers that are no calls: expression has none, and layers may have them."""
    others = sorted(str(name) for name in layers if name not in (None, _WRITTEN))
    where = f"it has layers ({listed(others)}): for calls, " if others else "for calls in a layer, "
    return (
        "if these are counts of expression, they say nothing of mutations: call variants in the reads of the "
        f"cells, such as by cellsnp-lite, whose folder is read; {where}{flag_of('layer')} NAME "
        f"{flag_of('coding', 'scite')}; for numbers of reads, {flag_of('layer')} ALTERNATE "
        f"{flag_of('total_layer')} ALL"
    )


def check_x(values: NDArray[np.uint8], layers: Iterable[str | None], path: Path | None = None) -> None:
    """Check that X has something, if there are layers that may have the calls instead.

    Raises:
        MatrixError: X is all 0, and there are layers.
    """
    others = sorted(str(name) for name in layers if name not in (None, _WRITTEN))  # None is X
    if values.any() or not others:
        return
    where = None if path is None else str(path)
    if "genotype" in others:
        raise MatrixError(
            "X is all 0, and there is a layer genotype",
            path=where,
            hint="for the calls that scphylo has there: "
            f"{flag_of('layer', 'genotype')} {flag_of('coding', 'cyvcf2')}",
        )
    raise MatrixError(
        f"X is all 0, and there are layers ({listed(others)})",
        path=where,
        hint=f"for calls, {flag_of('layer')} NAME {flag_of('coding', 'scite')}; for numbers of reads, "
        f"{flag_of('layer')} ALTERNATE {flag_of('total_layer')} ALL",
    )


def _called(file: File, options: ReadOptions, path: Path) -> Called:
    """Return the calls of numbers of reads, shape (mutations, cells)."""
    require_depth(options, str(path))
    alternate = _table(file, options.layer, counted, np.float64, path)
    depth = _table(file, options.total_layer, counted, np.float64, path)
    if alternate.shape != depth.shape:
        raise MatrixError(f"the layer {options.total_layer} has another shape", path=str(path))
    return called(alternate.T, depth.T, options, str(path))


def _likely(file: File, options: ReadOptions, coding: str, path: Path) -> Called:
    """Return the log odds of a layer of probabilities, log odds or likelihoods, and maybe of a second one."""
    if options.total_layer is not None:
        hint = f"leave one of {flag_of('total_layer')} and {flag_of('evidence', 'likelihoods')} out"
        raise OptionError(f"{flag_of('total_layer')} is for numbers of reads", hint=hint)
    refuse_reads(options, str(path), flag_of("evidence", "reads"))
    tables = [_table(file, options.layer, _numbers, np.float64, path)]
    if options.absent_layer is not None:
        tables.append(_table(file, options.absent_layer, _numbers, np.float64, path))
        if tables[0].shape != tables[1].shape:
            raise MatrixError(f"the layer {options.absent_layer} has another shape", path=str(path))
    second = tables[1].T if len(tables) > 1 else None
    odds = odds_of_numbers(tables[0].T, second, coding, str(path))
    return Called(calls_of(odds), (), Likelihoods(odds))


def _numbers(values: Array, what: str, first_row: int, path: Path) -> NDArray[np.float64]:
    """Return numbers as float64."""
    return values.astype(np.float64)


def _table(
    file: File, layer: str | None, convert: Callable[..., Array], kind: DTypeLike, path: Path
) -> Array:
    """Return X or a layer, shape (cells, mutations).

    Args:
        file: the file.
        layer: the layer; None for X.
        convert: checks and converts a block of rows.
        kind: the type of its result.
        path: the file, for messages.
    """
    if layer is None:
        what, at = "X", "X"
        if "X" not in file:
            raise MatrixError("there is no X", path=str(path), hint=f"give one: {_layers(file)}")
    else:
        what, at = f"layer {layer}", f"layers/{layer}"
        if layer not in file.get("layers", ()):
            raise MatrixError(f"there is no {what}", path=str(path), hint=f"there is {_layers(file)}")
    element = file[at]
    if hasattr(element, "keys"):
        return convert(_sparse(element, what, path), what, 0, path)
    shape = shape_of(element, what, path)
    values = np.empty(shape, kind)
    for rows in blocks(shape):
        values[rows] = convert(element[rows], what, rows.start, path)
    return values


def _sparse(element: Group | Dataset, what: str, path: Path) -> Array:
    """Read a sparse table with anndata: shape (cells, mutations)."""
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
    dense: Array = table.toarray()
    return dense


def _index(frame: Group, count: int, what: str, path: Path) -> list[str]:
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


def _layers(file: File) -> str:
    return ", ".join(f"{flag_of('layer')} {name}" for name in file.get("layers", ())) or "no layer"
