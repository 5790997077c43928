"""The arguments of the kernels in `stages.py`, in order, each with its direction."""

from typing import NamedTuple

from syclade.kernels.ancestor import arguments as chain
from syclade.kernels.arguments import SCRATCH, Argument

IN = "in"  # read only
OUT = "out"  # every element that means anything is written, none is read
INOUT = "inout"


class StageArgument(NamedTuple):
    """An argument and what one kernel does with it."""

    argument: Argument
    direction: str


_BY_NAME = {argument.name: argument for argument in chain.ARGUMENTS} | {
    argument.name: argument
    for argument in (
        Argument("move", SCRATCH, "uint64", ("slots", 4), "kind of move, v, w, t (kernels/proposal.py)"),
        Argument(
            "threshold", SCRATCH, "int64", ("slots",), "E + (ln|C| - ln|B|) / gamma, in units of 2^-f nat"
        ),
    )
}


def _arguments(**directions: str) -> tuple[StageArgument, ...]:
    return tuple(StageArgument(_BY_NAME[name], direction) for name, direction in directions.items())


PROPOSE = _arguments(
    log_table=IN,
    log_sizes=IN,
    parameters=IN,
    chain=IN,
    step=IN,
    ancestors=IN,
    move=OUT,
    threshold=OUT,
)

TREE_UPDATE = _arguments(ancestors=IN, move=IN, proposal=OUT)

SCORE_MAPPING = _arguments(ones=IN, zeros=IN, multiplicity=IN, parameters=IN, proposal=IN, shares=OUT)

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

CHAIN_STEPS = _arguments(
    **{
        argument.name: {"problem": IN, "state": INOUT, "info": INOUT, "scratch": OUT}[argument.role]
        for argument in chain.ARGUMENTS
    }
    | {"chain": IN, "last_step": IN, "ancestors": INOUT, "best_ancestors": INOUT}
)
