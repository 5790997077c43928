"""Runners of chains: they put chain states into the slots of an engine, and advance them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.encodings import Encoding, PlainEncoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan, argument_records, chain_allocation, chain_kernel, chain_sizes
from syclade.host.device.compile.kernel import load_part
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.engines import Allocation, open_engine
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.device.work import IMAGE, SPECIALISED
from syclade.kernels.ancestor.stage_arguments import BETWEEN_STAGES
from syclade.kernels.arguments import PROBLEM, SCRATCH

if TYPE_CHECKING:
    from syclade.fallback.ancestor.steps import AncestorSteps
    from syclade.fallback.chain.parts import Move, Recorder, Score
    from syclade.fallback.chain.steps import ChainSteps
    from syclade.fallback.rates.steps import Rates
    from syclade.host.device.compile.image import Image

__all__ = [
    "Runner",
    "default_slots",
    "make_numpy_runner",
    "make_runner",
    "slot_bytes",
    "slots_at_once",
]

logger = logging.getLogger("syclade.devices")

FEWEST_A_UNIT, MOST_A_UNIT = 4, 16
"""Limits of the slots per compute unit. With more slots, the units finish a launch closer together."""

NUMPY_SLOTS = 256
"""Most slots of the numpy fallback, whose overhead per call is shared by all slots."""

_SPARE_BYTES = 2**28
"""Memory of a GPU that is left free: for kernels, and stacks of their threads."""

UNIT_BYTES = 2**20
"""Memory limit of a unit's slots beyond `FEWEST_A_UNIT`: the unit's own cache holds this much."""


def make_runner(
    device: Device,
    plan: Plan,
    encoding: Encoding,
    slots: int,
    seed: int,
    image: Image | None = None,
    *,
    kernel: str = SPECIALISED,
) -> Runner:
    """Make a runner on a device, with the kernel of an image if one is given.

    Args:
        device: a usable device.
        plan: the parts of the chains.
        encoding: how trees are stored in the device's memory; one of `encodings_of` the device.
        slots: number of chain states that the runner holds at once.
        seed: seed of the random numbers, 0 … 2^64-1.
        image: a precompiled kernel.
        kernel: name of the kernel that belongs to the encoding, as in `WorkDone`.

    Raises:
        DeviceError: the device does not open, cannot build the kernel, or has too little memory.
    """
    if device.kind == "numpy":
        return make_numpy_runner(plan, encoding, slots, seed)
    described = chain_kernel(plan, encoding)
    allocation = chain_allocation(plan, encoding, slots, seed, described.arguments)
    engine = open_engine(device, allocation, images={} if image is None else {described.name: image})
    return Runner(plan, encoding, seed, engine, engine.load(described), kernel if image is None else IMAGE)


def default_slots(device: Device, plan: Plan, encoding: Encoding, chains: int) -> int:
    """Return how many slots keep a device busy, at most the number of chains."""
    if device.kind == "numpy":
        wanted = min(NUMPY_SLOTS, slots_at_once(plan))
    elif device.kind == "cuda":
        wanted = _slots_of_gpu(device, plan, encoding, chains)
    else:
        fitting = UNIT_BYTES // slot_bytes(plan, encoding)
        wanted = device.units * min(max(FEWEST_A_UNIT, fitting), MOST_A_UNIT)
    return max(1, min(chains, wanted))


def _slots_of_gpu(device: Device, plan: Plan, encoding: Encoding, chains: int) -> int:
    """Return how many slots keep a GPU busy, or how many its free memory holds, if these are fewer."""
    from syclade.host.device.cuda import open_gpu
    from syclade.host.device.engines.cuda import near_arguments, slots_of_unit

    _, near_bytes = near_arguments(chain_kernel(plan, encoding), chain_sizes(plan, encoding, 1))
    wanted = min(chains, device.units * slots_of_unit(near_bytes))
    free = open_gpu(device).free_bytes() - _SPARE_BYTES
    fitting = max(1, (free - _bytes_of(plan, encoding, per_slot=False)) // slot_bytes(plan, encoding))
    if fitting < wanted:
        logger.info("%s has room for %d chains at once: chains take turns", device.name, fitting)
    return min(wanted, fitting)


def slot_bytes(plan: Plan, encoding: Encoding) -> int:
    """Return the device memory of one slot, in bytes."""
    return _bytes_of(plan, encoding, per_slot=True)


def _bytes_of(plan: Plan, encoding: Encoding, *, per_slot: bool) -> int:
    """Return the device memory of a slot's arguments, or of those that all slots share, in bytes."""
    sizes = chain_sizes(plan, encoding, 1)
    arguments = chain_kernel(plan, encoding).arguments
    return sum(one.nbytes(sizes) for one in arguments if ("slots" in one.shape) == per_slot)


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
        from syclade.fallback.ancestor.steps import AncestorSteps

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
    from syclade.fallback.chain import steps

    return steps.slots_at_once(_plain_steps(plan).slot_bytes)


def _plain_steps(plan: Plan) -> ChainSteps:
    """Return the chain steps on parent vectors and tables computed from them."""
    observed, multiplicity = plan.space.table(plan.problem)
    from syclade.fallback.chain.steps import ChainSteps

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


def _parts(plan: Plan) -> tuple[list[Move], Score, list[Recorder], int]:
    """Return the moves, score and recorders for numpy, and the length of the ring of events."""
    moves = [load_part(move.numpy) for move in plan.moves]
    recorders = [load_part(recorder.numpy) for recorder in plan.recorders]
    return moves, load_part(plan.score.numpy), recorders, plan.events
