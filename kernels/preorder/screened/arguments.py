"""Arguments of the kernels on preorder intervals with sums of subtrees, in order."""

from syclade.kernels.arguments import SCRATCH, STATE, Argument
from syclade.kernels.preorder.arguments import NARROW

ROWS = 3
"""Rows of the argument `proposed`."""

LOG_SHARES = Argument(
    "log_shares",
    STATE,
    "int32",
    ("slots", "nodes"),
    "log2 of the share of the cells at each node, in units of 2^-f octave; 0 for SCITE's sum",
)

SCREENED = (
    *NARROW,
    LOG_SHARES,
    Argument(
        "subtree_sums",
        SCRATCH,
        "int32",
        ("slots", "nodes", "cells"),
        "sum of the terms of each subtree, at its score row",
    ),
    Argument(
        "proposed",
        SCRATCH,
        "int32",
        ("slots", ROWS, "cells"),
        "after the proposal: best scores, totals, and whether the octave changes",
    ),
)
