"""The plan: the parts of a chain. A value that is the same for every device and every process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.moves import MOVES, Move, cumulative, kinds_of, with_jumps
from syclade.host.chains.scores.score import BEST_ATTACHMENT, BEST_PLACEMENT, Score
from syclade.host.chains.space import CELL_LEAF_TREES, MUTATION_TREES, Space
from syclade.host.chains.state import Recorder
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import checked
from syclade.host.ground.options.types import DEFAULT_LEAF_MOVE_PROBABILITIES, DEFAULT_MOVE_PROBABILITIES
from syclade.kernels.recorders.arguments import MOST_RECORDERS

__all__ = ["DEFAULT_EVENTS", "LEAF_MOVES", "Plan", "make_leaf_plan", "make_plan"]


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
