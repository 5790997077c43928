"""Arguments of the kernels with sums over subtrees besides those of every chain, in order."""

from syclade.kernels.arguments import PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.preorder.screened.arguments import LOG_SHARES
from syclade.kernels.scores.powers import FRACTION_BITS

ROOTS = FRACTION_BITS + 1
"""Number of powers 2^(2^-k), k = 0 ... 16."""

FEW_CLASSES = 8
"""Classes of observed values up to which a cell's is compared with each: calls have fewer."""

_TREE: tuple[str | int, ...] = ("slots", "nodes")

ARGUMENTS = (
    Argument(
        "observed", PROBLEM, "uint8", ("nodes", "cells"), "the class of what was observed of a mutation"
    ),
    Argument("multiplicity", PROBLEM, "int64", ("cells",), "how many cells have the column; 0 for padding"),
    Argument("roots", PROBLEM, "int64", (ROOTS,), "2^(2^-k) in units of 2^-30"),
    WEIGHTS,
    Argument("parent", STATE, "int32", _TREE, "parent of each node", hot=True),
    Argument("first_child", STATE, "int32", _TREE, "first child of each node; -1: it has none", hot=True),
    Argument(
        "next_sibling", STATE, "int32", _TREE, "its next sibling, with a higher number; -1: none", hot=True
    ),
    Argument("tables_made", STATE, "int64", ("slots",), "1 while all below are those of the tree"),
    Argument("best_parent", STATE, "int32", _TREE, "parents in the best tree yet"),
    Argument("size", SCRATCH, "int32", _TREE, "nodes in each subtree", hot=True),
    Argument("side", SCRATCH, "int32", _TREE, "which of a node's two places has its current rows", hot=True),
    Argument(
        "fresh", SCRATCH, "int32", _TREE, "1 while the proposal's rows are in its other place", hot=True
    ),
    Argument(
        "path", SCRATCH, "int32", _TREE, "nodes whose rows a proposal changes, children first", hot=True
    ),
    Argument("factors", SCRATCH, "int64", ("slots", "classes", 2), "2^weight of each class: numbers.py"),
    Argument("rows", SCRATCH, "int32", ("slots", "rows", "cells"), "sums of every node: rows.py"),
)

SHARES = (
    LOG_SHARES,
    Argument("node_shares", SCRATCH, "int64", ("slots", "nodes", 2), "the share of each node: numbers.py"),
)
"""Shares of the cells at the nodes: weights of the nodes in all sums, 1 without shares."""
