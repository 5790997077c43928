"""Arguments of the kernel that draws new places of mutations given the nodes of the cells."""

from syclade.kernels.arguments import INFO, PROBLEM, SCRATCH, SETTING, Argument
from syclade.kernels.shares.arguments import LANES, OCTAVES, TABLE_BITS

SLIDES = 4
"""Draws of the place of each mutation alone, for one draw of the place of each subtree."""

LOWEST = 40
"""Octaves below the best place from which a place has no weight."""

SIZES = (  # `order_nodes` and `row_of` need blocks and nodes at the places that they have in arguments.py
    "blocks",  # of LANES mutations
    "nodes",
    "cells",
    "fraction",  # f: scores are in units of 2^-f octave
)

ARGUMENTS = (
    Argument("sizes", PROBLEM, "int64", (len(SIZES),), ", ".join(SIZES)),
    Argument("observed", PROBLEM, "uint8", ("columns", "blocks", LANES), "class of every entry"),
    Argument("column", PROBLEM, "int32", ("cells",), "column of each cell"),
    Argument("octaves", PROBLEM, "float64", (OCTAVES,), "2^-k"),
    Argument("upper", PROBLEM, "float64", (2**TABLE_BITS,), "2^-(k / 2^8)"),
    Argument("lower", PROBLEM, "float64", (2**TABLE_BITS,), "2^-(k / 2^16)"),
    Argument("weights", SETTING, "int32", ("slots", 256), "weights of the classes"),
    Argument("drawn", SETTING, "int32", ("slots", "cells"), "node of each cell"),
    Argument("numbers", SETTING, "float64", ("slots", "moves"), "uniform numbers, one per draw"),
    Argument("parents", INFO, "int32", ("slots", "nodes"), "IN OUT the tree"),
    Argument(
        "gains", SCRATCH, "int64", ("slots", "nodes", "blocks", LANES), "of mutations for cells below nodes"
    ),
    Argument("worth", SCRATCH, "int64", ("slots", "nodes"), "score of each place"),
    Argument("likely", SCRATCH, "int32", ("slots", "nodes"), "places that have a weight"),
    Argument("ends", SCRATCH, "float64", ("slots", "nodes"), "their cumulative weights"),
    Argument("inhabitants", SCRATCH, "int32", ("slots", "nodes"), "cells of each node"),
    Argument("first_cell", SCRATCH, "int32", ("slots", "nodes"), "a cell of each node, or -1"),
    Argument("next_cell", SCRATCH, "int32", ("slots", "cells"), "another cell of the same node, or -1"),
    Argument("children", SCRATCH, "int32", ("slots", "nodes"), "number of the children of each node"),
    Argument("order", SCRATCH, "int32", ("slots", "nodes"), "the nodes in preorder"),
    Argument("child", SCRATCH, "int32", ("slots", "nodes"), "last child, or -1"),
    Argument("sibling", SCRATCH, "int32", ("slots", "nodes"), "child of the same parent before it, or -1"),
)
