"""BCF and VCF, read by htslib (cyvcf2): the same rows as `vcf.py` makes from text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.errors import MatrixError
from syclade.host.input.formats.grid import Asked, Grid, refuse_two
from syclade.host.input.formats.hdf import require
from syclade.host.input.formats.vcf import Records, Site, check_caller, no_samples
from syclade.host.options import flag_of

__all__ = ["read_bcf"]


def read_bcf(path: Path, asked: Asked) -> Grid:
    """Read one row per alternate allele, named CHROM:POS:REF/ALT, with values as in `read_vcf`.

    Raises:
        MatrixError: htslib cannot read the file, or no record has genotypes of an alternate allele; a file
            from SCIPhI, and ``min_depth`` is not given.
    """
    refuse_two(asked, "mutations", str(path))
    require("cyvcf2")
    import cyvcf2

    records = Records(asked, str(path))
    try:
        reader = cyvcf2.VCF(str(path))
        check_caller(str(reader.raw_header).splitlines(), asked, str(path))
        cells = [str(name).strip() for name in reader.samples]
        if not cells:
            raise no_samples(str(path))
        for record in reader:
            if "GT" in record.FORMAT:
                site = Site(record.CHROM, record.POS, record.ID or ".", record.REF)
                records.add(site, record.ALT, record.FILTER or "PASS", _rows(record, asked.min_depth, path))
    except MatrixError:
        raise
    except Exception as problem:  # cyvcf2 raises plain Exception
        raise MatrixError(f"htslib cannot read it: {problem}", path=str(path)) from None
    return records.grid(cells)


def _rows(record: Any, min_depth: int | None, path: Path) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that returns the values of the cells for an alternate allele, from 1."""
    alleles = record.genotype.array()[:, :-1]  # -1 is missing, -2 is padding for fewer copies
    few = np.zeros(len(alleles), np.bool_)
    if min_depth:
        depths = record.format("DP")
        if depths is None:
            raise MatrixError(
                f"the record {record.CHROM}:{record.POS} has no DP",
                path=str(path),
                hint=f"leave out {flag_of('min_depth')}",
            )
        few = np.asarray(depths)[:, 0] < min_depth
    known, copies = (alleles >= 0).sum(axis=1), (alleles != -2).sum(axis=1)

    def row_of(number: int) -> NDArray[np.uint8]:
        seen = (alleles == number).sum(axis=1)
        row = np.where(seen == 0, 0, np.where(seen == copies, 2, 1))
        return np.where((known == 0) | few, 3, row).astype(np.uint8)

    return row_of
