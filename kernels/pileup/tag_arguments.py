"""Arguments of the kernels that find stored qualities in the tags of reads, and that use stored BAQ."""

from syclade.kernels.arguments import INFO, SETTING, Argument, record_of
from syclade.kernels.pileup.arguments import FIELDS

TAGS = ("BI", "BD", "ai", "ad", "lb")
"""Tags with one quality for each base, as letters from `!`: of insertions and of deletions after the base,
their alignment qualities, and BAQ. Source: GATK (BI, BD) and LoFreq."""

NO_TAG, WRONG_TAG = -1, -2
"""In place of where a tag's letters begin: there is no such text, or it has another length than the read."""

FOUND = (
    "damaged",  # 1: the tags of a read do not end where its record does
    "read",  # which read
)
"""Numbers that the search for tags leaves."""

TAG_ARGUMENTS = (
    Argument("raw", SETTING, "uint8", ("bytes",), "records of BAM"),
    Argument("fields", SETTING, "int64", ("reads", len(FIELDS)), "numbers of each read"),
    Argument("reads", SETTING, "int64", (1,), "number of reads"),
    Argument("found", INFO, "int64", (len(FOUND),), "whether a read's tags are damaged"),
    Argument("tags", INFO, "int64", ("reads", len(TAGS)), "where each tag's letters begin in `raw`, or < 0"),
)

STORED = (
    Argument("raw", SETTING, "uint8", ("bytes",), "records of BAM"),
    Argument("fields", SETTING, "int64", ("reads", len(FIELDS)), "numbers of each read"),
    Argument("reads", SETTING, "int64", (1,), "number of reads"),
    Argument(
        "tags", SETTING, "int64", ("reads", len(TAGS)), "where each tag's letters begin in `raw`, or -1"
    ),
    Argument("states", INFO, "int32", ("letters",), "state of each base: 4 · place in the window"),
    Argument("confidence", INFO, "uint8", ("letters",), "Phred quality of that state"),
)

Tags = record_of("Tags", TAG_ARGUMENTS)
Stored = record_of("Stored", STORED)
