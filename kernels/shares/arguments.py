"""Arguments of the kernels of Gibbs steps, and sizes of their tables.

`fallback/shares/gibbs.py` has sizes of its own, which must be equal.
"""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, Argument

LANES = 16
"""Columns of a block, side by side in memory."""

GROUP = 4 * LANES
"""Columns whose cells are drawn together."""

TABLE_BITS = 8
"""A power of two is a product of numbers from three tables: of octaves, and of each half of a fraction."""

OCTAVES = 256
"""Entries of the table of octaves, of which the last one is 0: a node so far below the best has no weight."""

MOST_CHANGED = 16
"""Most nodes that a swap of two labels may change. Nearly all neighbours have fewer."""

LEAST_PART = 2.0**-56
"""Part of a likelihood that vanishes in it: it is the same with and without."""

SIZES = (
    "blocks",  # of LANES columns; columns beyond the last one have no cells
    "nodes",
    "cells",
    "fraction",  # f: scores are in units of 2^-f octave
    "spare",  # bits by which powers in the sum score are shorter than 24
    "factors",  # ratios of likelihoods whose product is a normal number
    "nothing",  # class of no evidence, the last one
)

ARGUMENTS = (
    Argument("sizes", PROBLEM, "int64", (len(SIZES),), ", ".join(SIZES)),
    Argument("observed", PROBLEM, "uint8", ("mutations", "blocks", LANES), "class of every entry"),
    Argument("cell", PROBLEM, "int64", ("starts",), "first cell of each column, and the number of cells"),
    Argument("octaves", PROBLEM, "float64", (OCTAVES,), "2^-k"),
    Argument("upper", PROBLEM, "float64", (2**TABLE_BITS,), "2^-(k / 2^8)"),
    Argument("lower", PROBLEM, "float64", (2**TABLE_BITS,), "2^-(k / 2^16)"),
    Argument("parents", SETTING, "int32", ("slots", "nodes"), "the tree"),
    Argument("weights", SETTING, "int32", ("slots", 256), "weights of the classes"),
    Argument("log_shares", SETTING, "int32", ("slots", "nodes"), "log2 of the shares, in the unit of scores"),
    Argument("share", SETTING, "float64", ("slots", "nodes"), "the shares"),
    Argument("numbers", SETTING, "float64", ("slots", "cells"), "uniform numbers, one per cell"),
    Argument("factor", SETTING, "float64", ("slots", 256), "2^weight of the classes, in octaves"),
    Argument("inverse", SETTING, "float64", ("slots", 256), "2^-weight of the classes"),
    Argument("turns", SETTING, "int32", ("slots", "mutations"), "order of the nodes in swaps"),
    Argument("uniform", SETTING, "float64", ("slots", "swaps"), "uniform numbers, two per node"),
    Argument("drawn", INFO, "int32", ("slots", "cells"), "OUT node of each cell"),
    Argument("counts", INFO, "int64", ("slots", "nodes"), "OUT number of cells at each node"),
    Argument(
        "shown", INFO, "int64", ("slots", "mutations", 2), "OUT cells with a mutation that miss and show it"
    ),
    Argument("total", INFO, "int64", ("slots",), "OUT score of the tree with its shares"),
    Argument("label", INFO, "int32", ("slots", "nodes"), "OUT mutation of each node after swaps"),
    Argument("order", SCRATCH, "int32", ("slots", "nodes"), "the nodes in preorder"),
    Argument("child", SCRATCH, "int32", ("slots", "nodes"), "last child, or -1"),
    Argument("sibling", SCRATCH, "int32", ("slots", "nodes"), "child of the same parent before it, or -1"),
    Argument("scores", SCRATCH, "int32", ("slots", "nodes", "blocks", LANES), "of the columns at the nodes"),
    Argument("likelihoods", SCRATCH, "float64", ("slots", "nodes", "blocks", LANES), "relative to the best"),
    Argument("best", SCRATCH, "int32", ("slots", "blocks", LANES), "scores of the columns' best nodes"),
    Argument("place", SCRATCH, "int32", ("slots", "nodes"), "of each node in preorder"),
    Argument("size", SCRATCH, "int32", ("slots", "nodes"), "number of the nodes at and below each node"),
    Argument("changed", SCRATCH, "int32", ("slots", MOST_CHANGED), "nodes that a swap changes"),
    Argument("sums", SCRATCH, "float64", ("slots", "blocks", LANES), "likelihoods over all nodes"),
    Argument("sums_after", SCRATCH, "float64", ("slots", "blocks", LANES), "the same after a swap"),
    Argument("differing", SCRATCH, "int32", ("slots", "blocks", LANES), "columns in which mutations differ"),
    Argument("worth", SCRATCH, "int32", ("slots", "blocks", LANES), "the same with the nodes' shares"),
    Argument("powers", SCRATCH, "int32", ("slots", "blocks", LANES), "sums over the nodes, of powers of two"),
    Argument(
        "ends", SCRATCH, "float64", ("slots", "nodes", GROUP), "cumulative weights of a group's columns"
    ),
)
