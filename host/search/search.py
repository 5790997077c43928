"""Searches from several starts, in legs: after each leg the policy looks at all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.search.legs import CLIMB, Leg, Works, works_of
from syclade.host.search.policy import BY_CHAIN, SearchPolicy
from syclade.host.search.runner import SearchRunner
from syclade.host.search.work import SearchState, Work, fresh_state, state_from

__all__ = ["SearchOutcome", "SearchProgress", "run_leg", "run_search"]


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
        seconds: wall time.
    """

    best: SearchState
    starts: tuple[str, ...]
    scores: tuple[int, ...]
    legs: int
    agreed: bool
    seconds: float


def run_search(
    runner: SearchRunner,
    policy: SearchPolicy,
    given: Sequence[NDArray[np.int32]] = (),
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchOutcome:
    """Search from all starts of a policy until it says that it is enough.

    Args:
        runner: its slots are overwritten.
        policy: what to do.
        given: trees to start from, one a start BY_CHAIN.
        progress: called after every launch.
    """
    begun, mutations = time.perf_counter(), runner.problem.mutations
    states = [fresh_state(number, mutations) for number in range(len(policy.starts))]
    trees = iter(given)
    for number, start in enumerate(policy.starts):
        if start == BY_CHAIN:
            states[number] = state_from(states[number], next(trees))
    legs = [CLIMB if start == BY_CHAIN else Leg(start=start) for start in policy.starts]
    best = max(state.best_score for state in states)
    done = 0

    def launched(scores: Sequence[int]) -> None:
        nonlocal best
        best = max(best, *scores)
        if progress is not None:
            progress(SearchProgress(done, 1 + len(policy.rounds), best, time.perf_counter() - begun))

    states = run_leg(runner, states, legs, launched)
    before = [state.best_score for state in states]
    for leg in () if policy.enough_at_once(before) else policy.rounds:
        done += 1
        states = run_leg(runner, states, [leg] * len(states), launched)
        scores = [state.best_score for state in states]
        if policy.enough(scores, before):
            break
        before = scores
    scores = [state.best_score for state in states]
    top = max(states, key=lambda state: (state.best_score, -state.search))
    return SearchOutcome(
        top,
        policy.starts,
        tuple(scores),
        done + 1,
        policy.agree(scores),
        time.perf_counter() - begun,
    )


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
        launched([int(scores[slot]) for slot in under_way])
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
