"""The numpy fallback's chain steps for a plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from syclade.fallback.chain.steps import ChainSteps
from syclade.host.chains.plan import Plan
from syclade.host.compile.kernel import load_part

__all__ = ["numpy_steps"]


def numpy_steps(plan: Plan) -> ChainSteps:
    """What takes the chains of a plan forward in numpy."""
    observed, multiplicity = plan.space.table(plan.problem)
    steps: Callable[..., ChainSteps] = load_part(plan.space.numpy)
    tables = plan.problem.learned
    if tables is not None:
        from syclade.fallback.rates.steps import LearnedChainSteps, Rates

        grids = (tables.learned.jumps, tables.fn_weights, tables.fp_weights, tables.fn_worth, tables.fp_worth)
        steps = partial(LearnedChainSteps, rates=Rates(*grids))
    return steps(
        observed,
        multiplicity,
        [load_part(move.numpy) for move in plan.moves],
        plan.move_below,
        load_part(plan.score.numpy),
        [load_part(recorder.numpy) for recorder in plan.recorders],
        plan.events,
    )
