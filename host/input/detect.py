"""Format detection by the first two lines of a file, never by its name; codings are never guessed."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable
from pathlib import Path

from syclade.host.common.errors import MatrixError
from syclade.host.input.reader import ALLOWED, values_of
from syclade.host.input.textfile import GZIP, excerpt
from syclade.host.options import flag_of

__all__ = ["HDF5", "detect_folder", "detect_format"]

HDF5 = "hdf5"
"""Stands for the formats in HDF5 files: only the groups in a file show which it is (`hdf5_format`)."""

_SIGNATURES = {b"\x89HDF\r\n\x1a\n": HDF5, b"BCF\2": "bcf"}
_BINARY = "bcf, h5ad, tapestri, loom"
_NOT_TEXT = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BARE = re.compile(r"[-+0-9.?nNaA \t\v\f]*")
_COUNT = re.compile(r"[0-9]{1,9}")
_READS = re.compile(r"[0-9]+:[0-9]+(?::[0-9])?")
_VALUES = frozenset(map(str, ALLOWED))


def detect_format(head: bytes, path: str) -> str:
    """Return the format of a file, a name in `FORMATS`, or HDF5.

    Args:
        head: the beginning of the file, decompressed: its first two lines, if it is text.
        path: the file, for messages.

    Raises:
        MatrixError: no format fits; or it is a table with names, whose rows may be cells or mutations.
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
    reasons = {}
    for form, why_not in _TEXTS.items():
        reason = why_not(first, second)
        if reason is None:
            return form
        reasons[form] = reason
    for form, separator in (("csv", ","), ("tsv", "\t")):
        reason = _why_no_table(first, second, separator)
        if reason is None:
            raise MatrixError(
                "this is a table with names, whose rows may be cells or mutations",
                path=path,
                line=1,
                hint=f"give {flag_of('format', form)} {flag_of('rows', 'cells')}, or "
                f"{flag_of('rows', 'mutations')}",
            )
        reasons[form] = reason
    values = [field in _VALUES for field in first.split()]
    if not values[0] or 2 * sum(values) < len(values):
        _refuse(lines[found[0]], found[0] + 1, reasons, path)
    return "scite"


def _refuse(line: str, number: int, reasons: dict[str, str], path: str) -> None:
    """Raise a MatrixError that names every format that was tried, and why the file does not have it."""
    try:
        values_of(line.encode(), path)
    except MatrixError as problem:
        told = "; ".join(f"{reason} ({form})" for form, reason in reasons.items())
        message = f"no format fits: {problem.message} (scite); {told}; not binary ({_BINARY})"
        hint = f"if it is in one of these formats, give {flag_of('format')}; for scite, {problem.hint}"
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


def _why_no_table(first: str, second: str, separator: str) -> str | None:
    """Return why two lines do not begin a table with names; None if they do."""
    if separator not in first:
        return f"no {'tabs' if separator == chr(9) else 'commas'}"
    if not second.strip():
        return "only one line"
    try:
        names, values = (next(csv.reader([line], delimiter=separator), []) for line in (first, second))
    except csv.Error as problem:
        return f"no table: {problem}"
    if len(names) != len(values):
        return f"{len(names)} and {len(values)} fields in the first two lines"
    return "no names in the first line" if _BARE.fullmatch(names[-1].strip()) else None


def detect_folder(name: str) -> str:
    """Return the format of a folder.

    Raises:
        MatrixError: the folder has no known format.
    """
    if (Path(name) / "cellSNP.samples.tsv").exists():
        return "cellsnp"
    raise MatrixError(
        "this is a directory, not a file", path=name, hint="of folders, those of cellsnp-lite are read"
    )
