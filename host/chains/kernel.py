"""The kernel that advances the chains of a plan, for an encoding, and the tables of its accept test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings import Encoding
from syclade.host.chains.moves import guide_entries
from syclade.host.chains.plan import Plan
from syclade.host.device.compile.kernel import Kernel, Record, load_part
from syclade.host.device.engines.engine import Allocation
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.chain.arguments import ARGUMENTS
from syclade.kernels.recorders.arguments import ARGUMENTS as RING

__all__ = [
    "TABLE_SIZE",
    "LogTables",
    "argument_records",
    "chain_allocation",
    "chain_kernel",
    "chain_sizes",
    "log_tables",
    "setting_arguments",
    "size_as_text",
]


TABLE_SIZE = 257


class LogTables(NamedTuple):
    """Read-only integer tables.

    Attributes:
        log_table: int64, shape (257,): ln(1 + j/256) / gamma.
        log_sizes: int64, shape (n + 2,): ln(k) / gamma; entry 0 is 0.
    """

    log_table: NDArray[np.int64]
    log_sizes: NDArray[np.int64]


@lru_cache(maxsize=256)
def log_tables(mutations: int, unit: float, gamma: float) -> LogTables:
    """Return the tables for trees of n mutations, a unit of scores, and an exponent.

    Args:
        mutations: n.
        unit: unit of scores, in nats.
        gamma: exponent of the likelihood.
    """
    factor = 1.0 / unit / gamma  # exact where the unit is a power of two
    # math.log, not np.log: the last bit of np.log differs between processors.
    sizes = np.array([0.0, *(math.log(size) for size in range(1, mutations + 2))])
    table = np.array([math.log1p(j / 256) for j in range(TABLE_SIZE)])
    made = LogTables(*(np.rint(logs * factor).astype(np.int64) for logs in (table, sizes)))
    for one in made:
        one.flags.writeable = False
    return made


_POINTS = ("fn_points", "fp_points", "doublet_points")
"""Symbols for the numbers of points of the grids."""


def setting_arguments(plan: Plan) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Return the arguments of the score, and those of the recorders."""

    def of(place: str) -> tuple[Argument, ...]:
        found: tuple[Argument, ...] = load_part(place).arguments
        return found

    recorders = {argument.name: argument for one in plan.recorders for argument in of(one.device)}
    return of(plan.score.device), tuple(recorders.values())


def argument_records(plan: Plan, encoding: Encoding) -> tuple[Record, ...]:
    """Return the kernel's arguments: of every chain; of the encoding, score and moves; of the recorders."""
    of_score, of_recorders = setting_arguments(plan)
    of_moves = tuple(argument for move in plan.moves for argument in move.arguments)
    ring: tuple[Argument, ...] = (*RING, *of_recorders) if plan.recorders else ()
    if ring and plan.problem.learns:
        ring = (*ring, encoding.event_rates)
    return (
        Record("Chain", ARGUMENTS),
        Record("Given", (*encoding.arguments, *of_score, *of_moves)),
        Record("Events", ring),
    )


def chain_kernel(plan: Plan, encoding: Encoding) -> Kernel:
    """Return the kernel of a plan for an encoding."""
    return Kernel(
        name=f"{encoding.name}_chain_steps",
        factory="syclade.kernels.chain.steps:make_chain_steps",
        parts={
            "encoding": encoding.device,
            "moves": tuple(move.device for move in plan.moves),
            "score": plan.score.device,
            "recorders": tuple(recorder.device for recorder in plan.recorders),
        },
        constants=encoding.constants,
        records=argument_records(plan, encoding),
        group=encoding.group,
        lanes=encoding.lanes,
        size=size_as_text(encoding.constants),
        specialisation=encoding.specialisation,
    )


def size_as_text(constants: Mapping[str, int]) -> str:
    """Return the sizes that a kernel with these constants supports, as text for messages."""
    if {"leaves", "genes"} <= constants.keys():
        return f"up to {constants['leaves']} cells × {constants['genes']} mutations"
    if not {"nodes", "cells"} <= constants.keys():
        return "matrices of many sizes"
    return f"up to {constants['nodes'] - 1} mutations × {constants['cells']} distinct cells"


def chain_sizes(plan: Plan, encoding: Encoding, slots: int) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments."""
    return {
        **encoding.sizes,
        "slots": slots,
        "log_sizes": plan.labels + 2,
        "guided_edges": plan.labels * (plan.labels + 1),
        "guide_entries": guide_entries(plan.labels),
        "moves": len(plan.moves),
        "tallies": 2 * len(plan.kinds),
        "events": plan.events,
        **dict(zip(_POINTS, plan.problem.rate_tables.model.points, strict=True)),
    }


def chain_allocation(
    plan: Plan, encoding: Encoding, slots: int, seed: int, arguments: Sequence[Argument]
) -> Allocation:
    """Return the arrays of chains: the given arguments, filled with the problem but without chains."""
    return Allocation(arguments, chain_sizes(plan, encoding, slots), _chain_arrays(plan, encoding, seed))


def _chain_arrays(plan: Plan, encoding: Encoding, seed: int) -> dict[str, Array]:
    """Return the arguments with role `problem` by name, each in its declared shape."""
    # A seed of 2^63 and above is stored as its two's complement.
    parameters = np.array((plan.labels, seed, len(plan.kinds)), dtype=np.uint64).view(np.int64)
    below = np.array(plan.move_below, dtype=np.int64)
    arrays = {"parameters": parameters, "move_below": below, **encoding.problem_arrays()}
    if plan.recorders:
        arrays["ring"] = np.array((plan.events, encoding.sizes["nodes"] // encoding.lanes), dtype=np.int64)
    tables = plan.problem.rate_tables
    names = ("fn_weights", "fp_weights", "fn_worth", "fp_worth", "doublet_worth")
    arrays |= {name: getattr(tables, name) for name in names}
    rates = encoding.learned_rates
    arrays["rate_points"] = np.array(tables.model.points[:rates], dtype=np.int64)
    arrays["rate_jumps"] = tables.model.jumps[:rates]
    return arrays
