"""Arguments of the kernels on cell trees besides those of every chain, in order."""

from syclade.kernels.arguments import PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.rates.arguments import ARGUMENTS as RATES

_TREE: tuple[str | int, ...] = ("slots", "nodes")

ARGUMENTS = (
    Argument("observed", PROBLEM, "uint8", ("leaves", "genes"), "the class of what was observed in a cell"),
    WEIGHTS,
    Argument("parent", STATE, "int32", _TREE, "parent of each node", hot=True),
    Argument("left", STATE, "int32", _TREE, "one child of each node that is no leaf", hot=True),
    Argument("right", STATE, "int32", _TREE, "its other child", hot=True),
    Argument("tables_made", STATE, "int64", ("slots",), "1 while all below are those of the tree"),
    Argument("best_parent", STATE, "int32", _TREE, "parents in the best tree yet"),
    Argument("size", SCRATCH, "int32", _TREE, "cells below each node", hot=True),
    Argument("some_leaf", SCRATCH, "int32", _TREE, "one of them", hot=True),
    Argument("clade", SCRATCH, "uint64", ("slots", "nodes", "words"), "a bit for each of them", hot=True),
    Argument("rows", SCRATCH, "int32", ("slots", "rows", "genes"), "sums and tops of every node: rows.py"),
)

LEARNED = (
    *ARGUMENTS,
    *RATES,
    Argument("sums_anew", SCRATCH, "int32", ("slots", "nodes", "genes"), "sums by the proposed rates"),
)
"""With learned rates."""
