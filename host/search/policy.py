"""How many searches there are, from which starts, with which legs, and when it is enough.

All of it follows from the sizes of the problem and from scores at the ends of legs, so that one seed gives
one answer everywhere. The figures were found on simulated and real matrices (docs/search.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.search.legs import Leg

__all__ = ["SearchPolicy", "policy_for"]

_ROUNDS = (
    Leg(sweeps=10, softest=1.0, hardest=5.0, from_best=True),
    Leg(sweeps=20, softest=1.0, hardest=4.0, from_best=True),
    Leg(sweeps=80, softest=0.7, hardest=3.0, from_best=True),
    Leg(sweeps=100, softest=0.5, hardest=3.0, from_best=True),
    Leg(sweeps=200, softest=0.5, hardest=3.0, from_best=True),
    Leg(sweeps=400, softest=0.5, hardest=3.0, from_best=True),
)
"""Short rounds first, then long and slow ones, which noisy data want."""

_BUDGET = 1.2e10
"""Vectors of numbers that all warm-ups of all searches may go through: some 30 s of a core at 2.5 ns."""

_LANES, _OVERHEAD = 16, 6
"""Numbers a vector, and what a row costs besides, in vectors."""

_MANY = ((6e4, 8), (1e6, 4), (4e6, 3))
"""(entries of the matrix, searches): as many up to so many entries; two beyond."""

_TALL = 10
"""Columns a mutation from which on the start by columns takes longer than all the rest."""

BY_CHAIN = "by-chain"
"""Starts where a chain has come to: what chains cross climbs do not, and the other way round."""


@dataclass(frozen=True)
class SearchPolicy:
    """See the module.

    Attributes:
        starts: a stage a search, or BY_CHAIN.
        rounds: legs after the first climb, for all searches alike.
    """

    starts: tuple[str, ...]
    rounds: tuple[Leg, ...]

    @property
    def by_columns(self) -> bool:
        """Whether any search starts by columns."""
        return "by-columns" in self.starts

    def agree(self, scores: Sequence[int]) -> bool:
        """Whether half of the searches, from two different starts, have found the best score.

        Every chain is a start of its own, from its own random tree.
        """
        best = max(scores)
        reached = [start for start, score in zip(self.starts, scores, strict=True) if score == best]
        different = len(set(reached) - {BY_CHAIN}) + reached.count(BY_CHAIN)
        return 2 * len(reached) >= len(scores) and different >= 2

    def enough(self, scores: Sequence[int], before: Sequence[int]) -> bool:
        """Whether to stop: the searches agree, and the last round found nothing better.

        Args:
            scores: the best of each search.
            before: likewise, a round ago.
        """
        return self.agree(scores) and max(before) == max(scores)


def policy_for(mutations: int, columns: int) -> SearchPolicy:
    """The policy for a problem of so many mutations and distinct columns."""
    entries = mutations * columns
    searches = next((many for most, many in _MANY if entries <= most), 2)
    kinds = ("by-mutations",) if columns >= _TALL * mutations else ("by-mutations", "by-columns")
    starts = (*kinds, *[BY_CHAIN] * searches)[:searches]
    return SearchPolicy(starts, _rounds_for(mutations, columns, searches))


def _rounds_for(mutations: int, columns: int, searches: int) -> tuple[Leg, ...]:
    """As many rounds as the budget has room for; one in any case."""
    leaves = min(columns, mutations + 1)
    subtrees = mutations**2 * (columns / _LANES + _OVERHEAD)
    regrafts = (2 * leaves) ** 2 * (mutations / _LANES + _OVERHEAD)
    left = _BUDGET / ((subtrees + regrafts) * searches)
    rounds: list[Leg] = []
    for leg in _ROUNDS:
        left -= leg.sweeps
        if rounds and left < 0:
            break
        rounds.append(leg)
    return tuple(rounds)
