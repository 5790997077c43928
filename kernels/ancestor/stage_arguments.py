"""The arguments of the kernels in `stages.py`, in order, each with its direction."""

from typing import NamedTuple

from syclade.kernels.ancestor.arguments import ARGUMENTS as ENCODING
from syclade.kernels.arguments import SCRATCH, Argument
from syclade.kernels.chain.arguments import ARGUMENTS as CHAIN

IN = "in"  # read only
OUT = "out"  # every element that means anything is written, none is read
INOUT = "inout"


class StageArgument(NamedTuple):
    """An argument and what one kernel does with it."""

    argument: Argument
    direction: str


_BY_NAME = {argument.name: argument for argument in (*CHAIN, *ENCODING)} | {
    argument.name: argument
    for argument in (
        Argument("draws", SCRATCH, "int64", ("slots", 5), "the draws of a step: as `drawn`, of one lane"),
        Argument("move", SCRATCH, "int64", ("slots", 5), "kind, edit, v, w, t (chain/edits.py)"),
        Argument(
            "threshold", SCRATCH, "int64", ("slots",), "E + (ln|C| - ln|B|) / gamma, in units of 2^-f nat"
        ),
    )
}


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

TREE_UPDATE = _arguments(ancestors=IN, move=IN, proposal=OUT)

SCORE_MAPPING = _arguments(planes=IN, multiplicity=IN, weights=IN, proposal=IN, shares=OUT)

REDUCTION = _arguments(
    shares=IN,
    move=IN,
    threshold=IN,
    proposal=IN,
    last_step=IN,
    step=INOUT,
    score=INOUT,
    best_score=INOUT,
    ancestors=INOUT,
    best_ancestors=INOUT,
    tallies=INOUT,
)

_DIRECTIONS = {"problem": IN, "setting": IN, "state": INOUT, "info": INOUT, "scratch": OUT}

CHAIN_STEPS = _arguments(**{argument.name: _DIRECTIONS[argument.role] for argument in (*CHAIN, *ENCODING)})
