"""The tables of options of `syclade call`: names and defaults are LoFreq's, with those that LoFreq lacks."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import FLAG, Type, Values, number, option, whole

__all__ = [
    "CALL_FILES",
    "CALL_SHARED",
    "FILTERS",
    "OF_NORMAL",
    "OWN_OPTIONS",
    "REFUSED",
    "SOMATIC",
    "CallFile",
    "CallOptions",
    "call_flag",
]

QUALITY, MAPPING = whole(0, 93), whole(0, 255)
LEVEL = Type("number", 0, 1, open_low=True)
MOST = 2**31 - 1

OF_NORMAL = ", with --normal 7"
"""Default of `min_dp` that `syclade filter`, which has no normal sample, leaves out of its help."""


# fmt: off
class CallOptions(Values):
    """Options that determine the records."""

    min_bq: int = option(QUALITY, letter="q", default=6, help="Skip bases of lower base quality.")
    min_alt_bq: int = option(QUALITY, letter="Q", default=6, help=
        "Skip alternative bases of lower base quality.")
    def_alt_bq: int = option(whole(-1, 93), letter="R", default=0, help=
        "Replace base qualities of alternative bases by this one; -1: by the median of those of the "
        "reference; 0: keep them.")
    min_jq: int = option(QUALITY, letter="j", default=0, help="Skip bases of lower joint quality.")
    min_alt_jq: int = option(QUALITY, letter="J", default=0, help=
        "Skip alternative bases of lower joint quality.")
    def_alt_jq: int = option(QUALITY, letter="K", default=0, help=
        "Replace joint qualities of alternative bases by this one, after all filters; 0: keep them.")
    no_baq: bool = option(FLAG, letter="B", default=False, help="Do not use base alignment qualities (BAQ).")
    no_ext_baq: bool = option(FLAG, letter="e", default=False, help=
        "Do not extend BAQ: do not take the best qualities on both sides in a run of matches.")
    del_baq: bool = option(FLAG, letter="D", default=False, help=
        "Compute BAQ of reads that have them stored (tag lb of LoFreq), too.")
    no_idaq: bool = option(FLAG, letter="A", default=False, help=
        "Do not use alignment qualities of gaps (IDAQ).")
    min_mq: int = option(MAPPING, letter="m", default=0, help="Skip reads of lower mapping quality.")
    max_mq: int = option(MAPPING, letter="M", default=255, help=
        "Replace higher mapping qualities by this one.")
    no_mq: bool = option(FLAG, letter="N", default=False, help="Do not use mapping qualities.")
    sig: float = option(LEVEL, letter="a", default=0.01, help=
        "Significance level.")
    bonf: int | None = option(whole(1), letter="b", none="dynamic", default=None, help=
        "Number of tests to correct for; dynamic: those that were done.")
    assume_quality: int | None = option(QUALITY, default=None, help=
        "Base quality of reads that have none, such as those of FASTA; without it, they are refused.")
    min_cov: int = option(whole(1, MOST), letter="C", default=1, help=
        "Test only columns with this many bases.")
    max_depth: int = option(whole(1, MOST), letter="d", default=1000000, help=
        "Use at most this many reads of a column.")
    illumina_1_3: bool = option(FLAG, default=False, help=
        "Subtract 31 from base qualities: those of Illumina 1.3 to 1.7, taken for Sanger's.")
    use_orphan: bool = option(FLAG, default=False, help="Use reads of improper pairs, too.")
    call_indels: bool = option(FLAG, default=False, help="Call insertions and deletions, too.")
    only_indels: bool = option(FLAG, default=False, help="Where indels are called, call nothing else.")
    keep_homopolymers: bool = option(FLAG, default=False, help=
        "Test indels in homopolymers that are left out otherwise: of more than 18 bases, and of an A or T"
        " that is inserted and deleted in less than 5 % of the reads.")
    ignore_md5: bool = option(FLAG, default=False, help=
        "Use a reference with another MD5 than the header of the reads has (@SQ M5), with a warning.")
    no_default_filter: bool = option(FLAG, default=False, help=
        "Filter by depth and strand bias only as other options say.")
    min_dp: int | None = option(whole(0, MOST), none="auto", default=None, help=
        f"Records of fewer reads do not pass; auto: 10{OF_NORMAL}, with --no-default-filter 0.")
    max_dp: int = option(whole(0, MOST), default=0, help="Records of more reads do not pass; 0: no limit.")
    min_af: float = option(number(0, 1), default=0.0, help=
        "Records of a lower allele frequency do not pass.")
    max_af: float = option(number(0, 1), default=1.0, help=
        "Records of a higher allele frequency do not pass.")
    min_alt: int = option(whole(0, MOST), default=0, help=
        "Records of fewer reads with the alternative do not pass.")
    max_hrun: int = option(whole(0, MOST), default=0, help=
        "Indels before a longer homopolymer (HRUN) do not pass; 0: no limit.")
    max_sb: int | None = option(whole(0, MOST), none="fdr", default=None, help=
        "Records of more strand bias (Phred) do not pass; fdr: those at a false discovery rate.")
    sb_alpha: float = option(LEVEL, default=0.001, help=
        "False discovery rate of strand bias.")
    sb_no_compound: bool = option(FLAG, default=False, help=
        "Filter by strand bias also where at most 85 % of the alternative's reads have one strand.")
    sb_incl_indels: bool = option(FLAG, default=False, help="Filter indels by strand bias, too.")
    drop_filtered: bool = option(FLAG, default=False, help=
        "Leave out records that do not pass, as LoFreq does, instead of tagging them.")
    somatic_sig: float = option(LEVEL, default=1.0, help=
        "With --normal, significance level of SNVs of the tumour: the expected number of false ones, before "
        "those of the normal are taken out.")
    somatic_indel_sig: float = option(LEVEL, default=0.01, help="With --normal, that of indels.")
    normal_sig: float = option(LEVEL, default=0.1, help=
        "With --normal, significance level of a variant of the normal, as a single test.")
    normal_af: float = option(number(0, 1), default=0.5, help=
        "With --normal, the frequency in the normal that its reads must rule out: 0.5, as of germline "
        "variants; 0: that in the tumour.")
    normal_alpha: float = option(LEVEL, default=0.001, help=
        "With --normal, largest p-value of the test that rules it out; of indels, a tenth of it.")
    compat: bool = option(FLAG, default=False, help=
        "Write LoFreq 2.1.5's records, CHROM to INFO byte for byte, also where they are wrong.")
    # fmt: on

    def check(self) -> None:
        """Raise an OptionError if a value is out of its range, or options do not go together."""
        for name, row in self.table.items():
            value = getattr(self, name)
            if row.type.name != "flag" and value is not None and not row.type.holds(value):
                word = f"{row.none}, or " if row.none else ""
                raise OptionError(f"{call_flag(name)} is {value}", hint=f"give {word}{row.type}")
        if self.only_indels and not self.call_indels:
            raise OptionError(
                f"{call_flag('only_indels')} does not go without {call_flag('call_indels')}",
                hint=f"add {call_flag('call_indels')}",
            )
        if self.keep_homopolymers and self.compat:
            raise OptionError(
                f"{call_flag('keep_homopolymers')} does not go with {call_flag('compat')}",
                hint="LoFreq leaves these indels out",
            )
        self._check_filters()

    def _check_filters(self) -> None:
        """Raise an OptionError if filters contradict one another, or have no effect."""
        given = [name for name in FILTERS if getattr(self, name) != self.table[name].default]
        if self.compat and given:
            raise OptionError(
                f"{call_flag(given[0])} does not go with {call_flag('compat')}",
                hint="lofreq call lacks it; filter its records by syclade filter",
            )
        for low, high, off in (("min_dp", "max_dp", 0), ("min_af", "max_af", None)):
            least, most = getattr(self, low) or 0, getattr(self, high)
            if most != off and least > most:
                raise OptionError(
                    f"{call_flag(low)} {least} is above {call_flag(high)} {most}: no record could pass"
                )
        unused = [name for name in ("sb_alpha", "sb_no_compound", "sb_incl_indels") if name in given]
        if unused and self.max_sb is None and self.no_default_filter:
            raise OptionError(
                f"{call_flag(unused[0])} has no effect with {call_flag('no_default_filter')}",
                hint=f"leave one of them out, or add {call_flag('max_sb')}",
            )
        if "sb_alpha" in given and self.max_sb is not None:
            raise OptionError(
                f"{call_flag('sb_alpha')} has no effect with {call_flag('max_sb')}", hint="give one of them"
            )

    @property
    def least_depth(self) -> int:
        """Reads that a record needs to pass."""
        if self.min_dp is not None:
            return self.min_dp
        return 0 if self.no_default_filter else 10

    @property
    def single_level(self) -> float:
        """The level of a single test: a variant of a larger p-value is not called, however few the tests."""
        return self.level

    def level_of(self, indels: bool) -> float:
        """Return the level for all tests of a kind together."""
        return self.level

    def least_quality(self, tests: int, indels: bool) -> int:
        """Return the integer Phred quality that a call needs, given the number of tests."""
        return int(-10.0 * math.log10(self.level_of(indels) / tests))

    @property
    def ignores_digests(self) -> bool:
        """Return whether a reference with another MD5 than expected is used: LoFreq does not compare them."""
        return self.ignore_md5 or self.compat

    @property
    def level(self) -> float:
        """The significance level; LoFreq stores it in single precision."""
        return float(struct.unpack("f", struct.pack("f", self.sig))[0]) if self.compat else self.sig

    @property
    def most_in_column(self) -> int:
        """The reads that a column takes; LoFreq limits those of the pileup instead."""
        return MOST if self.compat else self.max_depth


FILTERS = (
    "min_dp", "max_dp", "min_af", "max_af", "min_alt", "max_hrun", "max_sb", "sb_alpha", "sb_no_compound",
    "sb_incl_indels",
)  # fmt: skip
"""Those that decide which records pass, besides `no_default_filter`: `syclade filter` has them, too."""

SOMATIC = ("somatic_sig", "somatic_indel_sig", "normal_sig", "normal_af", "normal_alpha")
"""Those that need a normal sample."""

OWN_OPTIONS = (
    "assume_quality", "keep_homopolymers", "ignore_md5", "drop_filtered", *FILTERS, *SOMATIC, "compat",
)  # fmt: skip
"""Those that `lofreq call` lacks; `syclade quality calls` compares all others."""


class CallFile(NamedTuple):
    """An option for a file, or for a part of the genome.

    Attributes:
        name: its name in Python.
        letter: its short flag; empty without one.
        metavar: placeholder of its value: REGION is no file.
        default: its default; None without one.
        required: whether it must be given.
        help: its help.
    """

    name: str
    letter: str
    metavar: str
    default: str | None
    required: bool
    help: str


# fmt: off
CALL_FILES = (
    CallFile("ref", "f", "FASTA", None, True, "Reference."),
    CallFile("out", "o", "VCF", "-", False,
             "VCF to write; .vcf.gz is compressed and indexed; - is standard output."),
    CallFile("region", "r", "REGION", None, False,
             "Call only this region: contig, contig:begin-end, or contig:begin- to its end."),
    CallFile("bed", "l", "FILE", None, False,
             "Call only these regions (BED) or positions (contig and position from 1)."),
    CallFile("sites", "", "VCF", None, False,
             "Write records of these alleles in any case, with their IDs; of indels with --call-indels."),
    CallFile("normal", "", "BAM", None, False,
             "Call the somatic variants of one tumour: those that this normal sample does not have."),
    CallFile("dbsnp", "", "VCF", None, False,
             "With --normal, variants of this VCF (such as dbSNP) are not somatic; an index makes it fast."),
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
