"""VCF of single-cell callers: one record per site, one sample per cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.input.formats.lines import lines_of
from syclade.host.input.textfile import excerpt
from syclade.host.options import flag_of

__all__ = ["NO_ALLELES", "check_caller", "read_vcf"]

_FIXED = 9  # columns before the samples, FORMAT included
NO_ALLELES = frozenset((".", "*", "<NON_REF>"))
"""Symbols in the column ALT that are no allele."""

_GENOTYPE = re.compile(r"(?:[0-9]{1,4}|\.)(?:[/|](?:[0-9]{1,4}|\.))*")


def read_vcf(data: bytes, path: str, asked: Asked) -> Grid:
    """Read VCF 4 (hts-specs): one row per alternate allele, named CHROM:POS:REF/ALT; samples are cells.

    The value is 0 for no copy of the allele, 1 for some, 2 for all (also one of one), and 3 for a genotype
    that is not known. Records without GT or without an alternate allele are skipped. Calls with fewer than
    ``min_depth`` reads (DP) are missing.

    Raises:
        MatrixError: an error in the file, with the line; a file from SCIPhI, which also calls genotypes
            without reads, and ``min_depth`` is not given.
    """
    refuse_two(asked, "mutations", path)
    lines = lines_of(data, path)
    head = next((number for number, line in enumerate(lines) if line.startswith("#CHROM\t")), None)
    if head is None:
        raise MatrixError("the file has no line #CHROM", path=path, hint="is it a VCF, with tabs?")
    cells = [name.strip() for name in lines[head].split("\t")[_FIXED:]]
    check_caller(lines[:head], asked, path)
    names: list[str] = []
    rows: list[list[int]] = []
    for number, line in enumerate(lines[head + 1 :], head + 2):
        fields = line.split("\t")
        if len(fields) != _FIXED + len(cells):
            raise MatrixError(
                f"the record has {len(fields)} columns, but the header {_FIXED + len(cells)}",
                path=path,
                line=number,
            )
        calls = _calls(fields, asked.min_depth, path, number)
        for which, allele in enumerate(fields[4].split(","), 1):
            if calls is not None and allele not in NO_ALLELES:
                names.append(f"{fields[0]}:{fields[1]}:{fields[3]}/{allele}")
                rows.append([_value(call, str(which)) for call in calls])
    if not rows or not cells:
        raise MatrixError("no record has genotypes (GT) of an alternate allele", path=path)
    return named_grid(rows, names, cells)


def check_caller(header: Iterable[str], asked: Asked, path: str) -> None:
    """Check that it is known which calls have reads: raise a MatrixError for SCIPhI's files.

    Args:
        header: the lines before the records.
        asked: the options; with ``min_depth``, the files are accepted.
        path: the file, for messages.
    """
    if asked.min_depth is None and any(line.startswith("##source=SCIPhI") for line in header):
        raise MatrixError(
            "SCIPhI also writes genotypes for cells without reads",
            path=path,
            hint=f"give the number of reads that a call needs: {flag_of('min_depth')} 1, or 0 for all",
        )


def _calls(fields: Sequence[str], min_depth: int | None, path: str, line: int) -> list[list[str]] | None:
    """Return the alleles of each cell in a record; None if the record has no genotypes."""
    keys = fields[8].split(":")
    if "GT" not in keys:
        return None
    if min_depth and "DP" not in keys:
        raise MatrixError(
            "the record has no DP", path=path, line=line, hint=f"leave out {flag_of('min_depth')}"
        )
    calls = []
    for number, sample in enumerate(fields[_FIXED:], 1):
        values = dict(zip(keys, sample.split(":"), strict=False))  # trailing fields may be omitted
        genotype = values["GT"].strip() if "GT" in values else "."
        if not _GENOTYPE.fullmatch(genotype):
            raise MatrixError(f"{excerpt(genotype)} (cell {number}) is not a genotype", path=path, line=line)
        depth = values.get("DP", ".").strip()
        if depth != "." and not re.fullmatch("[0-9]{1,9}", depth):
            raise MatrixError(f"{excerpt(depth)} (cell {number}) is not a DP", path=path, line=line)
        few = min_depth and (depth == "." or int(depth) < min_depth)
        calls.append(["."] if few else re.split("[/|]", genotype))
    return calls


def _value(call: Sequence[str], allele: str) -> int:
    """Return the value of a cell for an allele: 0, 1, 2 or 3."""
    if all(copy == "." for copy in call):
        return 3
    copies = sum(copy == allele for copy in call)
    return 0 if copies == 0 else 2 if copies == len(call) else 1
