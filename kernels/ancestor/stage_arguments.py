"""Arguments of the five stage kernels (`stages/`), in order, each with its direction.

Kernels see all arrays flat, in C order. Arrays with one part per slot have `slots` as their first axis. So a
slot's part is contiguous, and a kernel can be given a single slot.
"""

from collections.abc import Sequence
from typing import NamedTuple

from syclade.kernels.ancestor.arguments import ARGUMENTS as ENCODING
from syclade.kernels.arguments import SCRATCH, Argument
from syclade.kernels.chain.arguments import ARGUMENTS as CHAIN

IN = "in"  # read only
OUT = "out"  # every meaningful element is written, none is read
INOUT = "inout"


class StageArgument(NamedTuple):
    """An argument and its direction in one kernel."""

    argument: Argument
    direction: str


BETWEEN_STAGES = (
    Argument(
        "draws",
        SCRATCH,
        "int64",
        ("slots", 5),
        "draws of a step: number of the move, v, second node, extra word, E (kernels/chain/batch.py)",
    ),
    Argument("move", SCRATCH, "int64", ("slots", 5), "kind, edit, v, w, t (kernels/chain/edits.py)"),
    Argument("threshold", SCRATCH, "int64", ("slots",), "E + (ln|C| - ln|B|) / gamma, in units of 2^-f nat"),
    Argument(
        "parent_rows", SCRATCH, "uint64", ("slots", 2, "words"), "the rows of the parents of v and of w"
    ),
    Argument(
        "worth",
        SCRATCH,
        "int32",
        ("slots", "cells", "nodes"),
        "score of every column at every node, in units of 2^-f nat; 0 at the root and at padding",
    ),
)
"""Arrays that one stage writes for a later one; the fused kernel keeps their contents in registers."""

_BY_NAME = {argument.name: argument for argument in (*CHAIN, *ENCODING, *BETWEEN_STAGES)}


def _arguments(**directions: str) -> tuple[StageArgument, ...]:
    return tuple(StageArgument(_BY_NAME[name], direction) for name, direction in directions.items())


PROPOSE = _arguments(
    parameters=IN,
    move_below=IN,
    log_table=IN,
    log_sizes=IN,
    chain=IN,
    step=IN,
    ancestors=IN,
    draws=OUT,
    move=OUT,
    threshold=OUT,
)

FIND_PARENT = _arguments(ancestors=IN, move=IN, parent_rows=OUT)

TREE_UPDATE = _arguments(ancestors=IN, move=IN, parent_rows=IN, proposal=OUT)

SCORE_MAPPING = _arguments(planes=IN, weights=IN, proposal=IN, worth=OUT)

REDUCTION = _arguments(
    multiplicity=IN,
    worth=IN,
    move=IN,
    threshold=IN,
    proposal=IN,
    last_step=IN,
    shares=OUT,
    step=INOUT,
    score=INOUT,
    best_score=INOUT,
    ancestors=INOUT,
    best_ancestors=INOUT,
    tallies=INOUT,
)

STAGES = {
    "propose": PROPOSE,
    "find_parent": FIND_PARENT,
    "tree_update": TREE_UPDATE,
    "score_mapping": SCORE_MAPPING,
    "reduction": REDUCTION,
}
"""The stages of the macro-pipeline, in order: one launch of each is one step of a slot's chain."""

_DIRECTIONS = {"problem": IN, "setting": IN, "state": INOUT, "info": INOUT, "scratch": OUT}


def whole_steps(arguments: Sequence[Argument], *, learned: bool) -> tuple[StageArgument, ...]:
    """Return the arguments of the kernel of whole steps, with directions; learned rates write weights."""
    directions = {
        one.name: OUT if learned and one.name == "weights" else _DIRECTIONS[one.role] for one in arguments
    }
    return tuple(StageArgument(one, directions[one.name]) for one in arguments)
