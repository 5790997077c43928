"""cellsnp-lite's folder: read counts of each SNP (row) in each cell (column)."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.input.bounded import MOST_BYTES
from syclade.host.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.input.formats.hdf import require
from syclade.host.input.formats.lines import lines_of
from syclade.host.input.source import Source
from syclade.host.options import flag_of

__all__ = ["FILES", "HOMOZYGOUS", "read_cellsnp"]

FILES = ("cellSNP.samples.tsv", "cellSNP.tag.AD.mtx", "cellSNP.tag.DP.mtx")
"""Files of a folder, besides cellSNP.base.vcf or cellSNP.base.vcf.gz."""

HOMOZYGOUS = 90.0
"""Percentage of alternate reads from which a call is homozygous, without --vaf-hom."""

_SIZE = re.compile(rb"^\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,10})\s*$")


def read_cellsnp(path: Path, asked: Asked) -> Grid:
    """Read a folder and call genotypes from read counts.

    Calls with fewer than ``min_depth`` reads are missing. Others are 0 without alternate reads, 2 if at least
    ``vaf_hom`` per cent of the reads (90 by default) are alternate, and else 1.

    Raises:
        MatrixError: a file is missing or damaged; ``min_depth`` is not given, or 0.
    """
    refuse_two(asked, "mutations", str(path))
    if asked.min_depth is None or asked.min_depth < 1:
        raise MatrixError(
            "there are numbers of reads, and no genotypes",
            path=str(path),
            hint=f"give the number of reads that a call needs, 1 or more: {flag_of('min_depth')} N",
        )
    require("scipy")
    names, cells = _sites(path), lines_of(_bytes(path / FILES[0]), str(path / FILES[0]))
    cells = [name.strip() for name in cells if name.strip()]
    shape = (len(names), len(cells))
    alternate, depth = (_counts(path / name, shape) for name in FILES[1:])
    least = (HOMOZYGOUS if asked.vaf_hom is None else asked.vaf_hom) / 100.0
    called = np.where(alternate < 1, 0, np.where(alternate >= least * depth, 2, 1))
    values = np.where(depth < asked.min_depth, 3, called).astype(np.uint8)
    return named_grid(values, names, cells)


def _sites(folder: Path) -> list[str]:
    """Return the name of each row, CHROM:POS:REF/ALT."""
    packed, plain = folder / "cellSNP.base.vcf.gz", folder / "cellSNP.base.vcf"
    path = packed if packed.exists() else plain
    data = _bytes(path)
    names = []
    for number, line in enumerate(lines_of(data, str(path)), 1):
        fields = line.split("\t")
        if line.startswith("#") or not line.strip():
            continue
        if len(fields) < 5:
            raise MatrixError("the record has fewer than 5 columns", path=str(path), line=number)
        names.append(f"{fields[0]}:{fields[1]}:{fields[3]}/{fields[4].strip()}")
    return names


def _counts(path: Path, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Read a table of read counts; entries that are not in the file are 0."""
    import scipy.io

    data = _bytes(path)
    head = next((line for line in data[: 2**16].splitlines() if not line.startswith(b"%")), b"")
    sizes = _SIZE.match(head)
    if sizes is None or (int(sizes[1]), int(sizes[2])) != shape or shape[0] * shape[1] > MOST_BYTES:
        raise MatrixError(f"it is not a table of {shape[0]} SNPs × {shape[1]} cells", path=str(path))
    try:
        table = np.asarray(scipy.io.mmread(io.BytesIO(data)).toarray(), dtype=np.float64)
    except Exception as problem:  # the parser may raise anything
        raise MatrixError(f"cannot be read as a Matrix Market file: {problem}", path=str(path)) from None
    if table.shape != shape or not (table >= 0).all():
        raise MatrixError("it has no numbers of reads", path=str(path))
    return table


def _bytes(path: Path) -> bytes:
    return Source.of(path).text()[0]
