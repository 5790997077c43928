"""Phases of a search: a start or a warm-up, then a climb. The policy compares all searches after each phase.

A phase is a generator that yields work and is sent the score of the tree after it. The work depends on scores
alone, so it is the same on every device.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from syclade.host.chains.search.work import NO_SCORE, Work

__all__ = ["CLIMB", "CLIMB_STAGES", "Leg", "Works", "works_of"]

MOST = 30
"""Limit on the sweeps of a move and on the turns of a loop in a climb; hardly ever reached."""

Works = Generator[Work, int, int]


class Leg(NamedTuple):
    """One phase of a search.

    Attributes:
        start: stage that makes a tree from nothing; empty to continue from the current tree.
        sweeps: number of sweeps of the warm-up, each with three kinds of move; 0 for no warm-up.
        softest: exponent of the likelihood (`Work.gamma`) in the first sweep of the warm-up. From there
            it rises geometrically.
        hardest: exponent in the last sweep. The higher it is, the greedier the sweep.
        from_best: whether the phase begins with the search's best tree.
    """

    start: str = ""
    sweeps: int = 0
    softest: float = 1.0
    hardest: float = 4.0
    from_best: bool = False


CLIMB = Leg()

CLIMB_STAGES = ("estimated", "subtrees", "regraft", "exact")
"""All stages of warm-ups and climbs, in the order of their first use."""


def works_of(leg: Leg) -> Works:
    """Yield all work of a phase; return the score at its end."""
    score = NO_SCORE
    if leg.start:
        score = yield Work(leg.start)
    for done in range(leg.sweeps):
        rise = done / max(1, leg.sweeps - 1)
        gamma = leg.softest * (leg.hardest / leg.softest) ** rise
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
