"""BCF and VCF, read by htslib (cyvcf2): the same rows as `vcf.py` makes from text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import Asked, Grid, refuse_two
from syclade.host.data.input.formats.hdf import require
from syclade.host.data.input.formats.reads import Numbers, wants_share
from syclade.host.data.input.formats.vcf import Records, Site, check_caller, check_numbers, no_samples
from syclade.host.ground.errors import MatrixError

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
                records.add(site, record.ALT, record.FILTER or "PASS", _rows(record, asked, str(path)))
    except MatrixError:
        raise
    except Exception as problem:  # cyvcf2 raises plain Exception
        raise MatrixError(f"htslib cannot read it: {problem}", path=str(path)) from None
    return records.grid(cells)


def _rows(record: Any, asked: Asked, path: str) -> Callable[[int], NDArray[np.uint8]]:
    """Return a function that returns the values of the cells for an alternate allele, from 1."""
    alleles = record.genotype.array()[:, :-1]  # -1 is missing, -2 is padding for fewer copies
    numbers = _numbers(record, asked)
    check_numbers(numbers, asked, f"the record {record.CHROM}:{record.POS}", path)
    known, copies = (alleles >= 0).sum(axis=1), (alleles != -2).sum(axis=1)

    def row_of(number: int) -> NDArray[np.uint8]:
        seen = (alleles == number).sum(axis=1)
        row = np.where(seen == 0, 0, np.where(seen == copies, 2, 1))
        return numbers.filtered(np.where(known == 0, 3, row).astype(np.uint8), number, asked)

    return row_of


def _numbers(record: Any, asked: Asked) -> Numbers:
    """Return those numbers of the cells in a record that the options need."""

    def table(wanted: bool, *names: str) -> NDArray[np.float64] | None:
        name = next((name for name in names if name in record.FORMAT), None) if wanted else None
        found = None if name is None else record.format(name)
        if found is None or found.dtype.kind not in "iuf":
            return None
        return np.where(found < 0, np.nan, found.astype(np.float64))  # htslib has negative numbers for "."

    share = wants_share(asked)
    depth, quality = table(bool(asked.min_depth) or share, "DP"), table(asked.min_gq is not None, "GQ")
    return Numbers(
        None if depth is None else depth[:, 0],
        None if quality is None else quality[:, 0],
        table(share or bool(asked.min_depth), "AD"),
        table(share, "AF", "VAF"),
    )
