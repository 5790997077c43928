"""The numpy fallback's chain steps for a plan."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from syclade.fallback.chain.steps import ChainSteps
from syclade.host.chains.plan import Plan

__all__ = ["numpy_steps"]


def numpy_steps(plan: Plan) -> ChainSteps:
    """What takes the chains of a plan forward in numpy."""
    problem = plan.problem
    return ChainSteps(
        problem.observed,
        problem.multiplicity,
        [_load(move.numpy) for move in plan.moves],
        plan.move_below,
        _load(plan.score.numpy),
        [_load(recorder.numpy) for recorder in plan.recorders],
        plan.events,
    )


def _load(place: str) -> Any:
    """What `module:NAME` names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
