"""Arguments of the kernels that read records of BAM and that count bases by column."""

from syclade.kernels.arguments import INFO, SCRATCH, SETTING, STATE, Argument, record_of

FIELDS = (
    "position",  # first position on the reference, from 0
    "end",  # position after the last one
    "reverse",  # 1 if the read is on the reverse strand
    "mapping",  # mapping quality, 255 unknown
    "operations",  # number of CIGAR operations
    "cigar",  # where they begin in the raw bytes
    "letters",  # where its bases begin in `bases`
    "length",  # number of bases
    "window",  # first position of its window of the reference
    "reference",  # length of the window; 0: no base alignment quality
    "band",  # half width of the band
    "record",  # where the record begins in the raw bytes
    "size",  # its number of bytes
)
"""Numbers of a read."""

LIMITS = (
    "bytes",  # raw bytes there are
    "contig",  # number of the contig
    "contig_length",
    "stop",  # records that begin here or later are left for later
    "least_mapping",  # reads with a lower mapping quality are left out
    "most_mapping",  # higher mapping qualities are replaced by this one
    "orphans",  # 1: reads of improper pairs count
    "as_lofreq",  # 1: skips are deletions, and replaced mapping qualities excuse improper pairs
    "reads",  # space for reads
    "letters",  # space for their bases
    "widest",  # largest half width of a band
    "previous",  # position of the last record before, to check the order
    "illumina",  # subtracted from base qualities
)
"""Numbers that say which reads are taken."""

OUTCOME = (
    "consumed",  # bytes of whole records that were read
    "reads",  # reads taken
    "letters",  # their bases
    "problem",  # one of `PROBLEMS`, or 0
    "place",  # where its record begins
    "stopped",  # 1: a record at `stop` was met
    "previous",  # position of the last record
    "empty",  # records without bases that were left out
    "records",  # records seen
    "unaligned",  # reads taken without base alignment quality
)
"""Numbers that reading leaves."""

NO_QUALITIES, UNSORTED, OTHER_CONTIG, WRONG_CIGAR, BEYOND, DAMAGED = range(1, 7)
"""Problems of a record."""

RECORDS = (
    Argument("raw", SETTING, "uint8", ("bytes",), "records of BAM"),
    Argument("limits", SETTING, "int64", (len(LIMITS),), "which reads are taken"),
    Argument("outcome", INFO, "int64", (len(OUTCOME),), "how far reading got"),
    Argument("fields", INFO, "int64", ("reads", len(FIELDS)), "numbers of each read"),
    Argument("bases", INFO, "uint8", ("letters",), "bases: 0 to 3, 4 unknown"),
    Argument("qualities", INFO, "uint8", ("letters",), "base qualities"),
)

RULES = (
    "first",  # first read to count
    "reads",  # number of reads
    "begin",  # first position of the window
    "columns",  # number of its columns
    "stride",  # space for keys in a column: a power of two
    "least",  # bases of lower quality count in the depth only
    "deepest",  # a column takes no more reads than this
    "aligned",  # 0: no alignment qualities
    "extended",  # 1: extended alignment qualities
    "skipped",  # 1: skipped positions (N) count in the depth
)
"""Numbers that say how bases are counted."""

NO_ALIGNMENT = 127
"""Alignment quality of a base that has none."""

LARGEST_QUALITY = 93
"""Largest base or alignment quality; larger ones are replaced by it."""

COLUMNS = (
    Argument("raw", SETTING, "uint8", ("bytes",), "records of BAM"),
    Argument("fields", SETTING, "int64", ("reads", len(FIELDS)), "numbers of each read"),
    Argument("bases", SETTING, "uint8", ("letters",), "bases: 0 to 3, 4 unknown"),
    Argument("qualities", SETTING, "uint8", ("letters",), "base qualities"),
    Argument("states", SETTING, "int32", ("letters",), "most likely state of each base"),
    Argument("confidence", SETTING, "uint8", ("letters",), "Phred quality of that state"),
    Argument("rules", SETTING, "int64", (len(RULES),), "how bases are counted"),
    Argument("next", INFO, "int64", (1,), "first read that was not counted, for want of space"),
    Argument(
        "table", STATE, "uint32", ("columns", "stride", 2), "keys of qualities, plus 1, and their counts"
    ),
    Argument("filled", STATE, "int32", ("columns",), "keys of a column"),
    Argument("depth", STATE, "int32", ("columns",), "reads of a column"),
    Argument("strands", STATE, "int32", ("columns", 5, 2), "bases that count, by base and strand"),
    Argument("aligned", SCRATCH, "uint8", ("letters",), "alignment qualities of one read"),
)

Records = record_of("Records", RECORDS)
Columns = record_of("Columns", COLUMNS)

GROWTH = (
    Argument("columns", SETTING, "int64", (1,), "number of columns"),
    Argument("old_stride", SETTING, "int64", (1,), "space for keys in an old column"),
    Argument("stride", SETTING, "int64", (1,), "space for keys in a new column"),
    Argument("old", SETTING, "uint32", ("columns", "old_stride", 2), "the table so far"),
    Argument("table", STATE, "uint32", ("columns", "stride", 2), "the new table, empty"),
)

Growth = record_of("Growth", GROWTH)
