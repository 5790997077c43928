"""Format detection by the first two lines of a file, never by its name; codings are never guessed."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from pathlib import Path

from syclade.host.data.input.formats.counts import why_not_long
from syclade.host.data.input.formats.folders import LOG_ODDS, TOTAL
from syclade.host.data.input.formats.grid import words_hint
from syclade.host.data.input.formats.plain import is_value, values_of
from syclade.host.data.input.formats.tabular import no_value_in, why_no_table
from syclade.host.data.input.matrix import ALLOWED
from syclade.host.data.input.source import GZIP
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import is_file
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = [
    "HDF5",
    "detect_folder",
    "detect_format",
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
    if head.startswith(b"%%MatrixMarket"):
        raise MatrixError(
            "the file has one table of several, and no names", path=path, hint="give the folder that it is in"
        )
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


def _has(folder: str, file: str) -> bool:
    """Return whether a folder has a file, plain or compressed."""
    return any(is_file(Path(folder) / f"{file}{ending}") for ending in ("", ".gz"))


def detect_folder(name: str) -> str:
    """Return the format of a folder.

    Raises:
        MatrixError: the folder has no known format.
    """
    for form, file in _FOLDERS:
        if _has(name, file):
            return form
    if _has(name, "cellSNP.tag.AD.mtx") or _has(name, "cellSNP.tag.DP.mtx"):
        raise MatrixError("the folder has no cellSNP.samples.tsv", path=name, hint="copy the folder in whole")
    raise MatrixError(
        "this is a directory, not a file",
        path=name,
        hint="only folders of cellsnp-lite, of MQuad and with the evidence of syclade convert can be read",
    )
