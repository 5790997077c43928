"""The arguments of `chain_step.preorder_chain_steps`, in order."""

from syclade.kernels.arguments import (
    BEST_SCORE,
    CHAIN,
    LAST_STEP,
    LOG_SIZES,
    LOG_TABLE,
    PARAMETER_BLOCK,
    PROBLEM,
    SCORE,
    SCRATCH,
    STATE,
    STEP,
    TALLY_BLOCK,
    Argument,
)

_TREE: tuple[str | int, ...] = ("slots", "nodes")

ARGUMENTS = (
    Argument("weights", PROBLEM, "int32", ("nodes", "cells"), "what a mutation adds to each cell below it"),
    Argument("multiplicity", PROBLEM, "int64", ("cells",), "how many cells have the column; 0 for padding"),
    LOG_TABLE,
    LOG_SIZES,
    PARAMETER_BLOCK,
    CHAIN,
    STEP,
    LAST_STEP,
    SCORE,
    BEST_SCORE,
    Argument("parent", STATE, "int32", _TREE, "parent of each node"),
    Argument("order", STATE, "int32", _TREE, "the node at each position of the preorder"),
    Argument("position", STATE, "int32", _TREE, "position of each node in the preorder"),
    Argument("size", STATE, "int32", _TREE, "number of nodes of each node's subtree"),
    Argument("tables_made", STATE, "int64", ("slots",), "1 while the tables are those of the tree"),
    Argument("best_parent", STATE, "int32", _TREE, "parents in the best tree yet"),
    Argument("places", SCRATCH, "int64", _TREE, "score row and block of each position: see places.py"),
    Argument("row_of", SCRATCH, "int32", _TREE, "score row of each node"),
    Argument("block_start", SCRATCH, "int32", _TREE, "first position of each block, and the end"),
    Argument("fresh", SCRATCH, "int64", ("slots", 2, "nodes"), "the changed places and order"),
    Argument("tables", SCRATCH, "int32", ("slots", "rows", "cells"), "see layout.py"),
    Argument("sketch", SCRATCH, "int16", ("slots", "sketched", "cells"), "see sketches.py"),
    Argument("flagged", SCRATCH, "uint32", ("slots", "cells"), "cells whose best score may change"),
    Argument(
        "drawn", SCRATCH, "int64", ("slots", 5, "lanes"), "a batch of draws: move, v, second node, extra, E"
    ),
    TALLY_BLOCK,
)
