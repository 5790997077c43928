"""Which chains a place advances next, and for how long. Results do not depend on it; only the time does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

__all__ = ["ELSEWHERE", "HERE", "Pace", "choose", "patience_of", "seconds_of"]


class Pace(NamedTuple):
    """Lengths of segments, in seconds.

    Attributes:
        first: until the speed of places is known.
        least: at the end of a round, when segments become shorter so that places end together.
        most: otherwise.
        each: seconds by which segments are longer for each place, so that the process that gives them out is
            not the bottleneck.
    """

    first: float
    least: float
    most: float
    each: float = 0.0

    def longest(self, places: int) -> float:
        """Return the longest segment for a number of places."""
        return max(self.most, self.each * places)


HERE = Pace(0.1, 0.02, 0.25)
"""Segments on devices of this process: long compared with 1 ms for the states."""

ELSEWHERE = Pace(0.5, 0.2, 2.0, each=0.02)
"""Segments in other processes: long compared with some 10 ms for a job, 5 ms of which are the giver's."""

_LAG = 4.0
"""Segments by which a chain may fall behind in a slow place before a faster one must have it."""

_SLOW = 0.5
"""A place is slow if it does less than this part of the mean steps per second of all places."""


def seconds_of(pace: Pace, left: int, speed: float, places: int = 1) -> float:
    """Return the length of the next segment: half of the time that the round still takes, within limits.

    Args:
        pace: the limits.
        left: steps left, over all chains.
        speed: steps per second of all places together; 0 if unknown.
        places: number of places.
    """
    if speed <= 0:
        return pace.first
    return min(pace.longest(places), max(pace.least, 0.5 * left / speed))


def choose(
    left: Mapping[int, int],
    waiting: Collection[int],
    rate: float | None,
    rates: Sequence[float | None],
    units: int,
    others_idle: int,
    patience: float,
) -> list[int]:
    """Return the chains for an idle place: its share of all, those with most steps left first.

    A slow place takes those with the fewest steps left, and none that is too far behind: the last chain to
    end must be in a fast place.

    Args:
        left: steps left of each chain that is not at its target.
        waiting: those of them that are in no place.
        rate: steps per second of the place; None if unknown.
        rates: those of all places.
        units: number of its cores; each has a chain before other places have any.
        others_idle: number of other places that wait for chains; one chain is left for each.
        patience: steps by which a chain in a slow place may be behind the mean.
    """
    known = [one for one in rates if one is not None]
    mean = sum(known) / len(known) if known else 0.0
    share = 1 / len(rates) if rate is None or not mean else rate / (mean * len(rates))
    count = max(1, units, min(int(len(left) * share), len(waiting) - others_idle))
    order = sorted(waiting, key=lambda chain: (-left[chain], chain))
    if rate is None or rate >= _SLOW * mean:
        return order[:count]
    bound = sum(left.values()) / max(1, len(left)) + patience
    return [chain for chain in reversed(order) if left[chain] <= bound][:count]


def patience_of(pace: Pace, speed: float, unfinished: int) -> float:
    """Return the steps by which a chain may fall behind in a slow place."""
    return _LAG * pace.most * speed / max(1, unfinished)
