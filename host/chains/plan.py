"""The plan: the parts of a chain, and the kernel that advances its chains for an encoding, with its tables.

A plan is a value that is the same for every device and every process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings import Encoding
from syclade.host.chains.moves import MOVES, Move, cumulative, guide_entries, kinds_of, with_jumps
from syclade.host.chains.scores.score import BEST_ATTACHMENT, BEST_PLACEMENT, Score
from syclade.host.chains.state import CELL_LEAF_TREES, MUTATION_TREES, Recorder, Space
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.device.compile.kernel import Kernel, Record, load_part
from syclade.host.device.engines import Allocation
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import checked
from syclade.host.ground.options.types import DEFAULT_LEAF_MOVE_PROBABILITIES, DEFAULT_MOVE_PROBABILITIES
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.chain.arguments import ARGUMENTS
from syclade.kernels.recorders.arguments import ARGUMENTS as RING
from syclade.kernels.recorders.arguments import MOST_RECORDERS

__all__ = [
    "DEFAULT_EVENTS",
    "LEAF_MOVES",
    "TABLE_SIZE",
    "LogTables",
    "Plan",
    "argument_records",
    "chain_allocation",
    "chain_kernel",
    "chain_sizes",
    "log_tables",
    "make_leaf_plan",
    "make_plan",
    "setting_arguments",
    "size_as_text",
]

DEFAULT_EVENTS = 64
"""Default number of events that a slot stores until the host takes them."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The parts of a chain.

    Attributes:
        problem: the input.
        space: the space of trees.
        moves: the moves that propose trees.
        move_below: cumulative probabilities of the moves in 1/65536, the last one 65536.
        score: the score of a tree.
        gamma: exponent of the likelihood in the accept test of a new chain.
        recorders: which states the chain emits.
        events: length of a slot's ring of events.
    """

    problem: Problem
    space: Space
    moves: tuple[Move, ...]
    move_below: tuple[int, ...]
    score: Score
    gamma: float
    recorders: tuple[Recorder, ...] = ()
    events: int = DEFAULT_EVENTS

    @property
    def labels(self) -> int:
        """Number of nodes of a tree besides the root."""
        return self.space.labels(self.problem)

    @property
    def start_rates(self) -> Places:
        """Grid indices of the learned rates before the first step."""
        return self.problem.rate_tables.model.start

    def score_of(
        self,
        parents: NDArray[np.int32],
        rates: SlotRates | None = None,
        rate_at: Places | None = None,
        settings: Mapping[str, int] | None = None,
    ) -> int:
        """Compute the score of a state on the host.

        Args:
            parents: int32, shape (labels + 1,): the tree.
            rates: rates to score with; by default those at `rate_at`.
            rate_at: grid indices of the learned rates; by default their start.
            settings: settings of the slot; the plan's settings are used for those not given.
        """
        places = self.start_rates if rate_at is None else rate_at
        used = self.problem.rates_at(places) if rates is None else rates
        of_tree = self.score.of(self.problem, parents, used, self.settings_at(places, settings or {}))
        return of_tree + self.problem.rate_tables.worth(places)

    def settings_at(self, places: Places, settings: Mapping[str, int]) -> dict[str, int]:
        """Return the settings of a slot, given those of a state and the grid indices of learned rates."""
        learned = {} if self.score.at is None else self.score.at(places).defaults
        return {**self.settings, **settings, **learned}

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds that steps are counted as, in the order of the tallies."""
        return kinds_of(self.moves)

    @property
    def settings(self) -> dict[str, int]:
        """Settings of a slot that the score and the recorders use, with their defaults."""
        found = dict(self.score.defaults)
        for recorder in self.recorders:
            found |= recorder.defaults
        return found


def make_plan(
    problem: Problem,
    *,
    gamma: float = 1.0,
    move_probabilities: Sequence[float] = DEFAULT_MOVE_PROBABILITIES,
    moves: Sequence[Move] = MOVES,
    score: Score = BEST_ATTACHMENT,
    recorders: Sequence[Recorder] = (),
    events: int = DEFAULT_EVENTS,
    space: Space = MUTATION_TREES,
) -> Plan:
    """Build the plan of a chain.

    Args:
        problem: the input; if it has learned rates, the chain also gets their moves.
        gamma: exponent of the likelihood (and of the prior of rates); 1 samples the posterior.
        move_probabilities: weights, one per move; scaled to sum 1.
        moves: the moves that propose trees.
        score: the score of a tree.
        recorders: which states the chain emits.
        events: length of a slot's ring of events, at least 1.
        space: the space of trees; moves and score must be for these trees.

    Raises:
        OptionError: gamma, the move probabilities, or the number of events or recorders is not valid.
    """
    gamma = checked("gamma", gamma)
    if events < 1:
        raise OptionError(f"a ring of {events} events", hint="use 1 or more")
    if len(recorders) > MOST_RECORDERS:
        raise OptionError(f"{len(recorders)} recorders", hint=f"use at most {MOST_RECORDERS}")
    below = cumulative(moves, move_probabilities)
    priors = problem.rate_tables.model.priors
    moves, below = with_jumps(moves, below, priors, space.jumps, every=space.every_jump)
    return Plan(problem, space, tuple(moves), below, score, gamma, tuple(recorders), events)


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
