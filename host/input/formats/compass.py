"""COMPASS' table of variants: read counts, and optionally genotypes, of each cell."""

from __future__ import annotations

import re

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.input.formats.table import by_commas
from syclade.host.input.textfile import excerpt
from syclade.host.options import flag_of

__all__ = ["read_compass"]

_PLACE = ("CHR", "POS", "REF", "ALT")
_ABOUT = (*_PLACE, "REGION", "NAME", "FREQ")
_READS = re.compile(r"([0-9]{1,9}):([0-9]{1,9})(?::([0-3]))?")


def read_compass(data: bytes, path: str, asked: Asked) -> Grid:
    """Read COMPASS' `*_variants.csv` (Sollier et al. 2023): rows are mutations; ref:alt or ref:alt:genotype.

    Entries with fewer than ``min_depth`` reads are missing. Other entries without a genotype are called from
    their reads: 0 without alternate reads, 2 without reference reads, 1 with both. Variants of one NAME are
    distinguished by their positions and alleles.

    Raises:
        MatrixError: an error in the file, with the line; no genotypes, and ``min_depth`` is not given, or 0.
    """
    refuse_two(asked, "mutations", path)
    rows = by_commas(data, path)
    header = [name.strip() for name in rows[0]]
    if "NAME" not in header:
        raise MatrixError("the table has no column NAME", path=path, line=1)
    place = [header.index(name) for name in _PLACE] if set(_PLACE) <= set(header) else []
    columns = [column for column, name in enumerate(header) if name not in _ABOUT]
    cells = [header[column] for column in columns]
    names, places, values = [], [], []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise MatrixError(
                f"the row has {len(row)} fields, but the header {len(header)}", path=path, line=number
            )
        names.append(row[header.index("NAME")].strip())
        if place:
            chrom, position, ref, alt = (row[column].strip() for column in place)
            places.append(f"{chrom}:{position}:{ref}/{alt}")
        values.append([_value(row[column], asked.min_depth, path, number) for column in columns])
    if not values or not cells:
        missing = "cells" if values else "rows of variants"
        raise MatrixError(f"the table has a header, but no {missing}", path=path, line=1)
    return named_grid(values, names, cells, places)


def _value(text: str, min_depth: int | None, path: str, line: int) -> int:
    said = _READS.fullmatch(text.strip())
    if said is None:
        raise MatrixError(f"{excerpt(text)} is not ref:alt or ref:alt:genotype", path=path, line=line)
    ref, alt = int(said[1]), int(said[2])
    if said[3] is None and not min_depth:
        raise MatrixError(
            "there are reads but no genotypes",
            path=path,
            line=line,
            hint=f"give the number of reads that a call needs: {flag_of('min_depth')} N, 1 or more",
        )
    if min_depth and ref + alt < min_depth:
        return 3
    if said[3] is not None:
        return int(said[3])
    return 0 if alt == 0 else 2 if ref == 0 else 1
