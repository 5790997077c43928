"""The numpy fallback's chain steps for a plan."""

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
    """Steps on parent vectors and the tables that follow from them."""
    observed, multiplicity = plan.space.table(plan.problem)
    steps: Callable[..., ChainSteps] = load_part(plan.space.numpy)
    tables = plan.problem.learned
    if tables is not None:
        from syclade.fallback.rates.steps import LearnedChainSteps, Rates

        grids = (tables.learned.jumps, tables.fn_weights, tables.fp_weights, tables.fn_worth, tables.fp_worth)
        steps = partial(LearnedChainSteps, rates=Rates(*grids))
    moves, score, recorders, events = _parts(plan)
    return steps(observed, multiplicity, moves, plan.move_below, score, recorders, events)


def ancestor_steps(plan: Plan) -> AncestorSteps:
    """Steps on ancestor matrices, stage by stage."""
    return AncestorSteps(*_parts(plan))


def slots_at_once(plan: Plan) -> int:
    """How many slots go forward together in the plain form, and keep their tables if there are no more."""
    return chain_steps.slots_at_once(plain_steps(plan).slot_bytes)


def _parts(plan: Plan) -> tuple[list[Any], Any, list[Any], int]:
    """Moves, score and recorders in numpy, and the length of the ring of events."""
    moves = [load_part(move.numpy) for move in plan.moves]
    recorders = [load_part(recorder.numpy) for recorder in plan.recorders]
    return moves, load_part(plan.score.numpy), recorders, plan.events
