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
    *(
        Leg(sweeps=sweeps, softest=1.0, hardest=10.0, from_best=True)
        for sweeps in (20, 80, 150, 300, 600, 1000)
    ),
)
"""Short rounds first, then long and slow ones, which noisy data want."""

_HOT, _HOT_FROM = 0.3, 20
"""Every other search begins rounds of so many sweeps and more softer: what rates that fit badly make deep."""

_BUDGET = 1.8e10
"""Vectors of numbers that all warm-ups of all searches may go through: some 45 s of a core at 2.5 ns."""

_MUCH = 0.04
"""A first round that takes more of the budget is left out where all searches agree before it."""

_LONG = 80
"""Sweeps of a round that finds what short ones pass by, even where all searches agree ..."""

_LONG_SHARE = 0.25
"""... and which is always gone through where it takes no more of the budget than this."""

_LANES = 16
"""Numbers a vector."""

_A_PLACE, _AN_EDGE = 18, 6
"""What a place of a subtree, and an edge of the cell tree, costs besides its row, in vectors."""

_MANY = ((1e4, 16), (6e4, 8), (1e6, 4), (4e6, 3))
"""(entries of the matrix, searches): as many up to so many entries; two beyond."""

_AGREEING = 4
"""So many of eight searches or more have to find the best score."""

_TALL = 10
"""Columns a mutation from which on the start by columns takes longer than all the rest."""

BY_CHAIN = "by-chain"
"""Starts where a chain has come to: what chains cross climbs do not, and the other way round."""


@dataclass(frozen=True)
class SearchPolicy:
    """See the module.

    Attributes:
        starts: a stage a search, or BY_CHAIN.
        rounds: legs after the first climb; some searches go through them softer (`round_of`).
        sure: whether no round is needed where all searches have climbed to the same score: for large inputs,
            whose rounds take seconds.
        stand: sweeps of a round that has to pass without a better tree before it is enough, if first climbs
            had not found the best one: then easy agreement may be on the second best.
    """

    starts: tuple[str, ...]
    rounds: tuple[Leg, ...]
    sure: bool = False
    stand: int = 0

    @property
    def by_columns(self) -> bool:
        """Whether any search starts by columns."""
        return "by-columns" in self.starts

    def round_of(self, number: int, search: int) -> Leg:
        """The leg that a search does after so many, of which the first is 1."""
        leg = self.rounds[number - 1]
        return leg._replace(softest=_HOT) if search % 2 and leg.sweeps >= _HOT_FROM else leg

    def agree(self, scores: Sequence[int]) -> bool:
        """Whether four searches, or half of fewer, have found the best score, from two different starts.

        Every chain is a start of its own, from its own random tree.
        """
        best = max(scores)
        reached = [start for start, score in zip(self.starts, scores, strict=True) if score == best]
        different = len(set(reached) - {BY_CHAIN}) + reached.count(BY_CHAIN)
        return len(reached) >= min(_AGREEING, (len(scores) + 1) // 2) and different >= 2

    def enough(self, scores: Sequence[int], tops: Sequence[int]) -> bool:
        """Whether to stop: the searches agree, and what they agree on has stood.

        Args:
            scores: the best of each search.
            tops: the best of all after each leg.
        """
        if not self.agree(scores):
            return False
        if len(tops) == 1:
            return self.sure and min(scores) == max(scores)
        stood = self.rounds[len(tops) - 2].sweeps
        return tops[-1] == tops[-2] and (tops[-1] == tops[0] or stood >= self.stand)


def policy_for(mutations: int, columns: int) -> SearchPolicy:
    """The policy for a problem of so many mutations and distinct columns."""
    entries = mutations * columns
    searches = next((many for most, many in _MANY if entries <= most), 2)
    kinds = ("by-mutations",) if columns >= _TALL * mutations else ("by-mutations", "by-columns")
    starts = (*kinds, *[BY_CHAIN] * searches)[:searches]
    sweeps = _BUDGET / (_cost_of_sweep(mutations, columns) * searches)
    return SearchPolicy(
        starts,
        _rounds_for(sweeps),
        sure=_ROUNDS[0].sweeps > _MUCH * sweeps,
        stand=_LONG if _LONG_SHARE * sweeps >= _LONG else 0,
    )


def _cost_of_sweep(mutations: int, columns: int) -> float:
    """Vectors of numbers that a warm-up's sweep of each kind of move goes through."""
    leaves = min(columns, mutations + 1)
    subtrees = mutations**2 * (columns / _LANES + _A_PLACE)
    regrafts = (2 * leaves) ** 2 * (mutations / _LANES + _AN_EDGE)
    return subtrees + regrafts


def _rounds_for(left: float) -> tuple[Leg, ...]:
    """As many rounds as there are sweeps for, the last one cut short if need be; one in any case."""
    rounds: list[Leg] = []
    for leg in _ROUNDS:
        fitting = min(leg.sweeps, int(left))
        if rounds and fitting < rounds[-1].sweeps:  # nothing that a shorter round has not tried
            break
        rounds.append(leg._replace(sweeps=fitting) if rounds else leg)
        left -= leg.sweeps
    return tuple(rounds)
