"""Chain steps of the numpy fallback for a plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from syclade.fallback.ancestor.steps import AncestorSteps
from syclade.fallback.chain import steps as chain_steps
from syclade.fallback.chain.steps import ChainSteps
from syclade.host.chains.plan import Plan
from syclade.host.compile.kernel import load_part

__all__ = ["ancestor_steps", "plain_steps", "slots_at_once"]


def plain_steps(plan: Plan) -> ChainSteps:
    """Return the chain steps on parent vectors and tables computed from them."""
    observed, multiplicity = plan.space.table(plan.problem)
    steps: Callable[..., ChainSteps] = load_part(plan.space.numpy)
    tables = plan.problem.rate_tables
    if tables.model.learns:
        from syclade.fallback.rates.steps import LearnedChainSteps, Rates

        grids = (tables.model.jumps, tables.fn_weights, tables.fp_weights, tables.fn_worth, tables.fp_worth)
        steps = partial(LearnedChainSteps, rates=Rates(*grids))
    moves, score, recorders, events = _parts(plan)
    return steps(observed, multiplicity, moves, plan.move_below, score, recorders, events)


def ancestor_steps(plan: Plan) -> AncestorSteps:
    """Return the chain steps on ancestor matrices, stage by stage."""
    return AncestorSteps(*_parts(plan))


def slots_at_once(plan: Plan) -> int:
    """Return how many slots advance together on parent vectors."""
    return chain_steps.slots_at_once(plain_steps(plan).slot_bytes)


def _parts(plan: Plan) -> tuple[list[Any], Any, list[Any], int]:
    """Return the moves, score and recorders for numpy, and the length of the ring of events."""
    moves = [load_part(move.numpy) for move in plan.moves]
    recorders = [load_part(recorder.numpy) for recorder in plan.recorders]
    return moves, load_part(plan.score.numpy), recorders, plan.events
