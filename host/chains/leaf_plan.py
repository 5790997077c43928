"""Plan of chains over cell trees."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.chains.moves import Move
from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_plan
from syclade.host.chains.recorders import Recorder
from syclade.host.chains.scores.best_attachment import BEST_PLACEMENT
from syclade.host.chains.space import CELL_LEAF_TREES
from syclade.host.data.model.problem import LeafProblem
from syclade.host.ground.options.defaults import DEFAULT_LEAF_MOVE_PROBABILITIES

__all__ = ["LEAF_MOVES", "make_leaf_plan"]


def _own(module: str) -> Move:
    name = module.replace("_", " ")
    return Move(
        name,
        (name,),
        f"syclade.kernels.clade.moves.{module}:MOVE",
        f"syclade.fallback.leaf.{module}:MOVE",
    )


LEAF_MOVES = (_own("prune_and_reattach"), _own("swap_leaves"))
"""SCITE's moves on cell trees."""


def make_leaf_plan(
    problem: LeafProblem,
    *,
    gamma: float = 1.0,
    move_probabilities: Sequence[float] = DEFAULT_LEAF_MOVE_PROBABILITIES,
    recorders: Sequence[Recorder] = (),
    events: int = DEFAULT_EVENTS,
) -> Plan:
    """Build the plan of a chain over cell trees; arguments and errors are those of `make_plan`."""
    return make_plan(
        problem,
        gamma=gamma,
        move_probabilities=move_probabilities,
        moves=LEAF_MOVES,
        score=BEST_PLACEMENT,
        recorders=recorders,
        events=events,
        space=CELL_LEAF_TREES,
    )
