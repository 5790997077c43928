"""Format detection by the first two lines of a file, never by its name; codings are never guessed.

A matrix that was read may show signs of a wrong input: rows that are cells, mutations in nearly all cells.
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from syclade.host.data.input.evidence import Reads
from syclade.host.data.input.formats.counts import why_not_long
from syclade.host.data.input.formats.folders import LOG_ODDS, TOTAL
from syclade.host.data.input.formats.grid import words_hint
from syclade.host.data.input.formats.tabular import no_value_in, why_no_table
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.reader import ALLOWED, is_value, values_of
from syclade.host.data.input.textfile import GZIP, excerpt
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import is_file
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, listed

__all__ = [
    "HDF5",
    "detect_folder",
    "detect_format",
    "warned",
]


HDF5 = "hdf5"
"""Stands for the formats in HDF5 files: only the groups in a file show which it is (`hdf5_format`)."""

_SIGNATURES = {b"\x89HDF\r\n\x1a\n": HDF5, b"BCF\2": "bcf"}
_BINARY = "bcf, h5ad, tapestri, loom"
_NOT_TEXT = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_COUNT = re.compile(r"[0-9]{1,9}")
_READS = re.compile(r"[0-9]+:[0-9]+(?::[0-9])?")
_VALUES = frozenset(map(str, ALLOWED))
_LEAST_NUMBERED = 5
_LEAST_LONG = 4
"""Least fields of a table of reads: a mutation, a cell, and two numbers at the end."""


def detect_format(head: bytes, path: str) -> str:
    """Return the format of a file, a name in `FORMATS`, or HDF5.

    Args:
        head: the beginning of the file, decompressed: its first two lines, if it is text.
        path: the file, for messages.

    Raises:
        MatrixError: no format fits.
    """
    for signature, form in _SIGNATURES.items():
        if head.startswith(signature):
            return form
    if head.startswith(GZIP):
        raise MatrixError("the file is compressed twice", path=path, hint="decompress it once, by gunzip")
    if b"\0" in head or head.startswith(_NOT_TEXT):
        return "scite"  # not text: its reader reports that
    text = head.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = text.decode("utf-8", "replace").split("\n")
    found = [number for number, line in enumerate(lines) if line.strip()]
    if not found:
        return "scite"  # empty: its reader reports that
    first, second = (lines[at].strip(" ") if at is not None else "" for at in (*found, None)[:2])
    reasons = {form: why_not(first, second) for form, why_not in _TEXTS.items()}
    reasons["sifit"] = _why_not_sifit(lines)
    reasons["long"] = why_not_long(first, second)
    for form in ("csv", "tsv"):
        reasons[form] = why_no_table(first, second, form)
    for form, reason in reasons.items():
        if reason is None:
            return form
    values = [is_value(field) for field in first.split()]
    if not values[0] or 2 * sum(values) < len(values):
        at = found[1] if len(found) > 1 else found[0]
        if "NAME" not in first:
            _refuse_symbol(first, second, at + 1, path)
        _refuse(lines[found[0]], found[0] + 1, reasons, path)
    return "scite"


def _refuse_symbol(first: str, second: str, number: int, path: str) -> None:
    """Raise a MatrixError if the lines are a table with names, and a word or genotype in place of a value."""
    found = no_value_in(first, second)
    hint = "" if found is None else words_hint(found.text)
    if found is not None and hint and (found.place == 1 or 2 * found.others <= found.of):
        where = f"value {found.place} of the row"
        if found.column:
            where += f", column {excerpt(found.column, 20)}"
        raise MatrixError(
            f"{excerpt(found.text.strip())} ({where}) is not a value of a table",
            path=path,
            line=number,
            hint=f"values are 0, 1, 2, 3 or NA{hint}; another format needs {flag_of('format')}",
        )


def _refuse(line: str, number: int, reasons: dict[str, str | None], path: str) -> None:
    """Raise a MatrixError that names every format that was tried, and why the file does not have it."""
    try:
        values_of(line.encode(), path)
    except MatrixError as problem:
        tried = "; ".join(f"{reason} ({form})" for form, reason in reasons.items())
        message = f"no format fits: {problem.message} (scite); {tried}; not binary ({_BINARY})"
        hint = f"if it is in one of these formats, give {flag_of('format')}; for scite, {problem.hint}"
        fields = line.replace(",", " ").split()
        if len(fields) >= _LEAST_LONG and all(map(_COUNT.fullmatch, fields[-2:])) and not is_value(fields[0]):
            columns = f"{flag_of('columns')} cell=3,mutation=1+2,alt=5,total=6"
            hint = (
                f"if it has a row for each mutation and cell, give {flag_of('format')} long, and which "
                f"columns have what, such as {columns}; {hint}"
            )
        raise MatrixError(message, path=path, line=number, column=problem.column, hint=hint) from None


def _begins(pattern: str, words: str) -> Callable[[str, str], str | None]:
    """Return a test of the first line: why the file does not have a format, or None if it has."""
    fits = re.compile(pattern).match
    return lambda first, second: None if fits(first) else f"no {words}"


def _why_not_sphyr(first: str, second: str) -> str | None:
    if re.match(r"\s*[0-9]+\s*#\s*cells", first):
        return None
    sizes = first.strip(), second.strip()
    if all(map(_COUNT.fullmatch, sizes)) and not _VALUES.issuperset(sizes):  # or SCITE's, of a single cell
        return None
    return "no number and #cells"


def _why_not_condor(first: str, second: str) -> str | None:
    return None if re.search(r",\s*\"?cluster_id\"?\s*$", first) else "no last column cluster_id"


def _why_not_compass(first: str, second: str) -> str | None:
    if not re.search(r"(?:^|,)\s*\"?NAME\"?\s*(?:,|$)", first):
        return "no column NAME"
    if not second.strip():
        return None  # a header alone, which its reader reports
    entry = second.rpartition(",")[2].strip(' "\t')
    return None if _READS.fullmatch(entry) else f"{excerpt(entry, 20)} is not ref:alt or ref:alt:genotype"


_TEXTS: dict[str, Callable[[str, str], str | None]] = {
    "vcf": _begins(r"##fileformat=VCF|##[A-Za-z]+=|#CHROM\s", "##fileformat=VCF or #CHROM at the beginning"),
    "scistree2": _begins("HAPLOID", "HAPLOID"),
    "sphyr": _why_not_sphyr,
    "sc": _begins(r"cellID(?:x|/)mutID(?:\t|$)", "corner cellIDxmutID or cellID/mutID"),
    "condor": _why_not_condor,
    "compass": _why_not_compass,
}
"""Formats that the first two lines of a text show: why it does not have each, or None if it has."""


def _why_not_sifit(lines: list[str]) -> str | None:
    """Return why lines do not begin with a number of their own; of five numbers, not all can be values."""
    rows = [line.split() for line in lines if line.strip()]
    if len(rows[-1]) < len(rows[0]):  # cut off at the end of what is inspected
        rows = rows[:-1]
    numbers = {row[0] for row in rows}
    numbered = len(numbers) == len(rows) >= _LEAST_NUMBERED and all(map(_COUNT.fullmatch, numbers))
    values = all(len(row) == len(rows[0]) > 1 and all(map(is_value, row[1:])) for row in rows)
    return None if numbered and values else "no lines that begin with their numbers"


_FOLDERS = (
    ("folder", TOTAL),
    ("folder", LOG_ODDS),
    ("mquad", "passed_ad.mtx"),
    ("cellsnp", "cellSNP.samples.tsv"),
)
"""Formats of folders, and a file that each has: the first that fits. Simulations have cellsnp-lite's, too."""


def detect_folder(name: str) -> str:
    """Return the format of a folder.

    Raises:
        MatrixError: the folder has no known format.
    """
    for form, file in _FOLDERS:
        if any(is_file(Path(name) / f"{file}{ending}") for ending in ("", ".gz")):
            return form
    raise MatrixError(
        "this is a directory, not a file",
        path=name,
        hint="only folders of cellsnp-lite, of MQuad and with the evidence of syclade convert can be read",
    )


logger = logging.getLogger("syclade.input")

_MISSING = 3
_IN_NEARLY_ALL, _FEWEST_CELLS = 0.95, 20
"""Part of the cells with a value, of at least so many, from which a variant may be a germline one."""

_MANY, _MOST_CELLS = 10, 100
"""Mutations for each cell from which rows may be cells, and the number of cells from which they are not."""

_LEAST_READS, _MOSTLY = 5, 0.5
"""Reads of a cell from which its alleles count, and part of the cells with alternate reads that have no
others, from which a mutation is named."""

_BARCODE = re.compile(r"(?:.*[^A-Za-z])?[ACGT]{8,}(?:[-_.]\w{1,8})?|cell[-_. ]?\d+", re.IGNORECASE)
_VARIANT = re.compile(r"(?:chr)?[0-9XYM]{1,2}[:_]\d+\b.*|.*\b[pc]\.[A-Z*_\d].*", re.IGNORECASE)
_FEWEST_NAMES = 3


def warned(matrix: Matrix) -> Matrix:
    """Return a matrix with what is suspicious of it, which is logged: exchanged axes, germline variants."""
    found = _input_warnings(matrix)
    if (
        not _of_names(matrix)
        and _MANY * matrix.n_cells <= matrix.n_mutations
        and (2 <= matrix.n_cells < _MOST_CELLS)
    ):
        logger.info(
            "%s: %s mutations of %s cells: if its rows are cells, rows and columns are exchanged",
            matrix.source, matrix.n_mutations, matrix.n_cells,
        )  # fmt: skip
    for words in found:
        logger.warning("%s", words)
    return replace(matrix, warnings=(*matrix.warnings, *found)) if found else matrix


def _input_warnings(matrix: Matrix) -> list[str]:
    """Return what is suspicious of a matrix."""
    suspicions = (_of_names, _of_frequent, _of_common, _of_lost_alleles)
    return [words for one in suspicions if (words := one(matrix))]


def _of_names(matrix: Matrix) -> str:
    """Return a warning if names of rows look like cells, or names of columns like mutations."""
    rows = _share_of(_BARCODE, matrix.mutations) > 0.5
    columns = _share_of(_VARIANT, matrix.cells or ()) > 0.5
    if not rows and not columns:
        return ""
    name = matrix.mutations[0] if rows else (matrix.cells or ("",))[0]
    looks, read = ("cell", "mutations") if rows else ("mutation", "cells")
    return (
        f"{matrix.source}: rows and columns may be exchanged: {name} looks like the name of a {looks}, "
        f"and is read as one of the {read}"
    )


def _share_of(pattern: re.Pattern[str], names: Sequence[str]) -> float:
    """Return the part of some names that have a form; 0 of too few."""
    if len(names) < _FEWEST_NAMES:
        return 0.0
    return sum(pattern.fullmatch(name) is not None for name in names) / len(names)


def _of_frequent(matrix: Matrix) -> str:
    """Return a warning of variants that the source has as frequent in the population."""
    there = [name for name in matrix.mutations if name in matrix.frequent]
    if not there:
        return ""
    return (
        f"{counted(len(there), 'mutation is', 'mutations are')} frequent in the population by FREQ "
        f"({listed(there)}): germline variants are in all cells, also normal ones, and make no clones: cells "
        "without one have lost an allele; leave them out of the table"
    )


def _of_common(matrix: Matrix) -> str:
    """Return a warning of other mutations that are seen in nearly all cells with a value."""
    known = (matrix.values != _MISSING).sum(axis=1)
    seen = ((matrix.values == 1) | (matrix.values == 2)).sum(axis=1)
    nearly_all = np.flatnonzero((known >= _FEWEST_CELLS) & (seen >= _IN_NEARLY_ALL * known)).tolist()
    rows = [row for row in nearly_all if matrix.mutations[row] not in matrix.frequent]
    if not rows:
        return ""
    shares = listed([f"{matrix.mutations[row]} {seen[row] / known[row]:.1%}" for row in rows])
    return (
        f"{counted(len(rows), 'mutation is', 'mutations are')} seen in at least {100 * _IN_NEARLY_ALL:.0f} % "
        f"of the cells with a value ({shares}): germline variants are in all cells, also normal ones, and "
        "make no clones: leave those out; in a sample without normal cells they may be the first mutations "
        "of the tumour"
    )


def _of_lost_alleles(matrix: Matrix) -> str:
    """Return a warning of mutations whose cells have, mostly, alternate reads alone."""
    reads = matrix.evidence
    if not isinstance(reads, Reads):
        return ""
    mutated = (reads.total >= _LEAST_READS) & (2 * reads.alternate >= reads.total)
    alone, cells = (mutated & (reads.alternate == reads.total)).sum(axis=1), mutated.sum(axis=1)
    rows = np.flatnonzero((cells >= _FEWEST_CELLS) & (alone > _MOSTLY * cells)).tolist()
    if not rows:
        return ""
    shares = listed([f"{matrix.mutations[row]} {alone[row] / cells[row]:.0%}" for row in rows])
    return (
        f"in most cells with {counted(len(rows), 'mutation', 'mutations')} all reads are alternate "
        f"({shares}): the normal allele is lost, or the cells are homozygous; the model of reads takes "
        "cells as heterozygous and explains this by dropout, so that cells without the mutation say little: "
        f"compare with {flag_of('evidence', 'calls')}"
    )
