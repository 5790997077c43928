"""A matrix in files of another format: the command `syclade convert`, and `syclade.convert`."""

from __future__ import annotations

from typing import Unpack

from syclade.host.data.input.annotations import about_table
from syclade.host.data.input.checks import FILE, left_out_table
from syclade.host.data.input.conversion import evidence_tables, scistree_text
from syclade.host.data.input.matrix import Matrix, format_matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.trees.cells import default_cell_names
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError, OutputError
from syclade.host.ground.files import write_files
from syclade.host.ground.options import Reading
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import path_of, shown

__all__ = ["MATRIX_FORMATS", "convert", "matrix_files"]

MATRIX_FORMATS = ("scite", "sc", "scistree2")
"""Formats that a matrix can be written in."""


def convert(
    source: object, directory: AnyPath, to: str = "scite", *, force: bool = False, **reading: Unpack[Reading]
) -> list[str]:
    """Write a matrix in another format, as `syclade convert` does.

    Args:
        source: a `Matrix`, or what `read_matrix` takes.
        directory: the directory for the files; created if necessary.
        to: scite (matrix.csv with files of names, and the evidence), sc (matrix.SC, for scphylo and PhISCS)
            or scistree2 (matrix.haploid, of a matrix with likelihoods).
        force: whether to replace existing files.
        reading: options of `read_matrix`.

    Returns:
        The names of the files.

    Raises:
        OptionError: there is no such format, or an option does not apply.
        MatrixError: the matrix cannot be read, or the format cannot hold it.
        OutputError: files exist and `force` is not given, or they cannot be written.
    """
    if to not in MATRIX_FORMATS:
        raise OptionError(
            f"the format is {shown(to)}",
            hint=f"use one of {', '.join(MATRIX_FORMATS)}; trees have to_form",
        )
    place = path_of("the directory", directory, OutputError)
    matrix = read_matrix(source, **reading)
    files = matrix_files(matrix, to)
    write_files(place, files, force, inputs_of(matrix))
    return list(files)


def inputs_of(matrix: Matrix) -> dict[str, object]:
    """Return the files that a matrix was read from, which are never overwritten, by what they are."""
    return {
        "the matrix": None if matrix.file_sha256 is None else matrix.source,
        "the names of the mutations": matrix.names_from,
        "the names of the cells": matrix.cell_names_from,
    }


def matrix_files(matrix: Matrix, to: str) -> dict[str, Content]:
    """Return the contents of the files of a matrix in a format, by file name, with what was left out.

    Args:
        matrix: the matrix.
        to: one of `MATRIX_FORMATS`.
    """
    cells = matrix.cells or default_cell_names(matrix.n_cells)
    more: dict[str, Content] = {}
    if any(matrix.about.values()):
        more["matrix.mutations.tsv"] = about_table(matrix.mutations, matrix.places, matrix.about)
    if matrix.left_out:
        more[FILE] = left_out_table(matrix.left_out)
    if to == "scistree2":
        return {"matrix.haploid": scistree_text(matrix), **more}
    if to == "sc":
        lines = ["\t".join(("cellIDxmutID", *matrix.mutations))]
        lines += ["\t".join((cell, *map(str, row))) for cell, row in zip(cells, matrix.values.T, strict=True)]
        return {"matrix.SC": "\n".join(lines) + "\n", **more}
    return {
        "matrix.csv": format_matrix(matrix.values),
        "matrix.geneNames": "\n".join(matrix.mutations) + "\n",
        "matrix.cellNames": "\n".join(cells) + "\n",
        **evidence_tables(matrix),
        **more,
    }
