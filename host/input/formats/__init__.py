"""The formats of matrix files, in one table: a format's name, its reader, and what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from syclade.host.input.formats.bare import read_sasc, read_scite, read_sphyr
from syclade.host.input.formats.compass import read_compass
from syclade.host.input.formats.grid import Asked, Grid
from syclade.host.input.formats.scistree import read_scistree
from syclade.host.input.formats.table import read_condor, read_csv, read_sc, read_tsv
from syclade.host.input.formats.vcf import read_vcf

__all__ = ["FORMATS", "Asked", "Format", "Grid"]


@dataclass(frozen=True)
class Format:
    """A format of matrix files.

    Attributes:
        read: makes a `Grid` of a file's bytes, given its name for messages and what was asked.
        summary: what it is, in a line.
        reads: whether it has numbers of reads, which ``min_depth`` is for.
    """

    read: Callable[[bytes, str, Asked], Grid]
    summary: str
    reads: bool = False


FORMATS = {
    "scite": Format(read_scite, "SCITE, BnpC: rows are mutations, values between blanks, no names"),
    "sc": Format(read_sc, "scphylo, PhISCS: a table with tabs, rows are cells"),
    "tsv": Format(read_tsv, "a table with tabs and names; needs --rows"),
    "csv": Format(read_csv, "a table with commas and names; needs --rows"),
    "condor": Format(read_condor, "ConDoR: commas, rows are cells, a column cluster_id"),
    "sphyr": Format(read_sphyr, "SPhyR: two lines of sizes, rows are cells, -1 is missing"),
    "sasc": Format(read_sasc, "SASC: rows are cells, 2 is missing, no names"),
    "vcf": Format(read_vcf, "VCF: a row for each alternate allele, samples are cells", reads=True),
    "compass": Format(read_compass, "COMPASS: ref:alt:genotype; --min-depth without genotypes", reads=True),
    "scistree2": Format(read_scistree, "ScisTree2: HAPLOID, probabilities of the wild type"),
}
