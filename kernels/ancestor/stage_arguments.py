"""Arguments of the five stage kernels (`stages/`), in order, each with its direction.

Kernels see all arrays flat, in C order. Arrays with one part per slot have `slots` as their first axis. So a
slot's part is contiguous, and a kernel can be given a single slot.
"""

from collections.abc import Sequence
from typing import NamedTuple

from syclade.kernels.ancestor.arguments import LEARNED as ENCODING
from syclade.kernels.arguments import EVENTS, SCRATCH, SETTING, Argument
from syclade.kernels.chain.arguments import ARGUMENTS as CHAIN
from syclade.kernels.rates.arguments import RATES

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
    Argument(
        "proposed_rate_at", SCRATCH, "int64", ("slots", RATES), "where learned rates stand after the step"
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
"""The stages of the macro-pipeline, in order: one launch of each is one step of a slot's chain.

These are of chains of the maximum score with fixed rates; other chains have more arguments (`stages_of`).
"""

_OF_RATES = {
    "propose": _arguments(
        rate_points=IN,
        rate_jumps=IN,
        fn_weights=IN,
        fp_weights=IN,
        rate_at=IN,
        weights=OUT,
        proposed_rate_at=OUT,
    ),
    "reduction": _arguments(fn_worth=IN, fp_worth=IN, proposed_rate_at=IN, rate_at=INOUT, best_rate_at=INOUT),
}
"""Further arguments with learned rates; those of propose are all of the moves of rates."""


OF_PIPELINE = (
    Argument(
        "pipeline",
        SETTING,
        "int32",
        (4,),
        "states in flight, steps of each, ticks of the schedule, stages to note in began and ended",
    ),
    Argument("active", SETTING, "int32", ("slots",), "slots of the states in flight"),
    Argument(
        "counters",
        SCRATCH,
        "int32",
        (5 + len(STAGES),),
        "tasks taken; stages at work, their largest number, their sum when one begins; beginnings and ends "
        "noted; states that have passed each stage",
    ),
    Argument("progress", SCRATCH, "int32", ("slots",), "stages that each state in flight has passed"),
    Argument("claimed", SCRATCH, "int32", ("groups",), "the task that each work-group has taken"),
    Argument(
        "began",
        SCRATCH,
        "int32",
        ("timed",),
        "order of the first stages' beginnings among all of these events",
    ),
    Argument("ended", SCRATCH, "int32", ("timed",), "likewise, of their ends"),
)
"""Further arguments of the kernel of all stages (stages/overlapping.py); all counters are 0 at its start."""

_DIRECTIONS = {"problem": IN, "setting": IN, "state": INOUT, "info": INOUT, "events": INOUT, "scratch": OUT}


def stages_of(
    *, learned: bool, of_score: Sequence[Argument] = (), of_recorders: Sequence[Argument] = ()
) -> dict[str, tuple[StageArgument, ...]]:
    """Return the arguments of all stages, by name and in order.

    Args:
        learned: whether rates are learned.
        of_score: arguments of the score.
        of_recorders: arguments of the ring of events and of the recorders; empty without recorders.
    """
    found = dict(STAGES)
    if learned:
        found = {name: (*own, *_OF_RATES.get(name, ())) for name, own in found.items()}
    parameters = _arguments(parameters=IN) if of_recorders else ()
    events = [StageArgument(one, _direction_of_event(one)) for one in of_recorders]
    scores = [StageArgument(one, IN) for one in of_score]
    found["reduction"] = (*found["reduction"], *scores, *parameters, *events)
    return found


def _direction_of_event(argument: Argument) -> str:
    """Return the direction of an argument of the recorders in the reduction."""
    if argument.role == EVENTS:
        return INOUT if argument.name == "event_count" else OUT
    return _DIRECTIONS[argument.role]


def whole_steps(arguments: Sequence[Argument], *, learned: bool) -> tuple[StageArgument, ...]:
    """Return the arguments of the kernel of whole steps, with directions; learned rates write weights."""
    directions = {
        one.name: OUT if learned and one.name == "weights" else _DIRECTIONS[one.role] for one in arguments
    }
    return tuple(StageArgument(one, directions[one.name]) for one in arguments)
