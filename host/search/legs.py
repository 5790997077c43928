"""What a search does between two looks at all searches: a start or a warm-up, then a climb.

Each is a generator that yields work and is sent the score of the tree after it. What is done depends on
scores alone, so that it is the same on every device.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from syclade.host.search.work import NO_SCORE, Work

__all__ = ["CLIMB", "CLIMB_STAGES", "Leg", "Works", "works_of"]

MOST = 30
"""Sweeps or turns after which a climb goes on to the next kind of move in any case: hardly ever reached."""

Works = Generator[Work, int, int]


class Leg(NamedTuple):
    """One leg.

    Attributes:
        start: a stage that makes a tree from nothing; empty: from the tree that is there.
        sweeps: of a warm-up, each of three kinds of move; 0: none.
        softest: exponent of its first sweep, which rises geometrically ...
        hardest: ... to that of the last; the greater, the greedier.
        from_best: whether it begins with the search's best tree.
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
    """All work of a leg."""
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
    """Best moves only, until none gains: cheap ones to their end, then a sweep of the exact one."""
    for _ in range(MOST):
        score = yield from _climb_cheaply(score)
        before = score
        score = yield Work("exact", 1)
        if score <= before:
            break
    return score


def _climb_cheaply(score: int) -> Works:
    """Moves in both kinds of tree in turns: a valley of the one may be a step of the other."""
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
