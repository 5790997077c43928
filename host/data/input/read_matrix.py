"""The entry point for matrices: files and folders of all formats, streams, arrays, data frames, AnnData."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.data.input.annotations import read_about
from syclade.host.data.input.checks import Limits, left_out_words, limited, warned
from syclade.host.data.input.detect import HDF5, detect_folder, detect_format
from syclade.host.data.input.formats import FORMATS, Format, Grid, ReadOptions, format_for
from syclade.host.data.input.formats.hdf import hdf5_format
from syclade.host.data.input.matrix import (
    Marks,
    Matrix,
    Names,
    matrix_from_array,
    with_cell_names,
    with_names,
)
from syclade.host.data.input.names import IF_PRESENT, default_names, names_of_list, read_name_file
from syclade.host.data.input.source import File, Source, read_in_subprocess
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import checked, flag_of
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import shown

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["read_matrix", "without_messages"]

logger = logging.getLogger("syclade.input")

MISSING, MUCH_MISSING = 3, 0.8

_OF_CALLS = ("min_depth", "min_gq", "min_vaf", "vaf_ref", "vaf_het", "vaf_hom")
"""Options that change calls, and not their evidence."""


def read_matrix(
    source: Any,
    names: Names = None,
    format: str = "auto",
    *,
    cell_names: Names = None,
    two: str | None = None,
    rows: str | None = None,
    evidence: str = "calls",
    min_depth: int | None = None,
    min_gq: int | None = None,
    min_vaf: float | None = None,
    vaf_ref: float | None = None,
    vaf_het: float | None = None,
    vaf_hom: float | None = None,
    total_reads: AnyPath | DataFrame | None = None,
    ref_reads: AnyPath | DataFrame | None = None,
    absent: AnyPath | DataFrame | None = None,
    columns: str | None = None,
    name_by: str | None = None,
    layer: str | None = None,
    total_layer: str | None = None,
    absent_layer: str | None = None,
    coding: str | None = None,
    filter: str | None = None,
    drop_filtered: bool = False,
    obs_mask: str | None = None,
    var_mask: str | None = None,
    exclude_mutations: Names = None,
    max_missing_mutation: float | None = None,
    max_missing_cell: float | None = None,
    min_cells: int | None = None,
    strict: bool = False,
    beside: bool = True,
) -> Matrix:
    """Read a mutation matrix with its names, from a file or an object.

    Codings are never guessed. If 2 may be homozygous or missing, or rows may be cells or mutations, and the
    format does not define it, `two` or `rows` is required.

    Args:
        source: the path of a file (optionally gzipped) or of cellsnp-lite's folder; a stream open for
            reading; an array of shape (n_mutations, n_cells); a pandas DataFrame (with `rows`); an AnnData;
            a Matrix.
        names: a file with one name per line, or the names themselves. None takes the names of the source,
            which for SCITE's format are in a file beside it (`x.geneNames` for `x.csv`), or else numbers the
            mutations from 1.
        format: a name in `syclade.host.data.input.formats.FORMATS`, or "auto", which detects the format from
            the content. SCITE's format, where 2 is homozygous, is assumed for values without names.
        cell_names: the same for the cells (`x.cellNames`).
        two: the meaning of 2, "homozygous" or "missing".
        rows: the meaning of rows, "cells" or "mutations".
        evidence: what is read of each entry besides its call: "likelihoods" of a caller, numbers of "reads",
            or nothing ("calls"). The result has them as `Matrix.evidence`.
        min_depth: minimum number of reads of a call; calls with fewer are missing.
        min_gq: minimum quality (GQ) of a call; calls below it are missing.
        min_vaf: minimum percentage of alternate reads of a mutation; below it, it is not observed (0). None
            for no minimum; where there are numbers of reads and no genotypes, for 10.
        vaf_ref: maximum percentage of alternate reads of a wild type; calls above it are missing.
        vaf_het: minimum percentage of a heterozygous call; calls below it are missing.
        vaf_hom: minimum percentage of a homozygous call; calls below it are missing. Where there are
            numbers of reads and no genotypes, the percentage from which a call is homozygous (90 if None).
        total_reads: the table of the numbers of all reads, if the source has those of alternate reads: a
            file for a file in the formats tsv and csv, a DataFrame for a DataFrame, an array for an array.
        ref_reads: the same of reference reads.
        absent: the table of likelihoods without the mutation, if the source has those with it (with
            `evidence` "likelihoods", and `coding`).
        columns: columns of a long table, such as "cell=barcode,mutation=chr+pos,alt=5,total=6", by name or
            number; None finds them by their names.
        name_by: names of the mutations of a VCF or of cellsnp, "site" for CHROM:POS:REF/ALT, or "id" for the
            column ID where it has one. None takes the site.
        layer: the layer of an AnnData; None takes X.
        total_layer: the layer of an AnnData with the numbers of all reads, if `layer` has those of alternate
            reads.
        absent_layer: the layer of an AnnData with the likelihoods without the mutation, if `layer` has those
            with it.
        coding: the coding of a layer: "scite" (2 homozygous, 3 missing) or "cyvcf2" (2 unknown, 3
            homozygous). Of likelihoods in a table or layer: "probability", of the mutation, or "log", for log
            odds; with `absent` or `absent_layer`, likelihoods or their logarithms.
        filter: which records of a VCF to read: "pass" for those whose FILTER is PASS or ".", or "all". None
            reads all.
        drop_filtered: whether to leave out variants and cells that Tapestri's pipeline marks as filtered.
        obs_mask, var_mask: columns of an AnnData's obs and var; only cells and mutations for which they are
            true are kept.
        exclude_mutations: mutations to leave out: their names, or genes with which names begin; as a
            sequence, as a text with commas between, or "@" and the path of a file with one name per line.
            The matrix need not have those of a text that begins with "if-present:".
        max_missing_mutation: largest part of the cells in which a mutation may be missing; others are left
            out.
        max_missing_cell: largest part of the other mutations that a cell may miss.
        min_cells: fewest of the other cells in which a mutation is seen.
        strict: whether to refuse a 2 in SCITE's format, too, if `two` is not given.
        beside: whether to look for name files beside a file in SCITE's format.

    Returns:
        The matrix: values uint8, shape (n_mutations, n_cells).

    Raises:
        OptionError: an unknown format or value of an option, an option that does not apply to the format, or
            a library that is not installed.
        MatrixError: an error in the file, or a required option that is missing.
    """
    given = {
        "two": two, "rows": rows, "evidence": evidence,
        "min_depth": min_depth, "min_gq": min_gq, "min_vaf": min_vaf,
        "vaf_ref": vaf_ref, "vaf_het": vaf_het, "vaf_hom": vaf_hom, "total_reads": total_reads,
        "ref_reads": ref_reads, "absent": absent, "columns": columns, "name_by": name_by, "layer": layer,
        "total_layer": total_layer, "absent_layer": absent_layer, "coding": coding,
        "filter": filter, "obs_mask": obs_mask,
        "var_mask": var_mask, "drop_filtered": drop_filtered,
    }  # fmt: skip
    options = ReadOptions(**{name: checked(name, value) for name, value in given.items()})
    limits = Limits(
        names_of_list(exclude_mutations, flag_of("exclude_mutations"))
        if exclude_mutations is not None
        else (),
        checked("min_cells", min_cells),
        checked("max_missing_mutation", max_missing_mutation),
        checked("max_missing_cell", max_missing_cell),
        if_present=isinstance(exclude_mutations, str) and exclude_mutations.startswith(IF_PRESENT),
    )
    marks, names_axes = Marks(), False
    if isinstance(source, Matrix):
        matrix = _of_matrix(source, format, options)
    elif isinstance(source, (str, os.PathLike)) or callable(getattr(source, "read", None)):
        wanted = (beside and names is None, beside and cell_names is None)
        matrix, marks, names_axes = _of_file(source, format, options, strict, wanted)
    else:
        matrix, marks = _of_object(source, format, options)
    if options.evidence != "calls" and (
        given_flags := [flag_of(one) for one in options.given if one in _OF_CALLS]
    ):
        logger.info("%s: of calls alone; the evidence of all entries is used", ", ".join(given_flags))
    whole = with_cell_names(with_names(matrix, names), cell_names)
    matrix = limited(whole, limits, marks)
    if out := matrix.left_out[len(whole.left_out) :]:
        logger.warning("left out: %s", left_out_words(out))
    return matrix if isinstance(source, Matrix) else warned(matrix, names_axes=names_axes)


@contextmanager
def without_messages() -> Iterator[None]:
    """Log nothing on inputs that are read in this context, such as those that were read before."""
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _of_matrix(matrix: Matrix, format: str, options: ReadOptions) -> Matrix:
    """Return a matrix that has already been read; no option applies to it."""
    if options.given or format != "auto":
        option = next(iter(options.given), "format")
        raise OptionError(f"{flag_of(option)} does not go with a Matrix", hint="it has been read before")
    return matrix


def _of_object(source: object, format: str, options: ReadOptions) -> tuple[Matrix, Marks]:
    """Return the matrix of an array, a data frame or an AnnData, and the marks that it has."""
    from syclade.host.data.input.tables import (
        OF_ARRAYS,
        is_anndata,
        is_frame,
        marks_of,
        of_anndata,
        of_array,
        of_frame,
    )

    if format != "auto":
        raise OptionError(
            f"{flag_of('format')} {format} is for files", hint=f"leave it out for a {type(source).__name__}"
        )
    if source is None or isinstance(source, (bool, int, float, bytes)):
        raise MatrixError(f"the matrix is {shown(source)}, which is not a path, a stream or an array")
    if is_anndata(source):
        return of_anndata(source, options), marks_of(source, options)
    if is_frame(source):
        return of_frame(source, options), Marks()
    wrong = next((option for option in options.given if option not in OF_ARRAYS), None)
    if wrong is not None and hasattr(source, "to_frame"):
        raise MatrixError("a Series is one column of a matrix", hint="give the whole DataFrame")
    if wrong is not None:
        raise OptionError(
            f"{flag_of(wrong)} does not go with an array", hint="rows are mutations, and 2 is homozygous"
        )
    return (of_array(source, options) if options.given else matrix_from_array(source)), Marks()


def _of_file(
    file: File,
    format: str,
    options: ReadOptions,
    strict: bool,
    beside: tuple[bool, bool],
) -> tuple[Matrix, Marks, bool]:
    """Read a file, folder or stream, the marks that it has, and whether its format names its axes.

    Args:
        file, format, options, strict: as for `read_matrix`.
        beside: whether to look for names of mutations, and of cells.
    """
    source = Source.of(file)
    try:
        if format != "auto":
            grid, digest = _read(source, format, options)
        else:
            format, grid, digest = _read_detected(source, options, strict)
    except MatrixError as problem:
        problem.path = source.name if problem.path is None else problem.path
        raise
    if grid.also:
        digest = hashlib.sha256("".join((digest, *grid.also)).encode()).hexdigest()
    for note in grid.notes:
        logger.info("%s: %s", source.name, note)
    missing = float((grid.values == MISSING).mean())
    if missing > MUCH_MISSING:
        logger.warning("%s: %.0f %% of the entries are missing", source.name, 100 * missing)
    mutations = grid.mutations or default_names(grid.values.shape[0])
    matrix = Matrix(
        grid.values,
        mutations,
        source.name,
        digest,
        grid.cells,
        evidence=grid.evidence,
        labels=grid.labels,
        places=grid.places,
        about=grid.about,
        says_homozygous=format != "scite" or options.two is not None,
    )
    names_axes = FORMATS[format].names_axes
    if source.path is None:
        return matrix, grid.marks, names_axes
    if format == "scite":
        matrix = _with_names_beside(matrix, source.path, beside)
    if not matrix.about and (about := read_about(source.path, matrix.mutations)):
        matrix = replace(matrix, places=about[0] or matrix.places, about=about[1])
    return matrix, grid.marks, names_axes


def _with_names_beside(matrix: Matrix, path: Path, beside: tuple[bool, bool]) -> Matrix:
    """Return a matrix with the names of the files beside it; arguments as for `_of_file`."""
    shape = matrix.values.shape
    if beside[0] and (found := read_name_file(path, shape, "mutation")):
        matrix = replace(matrix, names_from=found[0], mutations=found[1])
    if beside[1] and (found := read_name_file(path, shape, "cell")):
        matrix = replace(matrix, cell_names_from=found[0], cells=found[1])
    return matrix


def _read_detected(source: Source, options: ReadOptions, strict: bool) -> tuple[str, Grid, str]:
    """Return the format that the content of a source shows, its grid, and the SHA-256 of its content."""
    format = detect_folder(source.name) if source.is_folder else detect_format(source.head(), source.name)
    if format == HDF5:
        path, digest = source.whole()
        return *read_in_subprocess(_read_hdf5, path, options), digest
    if format != "scite":
        return format, *_read(source, format, options, ", which was detected")
    if not strict:
        options = options.with_two("homozygous")
    why = ", which is assumed where no other format fits"
    try:
        _format(format, options, why)
    except OptionError:
        _read(source, format, ReadOptions(two="homozygous"))  # an empty file, say: that is the first reason
        raise
    try:
        return format, *_read(source, format, options, why)
    except MatrixError as problem:
        if problem.column is not None:
            problem.hint = f"{problem.hint}; SCITE's format is assumed, because no other fits"
        raise


def _read_hdf5(path: Path, options: ReadOptions) -> tuple[str, Grid]:
    """Return the format that the groups of an HDF5 file show, and its grid."""
    format = hdf5_format(path)
    return format, _format(format, options, ", which was detected").read(path, options)


def _format(name: str, options: ReadOptions, why: str) -> Format:
    """Return a format by its name, after a check that the options apply to it."""
    return format_for(name, options.given, why, evidence=options.evidence)


def _read(source: Source, format: str, options: ReadOptions, why: str = "") -> tuple[Grid, str]:
    """Return the grid of a source in a format, and the SHA-256 of its content."""
    chosen = _format(format, options, why)
    if not chosen.whole:
        text, digest = source.text()
        return chosen.read(text, source.name, options), digest
    path, digest = source.whole()
    reading = (
        read_in_subprocess(chosen.read, path, options) if chosen.in_subprocess else chosen.read(path, options)
    )
    return reading, digest
