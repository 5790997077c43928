"""Phases of a search: a start or a warm-up, then a climb. The policy compares all searches after each phase.

A phase is a generator that yields work and is sent the score of the tree after it. The work depends on scores
alone, so it is the same on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.chains.search.kernel import NO_SCORE, SearchState, Work, state_from
from syclade.host.ground.signals import Stopped

if TYPE_CHECKING:
    from syclade.host.chains.search.runner import SearchRunner

__all__ = ["CLIMB", "CLIMB_STAGES", "Phase", "PhaseStopped", "Works", "run_phase", "works_of"]


MOST = 30
"""Limit on the sweeps of a move and on the turns of a loop in a climb; hardly ever reached."""

Works = Generator[Work, int, int]


class Phase(NamedTuple):
    """One phase of a search.

    Attributes:
        start: stage that makes a tree from nothing; empty to continue from the current tree.
        sweeps: number of sweeps of the warm-up, each with three kinds of move; 0 for no warm-up.
        hottest: exponent of the likelihood (`Work.gamma`) in the first sweep of the warm-up. From there
            it rises geometrically.
        coldest: exponent in the last sweep. The higher it is, the greedier the sweep.
        from_best: whether the phase begins with the search's best tree.
    """

    start: str = ""
    sweeps: int = 0
    hottest: float = 1.0
    coldest: float = 4.0
    from_best: bool = False


CLIMB = Phase()

CLIMB_STAGES = ("estimated", "subtrees", "regraft", "exact")
"""All stages of warm-ups and climbs, in the order of their first use."""


def works_of(phase: Phase) -> Works:
    """Yield all work of a phase; return the score at its end."""
    score = NO_SCORE
    if phase.start:
        score = yield Work(phase.start)
    for done in range(phase.sweeps):
        rise = done / max(1, phase.sweeps - 1)
        gamma = phase.hottest * (phase.coldest / phase.hottest) ** rise
        yield Work("estimated", 1, gamma)
        yield Work("subtrees", 1, gamma)
        score = yield Work("regraft", 1, gamma)
    return (yield from _climb(score))


def _climb(score: int) -> Works:
    """Make the best moves until none gains: the cheap ones first, then one sweep of the exact one."""
    for _ in range(MOST):
        score = yield from _climb_cheaply(score)
        before = score
        score = yield Work("exact", 1)
        if score <= before:
            break
    return score


def _climb_cheaply(score: int) -> Works:
    """Alternate between moves in both kinds of tree: a local optimum of one may not be one of the other."""
    for turn in range(MOST):
        before = score
        yield Work("estimated", MOST)
        score = yield Work("subtrees", MOST)
        if turn > 0 and score <= before:
            break
        before = score
        score = yield Work("regraft", MOST)
        if score <= before:
            break
    return score


class PhaseStopped(Stopped):
    """Raised when a phase is stopped between two launches.

    Attributes:
        states: states of all searches at that time.
    """

    def __init__(self, states: Sequence[SearchState]) -> None:
        super().__init__()
        self.states = tuple(states)


def run_phase(
    runner: SearchRunner,
    states: Sequence[SearchState],
    phases: Sequence[Phase],
    launched: Callable[[Sequence[int]], None],
) -> list[SearchState]:
    """Run one phase of every search and return their states; a slot takes the next search when one is done.

    Args:
        runner: runner of the searches; its slots are overwritten.
        states: state of each search.
        phases: phase of each search.
        launched: called after every launch with the scores of the searches in slots.

    Raises:
        PhaseStopped: `launched` raised `Stopped`.
    """
    ended = list(states)
    waiting = iter(range(len(states)))
    under_way: dict[int, _UnderWay] = {}

    def fill(slot: int) -> None:
        under_way.pop(slot, None)
        number = next(waiting, None)
        if number is not None:
            state, phase = states[number], phases[number]
            runner.put(slot, state_from(state, state.best_parents) if phase.from_best else state)
            works = works_of(phase)
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
            raise PhaseStopped(ended) from None
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
