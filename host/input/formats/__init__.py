"""The formats of matrix files, in one table: a format's name, its reader, and what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from syclade.host.input.formats.bare import read_sasc, read_scite, read_sphyr
from syclade.host.input.formats.grid import Asked, Grid
from syclade.host.input.formats.table import read_condor, read_csv, read_sc, read_tsv

__all__ = ["FORMATS", "Asked", "Format", "Grid"]


@dataclass(frozen=True)
class Format:
    """A format of matrix files.

    Attributes:
        read: makes a `Grid` of a file's bytes, given its name for messages and what was asked.
        summary: what it is, in a line.
    """

    read: Callable[[bytes, str, Asked], Grid]
    summary: str


FORMATS = {
    "scite": Format(read_scite, "SCITE, BnpC: rows are mutations, values between blanks, no names"),
    "sc": Format(read_sc, "scphylo, PhISCS: a table with tabs, rows are cells"),
    "tsv": Format(read_tsv, "a table with tabs and names; needs --rows"),
    "csv": Format(read_csv, "a table with commas and names; needs --rows"),
    "condor": Format(read_condor, "ConDoR: commas, rows are cells, a column cluster_id"),
    "sphyr": Format(read_sphyr, "SPhyR: two lines of sizes, rows are cells, -1 is missing"),
    "sasc": Format(read_sasc, "SASC: rows are cells, 2 is missing, no names"),
}
