"""Searches from several starts, in legs: after each leg the policy looks at all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.running import Stopped
from syclade.host.search.legs import CLIMB, CLIMB_STAGES, Leg, Works, works_of
from syclade.host.search.policy import BY_CHAIN, SearchPolicy
from syclade.host.search.runner import SearchRunner
from syclade.host.search.work import SearchState, Work, fresh_state, state_from

__all__ = ["LegStopped", "Legs", "SearchOutcome", "SearchProgress", "run_leg", "run_search", "stages_left"]


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    Attributes:
        leg: which one is under way, from 0.
        legs: how many there will be at most.
        best_score: of any tree yet, in the problem's units.
        seconds: since the first.
    """

    leg: int
    legs: int
    best_score: int
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What searches have found.

    Attributes:
        best: the search with the best tree (of equal ones, that with the lowest number).
        starts: how each search began.
        scores: the best score of each, in the problem's units.
        legs: that each has done.
        agreed: whether the policy says that searches agree.
        stopped: whether they were stopped before they were done.
        seconds: wall time.
        trees: the best tree of each, as a parent vector.
    """

    best: SearchState
    starts: tuple[str, ...]
    scores: tuple[int, ...]
    legs: int
    agreed: bool
    stopped: bool
    seconds: float
    trees: tuple[NDArray[np.int32], ...] = ()


class LegStopped(Stopped):
    """A leg was stopped between two launches.

    Attributes:
        states: where all searches are by then.
    """

    def __init__(self, states: Sequence[SearchState]) -> None:
        super().__init__()
        self.states = tuple(states)


def run_search(
    runner: SearchRunner,
    policy: SearchPolicy,
    given: Sequence[NDArray[np.int32]] = (),
    progress: Callable[[SearchProgress], None] | None = None,
    *,
    resumed: Legs | None = None,
    between: Callable[[Legs], None] | None = None,
) -> SearchOutcome:
    """Search from all starts of a policy until it says that it is enough.

    Args:
        runner: its slots are overwritten.
        policy: what to do.
        given: trees to start from, one a start BY_CHAIN.
        progress: called after every launch; may raise `Stopped`.
        resumed: where an earlier run was between two legs; then `given` is not looked at.
        between: called between two legs.
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
        while (legs := _next_legs(policy, at)) is not None:
            ended = run_leg(runner, at.states, legs, launched)
            at = at.after(ended)
            if between is not None:
                between(at)
    except LegStopped as found:
        at, stopped = Legs(found.states, at.tops), True
    top = max(at.states, key=lambda state: (state.best_score, -state.search))
    agreed = not stopped and policy.agree(at.scores)
    seconds = time.perf_counter() - begun
    trees = tuple(state.best_parents for state in at.states)
    return SearchOutcome(top, policy.starts, at.scores, at.done, agreed, stopped, seconds, trees)


class Legs(NamedTuple):
    """Where searches are between two legs.

    Attributes:
        states: of all searches.
        tops: the best score of all after each leg.
    """

    states: tuple[SearchState, ...]
    tops: tuple[int, ...] = ()

    @property
    def done(self) -> int:
        """Legs."""
        return len(self.tops)

    @property
    def scores(self) -> tuple[int, ...]:
        """The best score of each."""
        return tuple(state.best_score for state in self.states)

    def after(self, states: Sequence[SearchState]) -> Legs:
        """Where they are a leg later."""
        return Legs(tuple(states), (*self.tops, max(state.best_score for state in states)))


def _start(mutations: int, policy: SearchPolicy, given: Sequence[NDArray[np.int32]]) -> Legs:
    """All searches before their first leg."""
    states = [fresh_state(number, mutations) for number in range(len(policy.starts))]
    trees = iter(given)
    for number, start in enumerate(policy.starts):
        if start == BY_CHAIN:
            states[number] = state_from(states[number], next(trees))
    return Legs(tuple(states))


def _next_legs(policy: SearchPolicy, at: Legs) -> list[Leg] | None:
    """The next leg of each search; None where it is enough, or nothing is left to do."""
    if at.done == 0:
        return [CLIMB if start == BY_CHAIN else Leg(start=start) for start in policy.starts]
    if policy.enough(at.scores, at.tops) or at.done > len(policy.rounds):
        return None
    return [policy.round_of(at.done, search) for search in range(len(at.states))]


def stages_left(policy: SearchPolicy, at: Legs | None) -> tuple[str, ...]:
    """Return the stages that are left to run, in the order of their first use.

    Args:
        policy: of the search.
        at: where an earlier run was between two legs; None for a new one.
    """
    if at is None or at.done == 0:
        return (*dict.fromkeys(start for start in policy.starts if start != BY_CHAIN), *CLIMB_STAGES)
    return () if _next_legs(policy, at) is None else CLIMB_STAGES


def run_leg(
    runner: SearchRunner,
    states: Sequence[SearchState],
    legs: Sequence[Leg],
    launched: Callable[[Sequence[int]], None],
) -> list[SearchState]:
    """Take every search through its leg; slots are filled anew as searches are done.

    Args:
        runner: its slots are overwritten.
        states: of the searches.
        legs: of each.
        launched: called with the scores of the searches in slots, after every launch.

    Raises:
        LegStopped: where `launched` raised `Stopped`.
    """
    ended = list(states)
    waiting = iter(range(len(states)))
    under_way: dict[int, _UnderWay] = {}

    def fill(slot: int) -> None:
        under_way.pop(slot, None)
        number = next(waiting, None)
        if number is not None:
            state, leg = states[number], legs[number]
            runner.put(slot, state_from(state, state.best_parents) if leg.from_best else state)
            works = works_of(leg)
            under_way[slot] = _UnderWay(number, works, next(works))

    for slot in range(runner.slots):
        fill(slot)
    while under_way:
        todo = [under_way[slot].work if slot in under_way else None for slot in range(runner.slots)]
        scores = runner.run(todo)
        try:
            launched([int(scores[slot]) for slot in under_way])
        except Stopped:
            for slot, one in under_way.items():
                ended[one.number] = runner.get(slot)
            raise LegStopped(ended) from None
        for slot, one in list(under_way.items()):
            try:
                one.work = one.works.send(int(scores[slot]))
            except StopIteration:
                ended[one.number] = runner.get(slot)
                fill(slot)
    return ended


class _UnderWay:
    """A search in a slot."""

    def __init__(self, number: int, works: Works, work: Work) -> None:
        self.number = number
        self.works = works
        self.work = work
