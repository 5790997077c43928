"""Runner of the numpy fallback: chain steps of a plan in numpy, in one of two encodings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from syclade.fallback.ancestor.steps import AncestorSteps
from syclade.fallback.chain import steps as chain_steps
from syclade.fallback.chain.steps import ChainSteps
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.encodings import Encoding, PlainEncoding
from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.kernel import argument_records, chain_allocation, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.device.compile.kernel import load_part
from syclade.host.device.device import NUMPY
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NumpyEngine
from syclade.kernels.ancestor.stage_arguments import BETWEEN_STAGES
from syclade.kernels.arguments import PROBLEM, SCRATCH

if TYPE_CHECKING:
    from syclade.fallback.rates.steps import Rates

__all__ = ["make_numpy_runner", "slots_at_once"]


def make_numpy_runner(plan: Plan, encoding: Encoding, slots: int, seed: int) -> Runner:
    """Make a runner that advances all slots together: each numpy call works on many slots, on one core.

    Args:
        plan: the parts of the chains.
        encoding: `AncestorEncoding` for the stages on ancestor matrices, or `PlainEncoding`.
        slots: number of chain states that the runner holds at once.
        seed: seed of the random numbers.

    Raises:
        ValueError: the encoding is neither of the two.
    """
    arguments = [one for record in argument_records(plan, encoding) for one in record.arguments]
    steps: AncestorSteps | ChainSteps
    if isinstance(encoding, AncestorEncoding):
        steps = AncestorSteps(*_parts(plan))
        allocation = chain_allocation(plan, encoding, slots, seed, [*arguments, *BETWEEN_STAGES])
    elif isinstance(encoding, PlainEncoding):
        steps = _plain_steps(plan)
        kept = [one for one in arguments if one.role not in (PROBLEM, SCRATCH)]
        allocation = Allocation(kept, chain_sizes(plan, encoding, slots))
    else:
        raise ValueError(f"numpy has no encoding {encoding.name!r}")
    engine = NumpyEngine(NUMPY, allocation)
    loaded = engine.load(lambda arrays, _slots: steps.advance(arrays, seed), lambda: steps.memory_bytes)
    return Runner(plan, encoding, seed, engine, loaded, NUMPY.kind)


def slots_at_once(plan: Plan) -> int:
    """Return how many slots advance together on parent vectors."""
    return chain_steps.slots_at_once(_plain_steps(plan).slot_bytes)


def _plain_steps(plan: Plan) -> ChainSteps:
    """Return the chain steps on parent vectors and tables computed from them."""
    observed, multiplicity = plan.space.table(plan.problem)
    steps: Callable[..., ChainSteps] = ChainSteps
    if plan.problem.learns:
        from syclade.fallback.rates.steps import LearnedChainSteps

        steps = partial(LearnedChainSteps, rates=_rates(plan))
    moves, score, recorders, events = _parts(plan)
    return steps(
        load_part(plan.space.numpy), observed, multiplicity, moves, plan.move_below, score, recorders, events
    )


def _rates(plan: Plan) -> Rates:
    """Return the tables of learned rates."""
    from syclade.fallback.rates.steps import Rates
    from syclade.host.chains.scores.doublets import shares_of

    tables = plan.problem.rate_tables
    return Rates(
        tables.model.jumps,
        tables.fn_weights,
        tables.fp_weights,
        tables.fn_worth,
        tables.fp_worth,
        tables.doublet_worth,
        shares_of(plan.problem),
    )


def _parts(plan: Plan) -> tuple[list[Any], Any, list[Any], int]:
    """Return the moves, score and recorders for numpy, and the length of the ring of events."""
    moves = [load_part(move.numpy) for move in plan.moves]
    recorders = [load_part(recorder.numpy) for recorder in plan.recorders]
    return moves, load_part(plan.score.numpy), recorders, plan.events
