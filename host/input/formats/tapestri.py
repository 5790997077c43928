"""Mission Bio's Tapestri: files of the pipeline (.dna.h5) and looms.

Source: the data structure in the documentation of mosaic; loom: support.missionbio.com 360045383034. Cells
are rows in the layers of an h5 file, and columns in a loom. NGT has our coding: 0, 1, 2 (homozygous) and 3
(missing).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.input.formats.hdf import blocks, coded, opened, places, shape_of, texts
from syclade.host.options import flag_of

__all__ = ["read_loom", "read_tapestri"]


def read_tapestri(path: Path, asked: Asked) -> Grid:
    """Read an h5 file.

    With the options, calls are missing if they have too few reads (DP), too low a quality (GQ), or an allele
    frequency (AF, per cent) that does not fit the genotype. If barcodes repeat across samples, they are
    prefixed with the name of their sample.

    Raises:
        MatrixError: an error in the file; a filter without its layer, with the option.
    """
    refuse_two(asked, "cells", str(path))
    with opened(path) as file:
        assay = _part(file, "assays/dna_variants", path)
        layers, cells = _part(assay, "layers", path), _part(assay, "ra", path)
        shape = shape_of(_part(layers, "NGT", path), "NGT", path)
        names = texts(_part(assay, "ca/id", path), shape[1], "ca/id", path)
        barcodes = texts(_part(cells, "barcode", path), shape[0], "ra/barcode", path)
        if len(set(barcodes)) < len(barcodes) and "sample_name" in cells:
            samples = texts(cells["sample_name"], shape[0], "ra/sample_name", path)
            barcodes = [f"{sample}:{cell}" for sample, cell in zip(samples, barcodes, strict=True)]
        where = places(assay["ca"], names, path)
        values = _called(layers, ("NGT", "DP", "GQ", "AF"), shape, asked, path)
    return named_grid(values.T, names, barcodes, where)


def read_loom(path: Path, asked: Asked) -> Grid:
    """Read a loom: rows are variants. The filters by reads and quality are those of an h5 file; none by AF.

    Raises:
        MatrixError: as `read_tapestri`.
    """
    refuse_two(asked, "mutations", str(path))
    with opened(path) as file:
        shape = shape_of(_part(file, "matrix", path), "matrix", path)
        names = texts(_part(file, "row_attrs/id", path), shape[0], "row_attrs/id", path)
        barcodes = texts(_part(file, "col_attrs/barcode", path), shape[1], "col_attrs/barcode", path)
        where = places(file["row_attrs"], names, path)
        parts = {"matrix": file["matrix"], **dict(file.get("layers", {}).items())}
        values = _called(parts, ("matrix", "DP", "GQ", "AF"), shape, asked, path)
    return named_grid(values, names, barcodes, where)


def _part(of: Any, name: str, path: Path) -> Any:
    if name not in of:
        raise MatrixError(f"there is no {name}", path=str(path), hint="is it Tapestri's, of DNA variants?")
    return of[name]


def _called(
    layers: Any, names: tuple[str, str, str, str], shape: tuple[int, int], asked: Asked, path: Path
) -> NDArray[np.uint8]:
    """Read the genotypes block by block, with filtered calls as missing; uint8, of the given shape."""
    calls, depth, quality, fraction = names
    wanted = {depth: asked.min_depth, quality: asked.min_gq}
    vafs = (asked.vaf_ref, asked.vaf_het, asked.vaf_hom)
    if any(vaf is not None for vaf in vafs):
        wanted[fraction] = 0
    for name, least in wanted.items():
        if least is not None and name not in layers:
            asking = {depth: ["min_depth"], quality: ["min_gq"]}.get(name, ["vaf_ref", "vaf_het", "vaf_hom"])
            hint = f"leave out {', '.join(map(flag_of, asking))}"
            raise MatrixError(f"there is no {name}", path=str(path), hint=hint)
        if least is not None and layers[name].shape != shape:
            raise MatrixError(f"{name} is not a table of {shape[0]} × {shape[1]}", path=str(path))
    values = np.empty(shape, np.uint8)
    for rows in blocks(shape):
        found = coded(layers[calls][rows], calls, rows.start, path)
        bad = np.zeros(found.shape, np.bool_)
        for name, least in ((depth, asked.min_depth), (quality, asked.min_gq)):
            if least is not None:
                bad |= layers[name][rows] < least
        if fraction in wanted:
            bad |= _unlikely(found, layers[fraction][rows], vafs)
        values[rows] = np.where(bad, np.uint8(3), found)
    return values


def _unlikely(
    found: NDArray[np.uint8], fraction: NDArray[Any], vafs: tuple[float | None, float | None, float | None]
) -> NDArray[np.bool_]:
    """Mark wild types with too many alternate reads, and other calls with too few."""
    most_ref, least_het, least_hom = vafs
    bad = np.zeros(found.shape, np.bool_)
    if most_ref is not None:
        bad |= (found == 0) & (fraction > most_ref)
    if least_het is not None:
        bad |= (found == 1) & (fraction < least_het)
    if least_hom is not None:
        bad |= (found == 2) & (fraction < least_hom)
    return bad
