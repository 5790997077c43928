"""Arguments of the kernel of the alignment qualities of gaps."""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, Argument, record_of
from syclade.kernels.baq.arguments import BAQ, MEMBERS, STRIDES

GAP_STRIDES = (*STRIDES, "gaps", "gap_cells", "line_cells")
"""Symbols whose values the kernel needs to find a slot's parts of the arrays."""

GAP_NUMBERS = (
    "deleted",  # 1 for a deletion, 0 for an insertion
    "row",  # base of the first cell, from 1
    "place",  # its place in the window, from 1
    "cells",  # number of cells, each one base and one place after the one before
    "first",  # where they are in `posterior`
)
"""Numbers of a gap: its cells are on a diagonal."""

_LEFT_OUT = ("strides", "limits", "states", "confidence")

GAPS = (
    Argument("strides", PROBLEM, "int64", (len(GAP_STRIDES),), "sizes of a slot's parts of the arrays"),
    *(argument for argument in BAQ if argument.name not in _LEFT_OUT),
    Argument("first_gap", SETTING, "int64", ("slots", "blocks", MEMBERS), "first gap of each read"),
    Argument("gap_count", SETTING, "int64", ("slots", "blocks", MEMBERS), "number of gaps of each read"),
    Argument("gap_numbers", SETTING, "int64", ("slots", "gaps", len(GAP_NUMBERS)), "gaps"),
    Argument("posterior", INFO, "float64", ("slots", "gap_cells"), "probability that a cell is in the gap"),
    Argument("line", SCRATCH, "float64", ("slots", "line_cells"), "deletions of one row"),
)

Gaps = record_of("Gaps", GAPS)
