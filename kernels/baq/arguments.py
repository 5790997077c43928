"""Arguments of the kernel of base alignment qualities (BAQ)."""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, Argument, record_of

MEMBERS = 8
"""Reads of a block: they have the same shape and are computed together."""

SHAPE = ("query", "reference", "band")
"""Numbers of a block: lengths of the reads and of the windows of the reference, and the half width of the
band."""

CHANCES = (
    "m_to_m",
    "m_to_id",
    "i_to_m",
    "i_to_i",
    "d_to_m",
    "d_to_d",
    "m_to_end",
    "begin_to_m",
    "begin_to_i",
)
"""Probabilities of transitions, which follow from a block's shape."""

STRIDES = ("letters", "positions", "blocks", "cells", "row_cells", "scale_cells", "window_cells")
"""Symbols whose values the kernel needs to find a slot's parts of the arrays."""

BAQ = (
    Argument("strides", PROBLEM, "int64", (len(STRIDES),), "sizes of a slot's parts of the arrays"),
    Argument("match", PROBLEM, "float64", (256,), "probability of an equal base, by base quality"),
    Argument("mismatch", PROBLEM, "float64", (256,), "probability of each other base, by base quality"),
    Argument(
        "limits",
        PROBLEM,
        "float64",
        (128,),
        "largest error probability of each quality; at the end, the quality of 0",
    ),
    Argument("bases", SETTING, "uint8", ("slots", "letters"), "bases of all reads: 0 to 3, 4 unknown"),
    Argument("qualities", SETTING, "uint8", ("slots", "letters"), "base qualities of all reads"),
    Argument(
        "reference", SETTING, "uint8", ("slots", "positions"), "bases of the reference: 0 to 3, 4 unknown"
    ),
    Argument("blocks", SETTING, "int64", ("slots",), "number of blocks"),
    Argument("shapes", SETTING, "int64", ("slots", "blocks", len(SHAPE)), "shape of each block"),
    Argument("chances", SETTING, "float64", ("slots", "blocks", len(CHANCES)), "transitions of each block"),
    Argument("reads", SETTING, "int64", ("slots", "blocks", MEMBERS), "first letter of each read"),
    Argument("windows", SETTING, "int64", ("slots", "blocks", MEMBERS), "first position of each window"),
    Argument(
        "states",
        INFO,
        "int32",
        ("slots", "letters"),
        "most likely state: 4 · place in the window, + 1 if inserted",
    ),
    Argument("confidence", INFO, "uint8", ("slots", "letters"), "Phred quality of that state"),
    Argument("matches", SCRATCH, "float64", ("slots", "cells"), "forward probabilities of matches"),
    Argument("insertions", SCRATCH, "float64", ("slots", "cells"), "forward probabilities of insertions"),
    Argument("rows", SCRATCH, "float64", ("slots", "row_cells"), "rolling rows, emissions and sums"),
    Argument(
        "scales", SCRATCH, "float64", ("slots", "scale_cells"), "sum of each forward row before scaling"
    ),
    Argument("window_letters", SCRATCH, "uint8", ("slots", "window_cells"), "window of each member"),
)

Baq = record_of("Baq", BAQ)
