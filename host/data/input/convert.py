"""Conversion of matrices: their files in the formats that syclade writes, and several joined into one.

Matrices of one tumour are joined with the cells of all files, under the union of their mutations.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Evidence, Likelihoods, Reads, about_table, joined_about
from syclade.host.data.input.checks import FILE, MISSING, left_out_table
from syclade.host.data.input.formats.folders import ALTERNATE, LOG_ODDS, TOTAL
from syclade.host.data.input.label_table import SAMPLE
from syclade.host.data.input.matrix import Matrix, format_matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import MatrixError, OptionError, OutputError
from syclade.host.ground.files import tsv_text, write_files
from syclade.host.ground.options import Reading, flag_of
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import path_of, shown

__all__ = [
    "MATRIX_FORMATS",
    "convert",
    "evidence_tables",
    "join",
    "matrix_files",
    "measured_by",
    "table_text",
]

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
    write_files(place, files, force, _inputs_of(matrix))
    return list(files)


def _inputs_of(matrix: Matrix) -> dict[str, object]:
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
    cells = matrix.named_cells
    more: dict[str, Content] = {}
    if any(matrix.about.values()):
        more["matrix.mutations.tsv"] = about_table(matrix.mutations, matrix.places, matrix.about)
    if matrix.left_out:
        more[FILE] = left_out_table(matrix.left_out)
    if to == "scistree2":
        return {"matrix.haploid": _scistree_text(matrix), **more}
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


def evidence_tables(matrix: Matrix) -> dict[str, Content]:
    """Return tables of the evidence of a matrix by file name; none without evidence.

    They are alternate.tsv and total.tsv, or log_odds.tsv: rows are mutations, and columns cells.
    """
    tables: dict[str, NDArray[np.int32] | NDArray[np.float64]] = {}
    if isinstance(matrix.evidence, Reads):
        tables = {ALTERNATE: matrix.evidence.alternate, TOTAL: matrix.evidence.total}
    elif isinstance(matrix.evidence, Likelihoods):
        tables = {LOG_ODDS: matrix.evidence.log_odds}
    cells = matrix.named_cells
    return {
        name: tsv_text(
            ("mutation", *cells),
            ((mutation, *row) for mutation, row in zip(matrix.mutations, table.tolist(), strict=True)),
        )
        for name, table in tables.items()
    }


def table_text(matrix: Matrix) -> tuple[str, dict[str, str]]:
    """Return the evidence of a matrix as one table, and the options by which `read_matrix` reads it.

    Reads have COMPASS' format, and likelihoods are a table of log odds.
    """
    cells = matrix.named_cells
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("NAME", *cells))
    if isinstance(matrix.evidence, Reads):
        pairs = (matrix.evidence.total - matrix.evidence.alternate, matrix.evidence.alternate)
        for name, *rows in zip(matrix.mutations, *(one.tolist() for one in pairs), strict=True):
            table.writerow((name, *(f"{other}:{alternate}" for other, alternate in zip(*rows, strict=True))))
        return text.getvalue(), {"format": "compass", "evidence": "reads"}
    assert isinstance(matrix.evidence, Likelihoods)
    for name, row in zip(matrix.mutations, matrix.evidence.log_odds.tolist(), strict=True):
        table.writerow((name, *row))
    reading = {"format": "csv", "evidence": "likelihoods", "rows": "mutations", "coding": "log"}
    return text.getvalue(), reading


def _scistree_text(matrix: Matrix) -> str:
    """Return the text of ScisTree2's HAPLOID format: probabilities of the wild type, mutated or not alike.

    Raises:
        MatrixError: the matrix has no likelihoods, or a name has blanks.
    """
    if not isinstance(matrix.evidence, Likelihoods):
        raise MatrixError(
            "ScisTree2's format has probabilities, and the matrix has none",
            hint=f"give {flag_of('evidence', 'likelihoods')} and a file that has them",
        )
    cells = matrix.named_cells
    for name in (*matrix.mutations, *cells):
        if len(name.split()) > 1:
            raise MatrixError(
                f"the name {name!r} has blanks, which separate the values of ScisTree2's format",
                hint=f"give other names: {flag_of('names')} FILE or {flag_of('cell_names')} FILE",
            )
    with np.errstate(over="ignore"):
        wild = 1.0 / (1.0 + np.exp(matrix.evidence.log_odds))
    lines = [" ".join(("HAPLOID", str(len(matrix.mutations)), str(len(cells)), *cells))]
    for mutation, row in zip(matrix.mutations, wild.tolist(), strict=True):
        lines.append(" ".join((mutation, *(repr(value) for value in row))))
    return "\n".join(lines) + "\n"


Entry = TypeVar("Entry", np.uint8, np.int32, np.float64)


def join(matrices: Sequence[Matrix], samples: Sequence[str]) -> Matrix:
    """Return one matrix with the cells of all; a mutation that a file does not have is missing in its cells.

    Mutations are the same if position and alleles are, or, where one of the matrices has none of these, if
    names are; they keep the order in which the files have them first. Different ones that share a name get
    their places added. Columns about mutations, such as FREQ, are kept; where the files differ, all values
    are, with a warning. Cells are named ``SAMPLE:CELL``, and have their sample as a label, by which `infer`
    compares specimens.

    Args:
        matrices: at least two, with evidence of one kind, or none.
        samples: the name of each, all distinct.

    Raises:
        MatrixError: there are fewer than two matrices, or something else, as many names are not given, names
            are equal, no mutation is in two of them, or their evidence differs in kind.
    """
    given: Sequence[object] = matrices
    if other := [type(one).__name__ for one in given if not isinstance(one, Matrix)]:
        raise MatrixError(f"{other[0]} is no Matrix", hint="read each file or table by syclade.read_matrix")
    if len(matrices) < 2 or len(matrices) != len(samples):
        raise MatrixError(
            f"{len(matrices)} matrices and {len(samples)} names of samples were given",
            hint="give at least two matrices, and a name for each",
        )
    twice = [name for name, count in Counter(samples).items() if count > 1]
    if twice:
        raise MatrixError(
            f"two matrices are of the sample {twice[0]!r}",
            hint=f"give each a name of its own: {flag_of('samples')} NAME,NAME",
        )
    rows, mutations, places = _matched(matrices)
    if len(mutations) == sum(one.n_mutations for one in matrices):
        raise MatrixError(
            "no mutation is in two of the matrices",
            hint="names, or positions and alleles, have to be equal, such as chr1:100:A/C in all files",
        )
    values = np.concatenate(
        [_spread(one.values, at, len(mutations), MISSING) for one, at in zip(matrices, rows, strict=True)],
        axis=1,
    )
    renamed = [
        {name: mutations[row] for name, row in zip(one.mutations, own.tolist(), strict=True)}
        for one, own in zip(matrices, rows, strict=True)
    ]
    names, labels = [], []
    for one, sample in zip(matrices, samples, strict=True):
        names += [f"{sample}:{cell}" for cell in one.named_cells]
        labels += [sample] * one.n_cells
    return Matrix(
        np.ascontiguousarray(values),
        mutations,
        " + ".join(one.source for one in matrices),
        cells=tuple(names),
        evidence=_joined_evidence([one.evidence for one in matrices], rows, len(mutations)),
        labels={SAMPLE: tuple(labels)},
        says_homozygous=any(one.says_homozygous for one in matrices),
        places=places,
        about=joined_about([one.about for one in matrices], renamed),
    )


def measured_by(matrices: Sequence[Matrix]) -> dict[str, int]:
    """Return how many of the matrices have each mutation of `join`, in its order."""
    rows, mutations, _ = _matched(matrices)
    counts = np.bincount(np.concatenate(rows), minlength=len(mutations)).tolist()
    return dict(zip(mutations, counts, strict=True))


def _matched(
    matrices: Sequence[Matrix],
) -> tuple[list[NDArray[np.int64]], tuple[str, ...], dict[str, str]]:
    """Return the row of each matrix's mutations in the joined one, the names there, and their places."""
    names: list[str] = []
    places: list[str] = []
    rows = []
    for one in matrices:
        by_place = {place: at for at, place in enumerate(places) if place}
        by_name = {
            (name, bool(place)): at for at, (name, place) in enumerate(zip(names, places, strict=True))
        }
        own = []
        for name in one.mutations:
            place = one.places.get(name, "").removeprefix("chr")
            if place:
                at = by_place.get(place, by_name.get((name, False)))
            else:
                at = by_name.get((name, False), by_name.get((name, True)))
            if at is None:
                at = len(names)
                names.append(name)
                places.append(place)
            own.append(at)
        rows.append(np.array(own))
    shared = {name for name, count in Counter(names).items() if count > 1}
    full = [
        f"{name} {place}" if name in shared and place else name
        for name, place in zip(names, places, strict=True)
    ]
    return rows, tuple(full), {name: place for name, place in zip(full, places, strict=True) if place}


def _spread(table: NDArray[Entry], rows: NDArray[np.int64], count: int, other: float) -> NDArray[Entry]:
    """Return a table with its rows at other places of `count`, and a value in the rows besides."""
    wide = np.full((count, table.shape[1]), other, dtype=table.dtype)
    wide[rows] = table
    return wide


def _joined_evidence(
    parts: Sequence[Evidence | None], rows: Sequence[NDArray[np.int64]], count: int
) -> Evidence | None:
    """Return the evidence of all cells; nothing is known of mutations that a file does not have."""
    kinds = {type(part) for part in parts}
    if len(kinds) > 1:
        raise MatrixError("one matrix has reads or likelihoods, and another has not", hint="read all alike")

    def joined(tables: Sequence[NDArray[Entry]]) -> NDArray[Entry]:
        wide = [_spread(table, at, count, 0) for table, at in zip(tables, rows, strict=True)]
        return np.concatenate(wide, axis=1)

    reads = [part for part in parts if isinstance(part, Reads)]
    if reads:
        return Reads(joined([one.alternate for one in reads]), joined([one.total for one in reads]))
    likelihoods = [part for part in parts if isinstance(part, Likelihoods)]
    return Likelihoods(joined([one.log_odds for one in likelihoods])) if likelihoods else None
