"""Run one phase of searches in the slots of a runner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syclade.host.chains.runs.task import Stopped
from syclade.host.chains.search.phase import Leg, Works, works_of
from syclade.host.chains.search.work import SearchState, Work, state_from

if TYPE_CHECKING:
    from syclade.host.chains.search.runner import SearchRunner

__all__ = ["LegStopped", "run_leg"]


class LegStopped(Stopped):
    """Raised when a phase is stopped between two launches.

    Attributes:
        states: states of all searches at that time.
    """

    def __init__(self, states: Sequence[SearchState]) -> None:
        super().__init__()
        self.states = tuple(states)


def run_leg(
    runner: SearchRunner,
    states: Sequence[SearchState],
    legs: Sequence[Leg],
    launched: Callable[[Sequence[int]], None],
) -> list[SearchState]:
    """Run one phase of every search and return their states; a slot takes the next search when one is done.

    Args:
        runner: runner of the searches; its slots are overwritten.
        states: state of each search.
        legs: phase of each search.
        launched: called after every launch with the scores of the searches in slots.

    Raises:
        LegStopped: `launched` raised `Stopped`.
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
    """Search that is in a slot."""

    def __init__(self, number: int, works: Works, work: Work) -> None:
        self.number = number
        self.works = works
        self.work = work
