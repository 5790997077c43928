"""Mission Bio's Tapestri: files of the pipeline (.dna.h5) and looms.

Source: the data structure in the documentation of mosaic; loom: support.missionbio.com 360045383034. Cells
are rows in the layers of an h5 file, and columns in a loom. NGT has our coding: 0, 1, 2 (homozygous) and 3
(missing).
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.formats.grid import Grid, ReadOptions, named_grid, refuse_two, unused_evidence
from syclade.host.data.input.formats.hdf import blocks, coded, counted, flags, opened, places, shape_of, texts
from syclade.host.data.input.formats.reads import SHARES, check_reads, filtered, percent, reads_of
from syclade.host.data.input.matrix import Marks
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from h5py import Dataset, Group

__all__ = ["read_loom", "read_tapestri"]


def read_tapestri(path: Path, options: ReadOptions) -> Grid:
    """Read an h5 file.

    With the options, calls are missing if they have too few reads (DP), too low a quality (GQ), or an allele
    frequency (AF, per cent; else AD and DP) that does not fit the genotype, and 0 if it is below
    ``min_vaf``. If barcodes repeat across samples, they are prefixed with the name of their sample.

    Raises:
        MatrixError: an error in the file; a filter without its layer, with the option.
    """
    refuse_two(options, "cells", str(path))
    with opened(path) as file:
        assay = _part(file, "assays/dna_variants", path)
        layers, cells = _part(assay, "layers", path), _part(assay, "ra", path)
        shape = shape_of(_part(layers, "NGT", path), "NGT", path)
        names = texts(_part(assay, "ca/id", path), shape[1], "ca/id", path)
        barcodes = texts(_part(cells, "barcode", path), shape[0], "ra/barcode", path)
        repeat = len(set(barcodes)) < len(barcodes)
        labels: dict[str, tuple[str, ...]] = {}
        if "sample_name" in cells:
            with nullcontext() if repeat else suppress(MatrixError):  # labels alone may be damaged
                labels["sample"] = tuple(texts(cells["sample_name"], shape[0], "ra/sample_name", path))
        if repeat and labels:
            barcodes = [f"{sample}:{cell}" for sample, cell in zip(labels["sample"], barcodes, strict=True)]
        where = places(assay["ca"], names, path)
        values = _called(layers, "NGT", shape, options, path)
        reads = _reads(layers, shape, options, path, cells_first=True)
        unused = _unused(layers, options)
        marks, notes = _filtered(assay, "ca", "ra", shape[::-1], options, path)
    grid = named_grid(values.T, names, barcodes, where, evidence=reads, notes=unused)
    return replace(grid, marks=marks, notes=(*grid.notes, *notes), labels=labels)


def read_loom(path: Path, options: ReadOptions) -> Grid:
    """Read a loom: rows are variants. The filters are those of an h5 file.

    Raises:
        MatrixError: as `read_tapestri`.
    """
    refuse_two(options, "mutations", str(path))
    with opened(path) as file:
        shape = shape_of(_part(file, "matrix", path), "matrix", path)
        names = texts(_part(file, "row_attrs/id", path), shape[0], "row_attrs/id", path)
        barcodes = texts(_part(file, "col_attrs/barcode", path), shape[1], "col_attrs/barcode", path)
        where = places(file["row_attrs"], names, path)
        parts = {"matrix": file["matrix"], **dict(file.get("layers", {}).items())}
        values = _called(parts, "matrix", shape, options, path)
        reads, unused = _reads(parts, shape, options, path), _unused(parts, options)
        marks, notes = _filtered(file, "row_attrs", "col_attrs", shape, options, path)
    grid = named_grid(values, names, barcodes, where, evidence=reads, notes=unused)
    return replace(grid, marks=marks, notes=(*grid.notes, *notes))


def _filtered(
    of: Group, variants: str, cells: str, shape: tuple[int, int], options: ReadOptions, path: Path
) -> tuple[Marks, tuple[str, ...]]:
    """Return the pipeline's marks if they are options for, and else a note if there are some.

    Args:
        of: the group in the file that has the marks.
        variants, cells: names of its groups of variants and of cells.
        shape: numbers of variants and cells.
        options, path: the options, and the file.

    Raises:
        MatrixError: marks are options for, and there are none that can be read.
    """
    names = [f"{group}/filtered" for group in (variants, cells)]
    found = [flags(of[name], count) if name in of else None for name, count in zip(names, shape, strict=True)]
    if options.drop_filtered:
        if all(one is None for one in found):
            raise MatrixError(
                f"there is neither {names[0]} nor {names[1]} with marks",
                path=str(path),
                hint=f"leave out {flag_of('drop_filtered')}",
            )
        of_mutations, of_cells = (f"marked by {name}" for name in names)
        return Marks(found[0], found[1], of_mutations, of_cells), ()
    marked = [0 if one is None else int(one.sum()) for one in found]
    if not any(marked):
        return Marks(), ()
    note = f"{marked[0]} of {shape[0]} variants and {marked[1]} of {shape[1]} cells are marked as filtered"
    return Marks(), (f"{note}: {flag_of('drop_filtered')} leaves them out",)


def _part(of: Group, name: str, path: Path) -> Group | Dataset:
    if name not in of:
        raise MatrixError(f"there is no {name}", path=str(path), hint="is it Tapestri's, of DNA variants?")
    return of[name]


def _called(
    layers: Group, calls: str, shape: tuple[int, int], options: ReadOptions, path: Path
) -> NDArray[np.uint8]:
    """Read the genotypes block by block, filtered by the options; uint8, of the given shape."""
    depth = _layer(layers, "DP", ("min_depth",), shape, options, path)
    quality = _layer(layers, "GQ", ("min_gq",), shape, options, path)
    by_reads = "AF" not in layers and "AD" in layers and "DP" in layers
    share = _layer(layers, "AD" if by_reads else "AF", SHARES, shape, options, path)
    total = _layer(layers, "DP", SHARES, shape, options, path) if by_reads else None
    values = np.empty(shape, np.uint8)
    for rows in blocks(shape):
        found = coded(layers[calls][rows], calls, rows.start, path)
        part = [None if table is None else table[rows] for table in (depth, quality, share)]
        if share is not None and total is not None:
            part[2] = percent(share[rows], total[rows])
        values[rows] = filtered(found, options, *part)
    return values


def _reads(
    layers: Group, shape: tuple[int, int], options: ReadOptions, path: Path, *, cells_first: bool = False
) -> Reads | None:
    """Return the numbers of reads (DP, and AD or else AF of them), if they are requested.

    Args:
        layers, shape, options, path: as for `_called`.
        cells_first: whether the rows of layers are cells.
    """
    if options.evidence != "reads":
        return None
    name = "AF" if "AD" not in layers and "AF" in layers else "AD"
    found = [_layer(layers, one, ("evidence",), shape, options, path) for one in (name, "DP")]
    alternate, depth = (counted(table[()], name, 0, path) for table in found if table is not None)
    if name == "AF":  # per cent, of which the pipeline's have enough digits
        alternate = np.rint(alternate * depth / 100.0)
    if cells_first:
        alternate, depth = alternate.T, depth.T
    check_reads(alternate, depth, options, str(path))
    return reads_of(alternate, depth, options)


def _unused(layers: Group, options: ReadOptions) -> tuple[str, ...]:
    """Return a line for the log if there are numbers of reads that are not used."""
    return unused_evidence(options, "reads") if "DP" in layers and ("AD" in layers or "AF" in layers) else ()


def _layer(
    layers: Group,
    name: str,
    names: tuple[str, ...],
    shape: tuple[int, int],
    options: ReadOptions,
    path: Path,
) -> Dataset | None:
    """Return a layer of numbers; None if none of the options that need it is given.

    Raises:
        MatrixError: it does not exist, or is no table of numbers of this shape.
    """
    given = [option for option in names if getattr(options, option) is not None]
    if not given:
        return None
    if name not in layers:
        hint = f"leave out {', '.join(map(flag_of, given))}"
        raise MatrixError(f"there is no {name}", path=str(path), hint=hint)
    if shape_of(layers[name], name, path) != shape:
        raise MatrixError(f"{name} is not a table of {shape[0]} × {shape[1]}", path=str(path))
    return layers[name]
