"""Run searches from several starts, in phases; after each phase the policy compares all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.search.kernel import NO_SCORE, SearchState, fresh_state, state_from
from syclade.host.chains.search.phase import CLIMB, CLIMB_STAGES, Phase, PhaseStopped
from syclade.host.chains.search.policy import BY_CHAIN, SearchPolicy
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.device.work import WorkDone

__all__ = ["SearchOutcome", "SearchProgress", "Searches", "SearchesState", "run_search", "stages_left"]


@dataclass(frozen=True)
class SearchProgress:
    """Progress of the searches.

    Attributes:
        phase: number of the current phase, from 0.
        phases: maximum number of phases.
        best_score: best score of any tree so far, in the problem's units.
        seconds: wall time since `run_search` began.
    """

    phase: int
    phases: int
    best_score: int
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """Result of all searches.

    Attributes:
        best: search with the best tree; among equal ones, the one with the lowest number.
        starts: start of each search.
        scores: best score of each search, in the problem's units.
        phases: number of phases that each search has done.
        agreed: whether the searches agree (`SearchPolicy.agree`); False if they were stopped.
        stopped: whether they were stopped before their end.
        seconds: wall time.
        trees: best tree of each search: int32 parent vectors, shape (n + 1,).
    """

    best: SearchState
    starts: tuple[str, ...]
    scores: tuple[int, ...]
    phases: int
    agreed: bool
    stopped: bool
    seconds: float
    trees: tuple[NDArray[np.int32], ...] = ()


class Searches(Protocol):
    """Searches that can run a phase: on one device (`SearchRunner`), or in several places.

    Attributes:
        problem: input of the searches.
    """

    problem: SearchProblem

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The sweeps so far."""

    def run_phase(
        self,
        states: Sequence[SearchState],
        phases: Sequence[Phase],
        launched: Callable[[Sequence[int]], None],
    ) -> list[SearchState]:
        """See `phases.run_phase`."""

    def close(self) -> None:
        """Free the memory."""


def run_search(
    runner: Searches,
    policy: SearchPolicy,
    given: Sequence[NDArray[np.int32]] = (),
    progress: Callable[[SearchProgress], None] | None = None,
    *,
    resumed: SearchesState | None = None,
    between: Callable[[SearchesState], None] | None = None,
) -> SearchOutcome:
    """Search from all starts of a policy until its stopping rule holds or no round is left.

    Args:
        runner: does the searches; its slots are overwritten.
        policy: starts, rounds and stopping rule.
        given: trees to start from, one per start BY_CHAIN: int32 parent vectors, shape (n + 1,).
        progress: called after every launch; may raise `Stopped`.
        resumed: state of an earlier run between two phases; if there is one, `given` is not used.
        between: called with the state after every phase.
    """
    begun = time.perf_counter()
    at = resumed or _start(runner.problem.mutations, policy, given)
    best = max(state.best_score for state in at.states)
    stopped = False

    def launched(scores: Sequence[int]) -> None:
        nonlocal best
        best = max(best, *scores)
        if progress is not None:
            progress(SearchProgress(at.done, 1 + len(policy.rounds), best, time.perf_counter() - begun))

    try:
        while (phases := _next_phases(policy, at)) is not None:
            ended = runner.run_phase(at.states, phases, launched)
            at = at.after(ended)
            if between is not None:
                between(at)
    except PhaseStopped as found:
        at, stopped = SearchesState(found.states, at.tops), True
    states = tuple(_scored(runner.problem, policy, state) for state in at.states)
    top = max(states, key=lambda state: (state.best_score, -state.search))
    agreed = not stopped and policy.agree(at.scores)
    seconds = time.perf_counter() - begun
    trees = tuple(state.best_parents for state in states)
    return SearchOutcome(top, policy.starts, at.scores, at.done, agreed, stopped, seconds, trees)


class SearchesState(NamedTuple):
    """State of all searches between two phases.

    Attributes:
        states: state of each search.
        tops: best score of all searches after each phase.
    """

    states: tuple[SearchState, ...]
    tops: tuple[int, ...] = ()

    @property
    def done(self) -> int:
        """Number of phases done."""
        return len(self.tops)

    @property
    def scores(self) -> tuple[int, ...]:
        """Best score of each search."""
        return tuple(state.best_score for state in self.states)

    def after(self, states: Sequence[SearchState]) -> SearchesState:
        """Return the state one phase later, from the states of the searches then."""
        return SearchesState(tuple(states), (*self.tops, max(state.best_score for state in states)))


def _start(mutations: int, policy: SearchPolicy, given: Sequence[NDArray[np.int32]]) -> SearchesState:
    """Return the state of all searches before their first phase."""
    states = [fresh_state(number, mutations) for number in range(len(policy.starts))]
    trees = iter(given)
    for number, start in enumerate(policy.starts):
        if start == BY_CHAIN:
            states[number] = state_from(states[number], next(trees))
    return SearchesState(tuple(states))


def _scored(problem: SearchProblem, policy: SearchPolicy, state: SearchState) -> SearchState:
    """Return a search; if it was interrupted before it began at the tree of a chain, with that tree."""
    if state.best_score != NO_SCORE or policy.starts[state.search] != BY_CHAIN:
        return state
    score = problem.score_of(state.parents)
    return replace(state, score=score, best_parents=state.parents, best_score=score)


def _next_phases(policy: SearchPolicy, at: SearchesState) -> list[Phase] | None:
    """Return the next phase of each search; None if the stopping rule holds or no round is left."""
    if at.done == 0:
        return [CLIMB if start == BY_CHAIN else Phase(start=start) for start in policy.starts]
    if policy.enough(at.scores, at.tops) or at.done > len(policy.rounds):
        return None
    return [policy.round_of(at.done, search) for search in range(len(at.states))]


def stages_left(policy: SearchPolicy, at: SearchesState | None) -> tuple[str, ...]:
    """Return the stages that are left to run, in the order of their first use.

    Args:
        policy: policy of the searches.
        at: state of an earlier run between two phases; None for a new run.
    """
    if at is None or at.done == 0:
        return (*dict.fromkeys(start for start in policy.starts if start != BY_CHAIN), *CLIMB_STAGES)
    return () if _next_phases(policy, at) is None else CLIMB_STAGES
