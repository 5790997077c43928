"""The arguments of `chain_step.ancestor_chain_steps`, in order."""

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

_MATRIX: tuple[str | int, ...] = ("slots", "words", "nodes")

ARGUMENTS = (
    Argument(
        "ones", PROBLEM, "uint64", ("words", "cells"), "bit g of column c: mutation g was observed in c"
    ),
    Argument("zeros", PROBLEM, "uint64", ("words", "cells"), "bit g of column c: g was observed absent in c"),
    Argument("multiplicity", PROBLEM, "int64", ("cells",), "how many cells have the column; 0 for padding"),
    LOG_TABLE,
    LOG_SIZES,
    PARAMETER_BLOCK,
    CHAIN,
    STEP,
    LAST_STEP,
    SCORE,
    BEST_SCORE,
    Argument(
        "ancestors", STATE, "uint64", _MATRIX, "row y: the ancestors of y, y included; the current tree"
    ),
    Argument("best_ancestors", STATE, "uint64", _MATRIX, "the best tree yet"),
    Argument("proposal", SCRATCH, "uint64", _MATRIX, "the proposed tree"),
    Argument("shares", SCRATCH, "int64", ("slots", "lanes"), "each lane's share of a tree's score"),
    TALLY_BLOCK,
)
