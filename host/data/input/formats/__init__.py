"""Table of the formats of matrix files: name, summary, reader and options of each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from syclade.host.data.input.formats.grid import Grid, ReadOptions
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of

__all__ = ["FORMATS", "Format", "Grid", "ReadOptions", "format_for"]


@dataclass(frozen=True)
class Format:
    """A format of matrix files, or of folders.

    Attributes:
        summary: short description, one line.
        place: ``module:function`` of the reader, imported at first use.
        takes: the options that apply to the format, besides ``two`` and ``rows``.
        evidence: what it may have besides calls, for the option ``evidence``.
        whole: whether the reader takes a path and `ReadOptions`, because a library opens the file or it is a
            folder. Other readers take the bytes of a text, its name for messages, and `ReadOptions`. Both
            kinds return a `Grid`.
        in_subprocess: whether the reader runs in a subprocess, because the library may crash.
        names_axes: whether such a file itself says which are mutations and which are cells, so that they
            cannot be exchanged.
    """

    summary: str
    place: str
    takes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    whole: bool = False
    in_subprocess: bool = False
    names_axes: bool = False

    @property
    def read(self) -> Callable[..., Grid]:
        """The reader function."""
        module, function = self.place.split(":")
        reader: Callable[..., Grid] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
        return reader


_READS = ("min_depth", "min_vaf", "vaf_ref", "vaf_hom")
_PAIR = ("total_reads", "ref_reads", "absent", "coding", *_READS)
_CALLS = ("min_depth", "min_gq", "min_vaf", "vaf_ref", "vaf_het", "vaf_hom")
_OF_READS, _OF_CALLERS = ("reads",), ("likelihoods", "reads")
_RECORDS = (*_CALLS, "name_by", "filter")

FORMATS = {
    "scite": Format("SCITE, BnpC: rows are mutations, values between blanks, no names", "plain:read_scite"),
    "sc": Format("scphylo, PhISCS: a table with tabs, rows are cells", "table:read_sc"),
    "tsv": Format(
        f"a table with tabs or blanks and names; needs {flag_of('rows')}",
        "table:read_tsv",
        _PAIR,
        evidence=_OF_CALLERS,
    ),
    "csv": Format(
        f"a table with commas or semicolons and names; needs {flag_of('rows')}",
        "table:read_csv",
        _PAIR,
        evidence=_OF_CALLERS,
    ),
    "long": Format(
        f"a row for each mutation and cell; needs {flag_of('min_depth')}",
        "counts:read_long",
        (*_READS, "columns"),
        evidence=_OF_READS,
    ),
    "condor": Format("ConDoR: commas, rows are cells, a column cluster_id", "table:read_condor"),
    "sifit": Format("SiFit: rows are mutations, each behind its number", "plain:read_sifit"),
    "sphyr": Format("SPhyR: two lines of sizes, rows are cells, -1 is missing", "plain:read_sphyr"),
    "sasc": Format("SASC: rows are cells, 2 is missing, no names", "plain:read_sasc"),
    "vcf": Format(
        "VCF: a row for each alternate allele, samples are cells",
        "vcf:read_vcf",
        takes=_RECORDS,
        evidence=_OF_CALLERS,
        names_axes=True,
    ),
    "bcf": Format(
        "BCF: as VCF",
        "vcf:read_bcf",
        whole=True,
        in_subprocess=True,
        takes=_RECORDS,
        evidence=_OF_CALLERS,
        names_axes=True,
    ),
    "compass": Format(
        f"COMPASS: ref:alt:genotype; {flag_of('min_depth')} without genotypes",
        "table:read_compass",
        (*_READS, "vaf_het"),
        evidence=_OF_READS,
        names_axes=True,
    ),
    "scistree2": Format(
        "ScisTree2: HAPLOID, probabilities of the wild type",
        "plain:read_scistree",
        evidence=("likelihoods",),
    ),
    "h5ad": Format(
        f"AnnData: rows are cells; X or {flag_of('layer')}",
        "h5ad:read_h5ad",
        whole=True,
        in_subprocess=True,
        takes=("layer", "coding", "total_layer", "absent_layer", *_READS, "obs_mask", "var_mask"),
        evidence=_OF_CALLERS,
    ),
    "tapestri": Format(
        "Tapestri's .h5 of DNA variants",
        "tapestri:read_tapestri",
        whole=True,
        in_subprocess=True,
        takes=(*_CALLS, "drop_filtered"),
        evidence=_OF_READS,
        names_axes=True,
    ),
    "loom": Format(
        "Tapestri's .loom",
        "tapestri:read_loom",
        whole=True,
        in_subprocess=True,
        takes=(*_CALLS, "drop_filtered"),
        evidence=_OF_READS,
        names_axes=True,
    ),
    "cellsnp": Format(
        f"a folder of cellsnp-lite; needs {flag_of('min_depth')}",
        "folders:read_cellsnp",
        whole=True,
        in_subprocess=True,
        takes=(*_READS, "name_by"),
        evidence=_OF_READS,
        names_axes=True,
    ),
    "mquad": Format(
        f"a folder of MQuad; needs {flag_of('min_depth')}",
        "folders:read_mquad",
        whole=True,
        in_subprocess=True,
        takes=_READS,
        evidence=_OF_READS,
        names_axes=True,
    ),
    "folder": Format(
        "a folder of syclade convert, or of simulated reads",
        "folders:read_folder",
        whole=True,
        evidence=_OF_CALLERS,
    ),
}


def format_for(name: str, given: Iterable[str], why: str = "", *, evidence: str = "calls") -> Format:
    """Return a format, after a check that options apply to it.

    Args:
        name: its name.
        given: the names of the options.
        why: why the format was chosen, for messages; empty if it was given.
        evidence: the value of the option of this name.

    Raises:
        OptionError: there is no such format, or an option is not for it.
    """
    if name not in FORMATS:
        raise OptionError(f"{flag_of('format')} is {name!r}", hint=f"one of auto, {', '.join(FORMATS)}")
    if evidence not in ("calls", *FORMATS[name].evidence):
        fit = ", ".join(other for other, one in FORMATS.items() if evidence in one.evidence)
        raise OptionError(
            f"{flag_of('evidence', evidence)} does not go with {flag_of('format')} {name}{why}",
            hint=f"these formats have {evidence}: {fit}",
        )
    for option in given:
        if option not in ("two", "rows", "evidence", *FORMATS[name].takes):
            fit = ", ".join(other for other, one in FORMATS.items() if option in one.takes)
            raise OptionError(
                f"{flag_of(option)} does not go with {flag_of('format')} {name}{why}",
                hint=f"it is for {fit}",
            )
    return FORMATS[name]
