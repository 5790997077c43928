"""The tables of options of `syclade call`: names and defaults are LoFreq's, with those that LoFreq lacks."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "CALL_FILES",
    "CALL_OPTIONS",
    "CALL_SHARED",
    "OWN_OPTIONS",
    "REFUSED",
    "CallFile",
    "CallOption",
    "call_flag",
]


class CallOption(NamedTuple):
    """An option that decides the records.

    Attributes:
        name: its name in Python.
        short: its letter; empty without one.
        default: its default; False for a flag, None for none.
        low, high: limits of a whole number; None for other types.
        help: its help.
    """

    name: str
    short: str
    default: int | float | str | bool | None
    low: int | None
    high: int | None
    help: str


_MOST = 2**31 - 1

# fmt: off
_ROWS = (
    CallOption("min_bq", "q", 6, 0, 93, "Skip bases of lower base quality."),
    CallOption("min_alt_bq", "Q", 6, 0, 93, "Skip alternative bases of lower base quality."),
    CallOption("def_alt_bq", "R", 0, -1, 93,
               "Replace base qualities of alternative bases by this one; -1: by the median of those of the "
               "reference; 0: keep them."),
    CallOption("min_jq", "j", 0, 0, 93, "Skip bases of lower joint quality."),
    CallOption("min_alt_jq", "J", 0, 0, 93, "Skip alternative bases of lower joint quality."),
    CallOption("def_alt_jq", "K", 0, 0, 93,
               "Replace joint qualities of alternative bases by this one, after all filters; 0: keep them."),
    CallOption("no_baq", "B", False, None, None, "Do not use base alignment qualities (BAQ)."),
    CallOption("no_ext_baq", "e", False, None, None,
               "Do not extend BAQ: do not take the best qualities on both sides in a run of matches."),
    CallOption("del_baq", "D", False, None, None,
               "Compute BAQ of reads that have them stored (tag lb of LoFreq), too."),
    CallOption("no_idaq", "A", False, None, None, "Do not use alignment qualities of gaps (IDAQ)."),
    CallOption("min_mq", "m", 0, 0, 255, "Skip reads of lower mapping quality."),
    CallOption("max_mq", "M", 255, 0, 255, "Replace higher mapping qualities by this one."),
    CallOption("no_mq", "N", False, None, None, "Do not use mapping qualities."),
    CallOption("sig", "a", 0.01, None, None, "Significance level."),
    CallOption("bonf", "b", "dynamic", None, None,
               "Number of tests to correct for; dynamic: those that were done."),
    CallOption("assume_quality", "", None, 0, 93,
               "Base quality of reads that have none, such as those of FASTA; without it, they are refused."),
    CallOption("min_cov", "C", 1, 1, _MOST, "Test only columns with this many bases."),
    CallOption("max_depth", "d", 1000000, 1, _MOST, "Use at most this many reads of a column."),
    CallOption("illumina_1_3", "", False, None, None,
               "Subtract 31 from base qualities: those of Illumina 1.3 to 1.7, taken for Sanger's."),
    CallOption("use_orphan", "", False, None, None, "Use reads of improper pairs, too."),
    CallOption("call_indels", "", False, None, None, "Call insertions and deletions, too."),
    CallOption("only_indels", "", False, None, None,
               "Where indels are called, call nothing else."),
    CallOption("keep_homopolymers", "", False, None, None,
               "Test indels in homopolymers that are left out otherwise: of more than 18 bases, and of an A "
               "or T that is inserted and deleted in less than 5 % of the reads."),
    CallOption("ignore_md5", "", False, None, None,
               "Use a reference with another MD5 than the header of the reads has (@SQ M5), with a warning."),
    CallOption("no_default_filter", "", False, None, None, "Do not filter by depth and strand bias."),
    CallOption("drop_filtered", "", False, None, None,
               "Leave out records that do not pass, as LoFreq does, instead of tagging them."),
    CallOption("compat", "", False, None, None,
               "Write LoFreq 2.1.5's records, CHROM to INFO byte for byte, faults included."),
)
# fmt: on

CALL_OPTIONS = {option.name: option for option in _ROWS}
"""Options by name, in the order of the help."""

OWN_OPTIONS = ("assume_quality", "keep_homopolymers", "ignore_md5", "drop_filtered", "compat")
"""Those that LoFreq lacks; `syclade quality calls` compares all others."""


class CallFile(NamedTuple):
    """An option for a file, or for a part of the genome.

    Attributes:
        name: its name in Python.
        short: its letter; empty without one.
        metavar: placeholder of its value: REGION is no file.
        default: its default; None without one.
        required: whether it must be given.
        help: its help.
    """

    name: str
    short: str
    metavar: str
    default: str | None
    required: bool
    help: str


# fmt: off
CALL_FILES = (
    CallFile("ref", "f", "FASTA", None, True, "Reference."),
    CallFile("out", "o", "VCF", "-", False,
             "VCF to write; .vcf.gz is compressed and indexed; - is standard output."),
    CallFile("region", "r", "REGION", None, False, "Call only this region: contig, or contig:begin-end."),
    CallFile("bed", "l", "FILE", None, False,
             "Call only these regions (BED) or positions (contig and position from 1)."),
    CallFile("sites", "", "VCF", None, False,
             "Write records of these alleles in any case, with their IDs; of indels with --call-indels."),
)

CALL_SHARED: dict[str, dict[str, Any]] = {
    "device": {
        "metavar": "auto|native|cpu|fpga-emu|numpy|FILTER",
        "help": "Where to compute alignment qualities and tests; auto is native, this processor, which "
                "counts bases in any case. FILTER as 'syclade devices' lists it.",
    },
    "scheduler": {},
    "threads": {},
    "force": {"help": "Replace an existing VCF."},
    "json": {"help": "Print a summary as JSON, on standard error with -o -."},
    "quiet": {"help": "Print only warnings."},
    "verbose": {},
}
# fmt: on
"""Options that other commands have, too (`table.py`), with what differs here."""

_SOURCE = "leave out reads with many mismatches before, such as by samtools view -e '[NM] < 5'"

REFUSED = (
    ("src_qual", "s", f"source qualities are not computed; {_SOURCE}"),
    ("ign_vcf", "S", f"it belongs to -s, and source qualities are not computed; {_SOURCE}"),
    ("def_nm_q", "T", f"it belongs to -s, and source qualities are not computed; {_SOURCE}"),
    ("plp_summary_only", "", "there is no summary of columns; use samtools mpileup"),
    ("no_indel_aq", "", "the option is -A, --no-idaq, as in LoFreq's help"),
    ("force_overwrite", "", "the option to replace a file is --force"),
    ("approx_threshold", "", "exact tails are fast enough"),
    ("debug", "", "use --verbose"),
)
"""Options of LoFreq that are refused: name, letter and reason."""


def call_flag(name: str) -> str:
    """Return an option as users type it."""
    return "--" + name.replace("_1_3", "_1.3").replace("_", "-")
