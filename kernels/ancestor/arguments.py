"""Arguments of the kernels on ancestor matrices besides those of every chain, in order."""

from syclade.kernels.arguments import PROBLEM, SCRATCH, STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.rates.arguments import ARGUMENTS as RATES

_MATRIX: tuple[str | int, ...] = ("slots", "words", "nodes")

ARGUMENTS = (
    Argument(
        "planes",
        PROBLEM,
        "uint64",
        ("values", "words", "cells"),
        "bit g of column c in plane d: mutation g was observed in c as value d",
    ),
    Argument("multiplicity", PROBLEM, "int64", ("cells",), "how many cells have the column; 0 for padding"),
    WEIGHTS,
    Argument(
        "ancestors", STATE, "uint64", _MATRIX, "row y: the ancestors of y, y included; the current tree"
    ),
    Argument("best_ancestors", STATE, "uint64", _MATRIX, "the best tree yet"),
    Argument("proposal", SCRATCH, "uint64", _MATRIX, "the proposed tree"),
    Argument("shares", SCRATCH, "int64", ("slots", "lanes"), "each lane's share of a tree's score"),
)

LEARNED = (*ARGUMENTS, *(one for one in RATES if one.name != "rates_ahead"))
"""With learned rates; `weights` are those of the tree that was scored last."""
