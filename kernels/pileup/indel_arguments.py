"""Arguments of the kernel that counts reads with and without insertions and deletions by column."""

from syclade.kernels.arguments import INFO, SETTING, STATE, Argument, record_of
from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.pileup.tag_arguments import TAGS

INDEL_RULES = (
    "first",  # first read to count
    "reads",  # number of reads
    "begin",  # first position of the window
    "columns",  # number of its columns
    "stride",  # space for keys in a column: a power of two
    "deepest",  # a column takes no more reads than this
    "skipped",  # 1: skipped positions (N) count like deletions
    "origin",  # position of the first entry of `by_position`
    "computed",  # 1: reads without stored qualities have those of `by_position`
    "aligned",  # 0: no alignment qualities
    "as_lofreq",  # 1: LoFreq's places of later gaps in reads with long ones
    "least",  # reads whose quality after a base is lower are left out there
)
"""Numbers that say how reads are counted."""

GAP = (
    "read",
    "column",  # that of the base before the gap
    "length",  # of an insertion; negative for a deletion
    "base",  # first inserted base, index in `bases`
    "insertion",  # Phred quality: an insertion here would be an error
    "deletion",  # likewise for a deletion
    "mapping",  # mapping quality
    "reverse",  # 1 if the read is on the reverse strand
    "alignment",  # stored alignment quality; NO_GAP_ALIGNMENT or TO_COMPUTE
    "row",  # first base, from 1, of the diagonal of equivalent gaps
    "place",  # its place in the window, from 1
    "cells",  # length of the diagonal
)
"""Numbers of a gap of a read."""

NO_GAP_ALIGNMENT, TO_COMPUTE = -1, -2

LONGEST_ALIGNED = 16
"""Longer gaps have the largest alignment quality, as in LoFreq."""

INDEL_ARGUMENTS = (
    Argument("raw", SETTING, "uint8", ("bytes",), "records of BAM"),
    Argument("fields", SETTING, "int64", ("reads", len(FIELDS)), "numbers of each read"),
    Argument("bases", SETTING, "uint8", ("letters",), "bases: 0 to 3, 4 unknown"),
    Argument(
        "tags", SETTING, "int64", ("reads", len(TAGS)), "where each tag's letters begin in `raw`, or -1"
    ),
    Argument("rules", SETTING, "int64", (len(INDEL_RULES),), "how reads are counted"),
    Argument("reference", SETTING, "uint8", ("positions",), "bases of the contig: 0 to 3, 4 unknown"),
    Argument("by_position", SETTING, "uint8", ("places",), "quality of an indel after each position"),
    Argument("next", INFO, "int64", (2,), "first read that was not counted, for want of space; gaps found"),
    Argument("gaps", INFO, "int64", ("gaps", len(GAP)), "gaps in the order of the reads"),
    Argument(
        "table", STATE, "uint32", ("columns", "stride", 2), "keys of qualities, plus 1, and their counts"
    ),
    Argument("filled", STATE, "int32", ("columns",), "keys of a column"),
    Argument("depth", STATE, "int32", ("columns",), "reads of a column"),
    Argument("tails", STATE, "int32", ("columns",), "reads that end with a base of a column"),
)

Indels = record_of("Indels", INDEL_ARGUMENTS)
