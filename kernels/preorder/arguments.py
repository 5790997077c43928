"""Arguments of the kernels on preorder intervals besides those of every chain, in order."""

from syclade.kernels.arguments import PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.rates.arguments import ARGUMENTS as RATES

_TREE: tuple[str | int, ...] = ("slots", "nodes")

NARROW = (
    Argument("observed", PROBLEM, "uint8", ("nodes", "cells"), "the class of what was observed"),
    Argument("multiplicity", PROBLEM, "int64", ("cells",), "how many cells have the column; 0 for padding"),
    WEIGHTS,
    Argument("parent", STATE, "int32", _TREE, "parent of each node", hot=True),
    Argument("order", STATE, "int32", _TREE, "the node at each position of the preorder"),
    Argument("position", STATE, "int32", _TREE, "position of each node in the preorder", hot=True),
    Argument("size", STATE, "int32", _TREE, "number of nodes of each node's subtree", hot=True),
    Argument("tables_made", STATE, "int64", ("slots",), "1 while the tables are those of the tree"),
    Argument("best_parent", STATE, "int32", _TREE, "parents in the best tree yet"),
    Argument(
        "places", SCRATCH, "int64", _TREE, "score row and block of each position: tree/places.py", hot=True
    ),
    Argument("row_of", SCRATCH, "int32", _TREE, "score row of each node", hot=True),
    Argument("block_start", SCRATCH, "int32", _TREE, "first position of each block, and the end", hot=True),
    Argument("fresh", SCRATCH, "int64", ("slots", 2, "nodes"), "the changed places and order", hot=True),
    Argument("tables", SCRATCH, "int32", ("slots", "rows", "cells"), "tables/layout.py"),
)

LEARNED = (
    *NARROW,
    *RATES,
    Argument("rate_rows", SCRATCH, "int32", ("slots", "nodes", "cells"), "scores by the proposed rates"),
    Argument("rate_row", SCRATCH, "int64", ("slots", "nodes"), "where each node's row of these starts"),
)
"""With learned rates."""

WIDE = (
    *NARROW,
    Argument("sketch", SCRATCH, "int16", ("slots", "sketched", "cells"), "wide/sketches.py"),
    Argument("flagged", SCRATCH, "uint32", ("slots", "cells"), "cells whose best score may change"),
)
