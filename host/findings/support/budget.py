"""Budget of the chains that sample trees: how many steps and samples, and how far Gibbs steps are apart.

It follows from the sizes of the matrix, never from the clock, so one seed gives the same support on every
machine.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from syclade.host.chains.gibbs import draws_places
from syclade.host.findings.samples.diagnostics import SPREAD
from syclade.host.findings.samples.sampled import Sampling

__all__ = ["CHAINS", "FEW_MUTATIONS", "Budget", "budget_for"]


CHAINS = 4
"""Chains: as many as R-hat needs, because each has a burn-in of its own."""

_STEPS_OF_SQUARE, _LEAST_STEPS = 800, 300_000
"""Steps of each chain per mutation squared, and besides: after half of these, half of them burn-in, the
chains of simulated matrices of 6 to 64 mutations had 300 to 400 effective samples of the log-likelihood."""

_QUICK_DOUBLINGS = 4

_FULL_FACTOR = 64
"""Chains for full support may do this many times as many steps."""

_SUM_SECONDS, _DOUBLETS_SECONDS = (0.15e-6, 1.2e-11), (1.1e-6, 3.8e-10)
"""Time of a step on two cores, and the additional time per mutation and distinct column: of the sum score,
and of the score with doublets."""

_DOUBLETS_APART, _DOUBLETS_RENEWAL = 1024, (1.2e-3, 5e-7)
"""Steps between two Gibbs steps of the shares with doublets, and their time, in the same way, for all chains:
about half of that of the steps."""

_DOUBLETS_EXTRA = 5.0
"""Additional time of quick support with doublets, s: twice that without at 64 × 63."""

_FULL_SECONDS = 3600.0

_RENEWALS, _FEWEST_RENEWALS, _LEAST_RENEWAL, _STEPS_OF_MUTATION = 768, 256, 256, 5
"""Gibbs steps of the shares in all rounds of quick support, of small matrices and at least, and the fewest
steps of a chain between two of them, in all and per mutation: Gibbs steps also draw the places of all
mutations. The effective sample size of the log-likelihood is at most that of the shares."""

_RENEWALS_OF_MANY, _RENEWALS_OF_MOST = 768, 512
"""Fewest Gibbs steps of larger trees, where these also draw places and swap labels of neighbours, and where
mutations outnumber the distinct columns. With 512 in place of 256, effective samples were 1.3 and 1.6 times
as many at 500 x 500 and 1000 x 500; with 768 nearly all runs there have enough (docs/performance.md)."""

FEW_MUTATIONS = 128
"""Most mutations of trees that cost little. Of more, 4032 samples of all chains say as much as 16,384, and
chains for quick support end when their samples are enough."""

_SAMPLES_OF_MANY, _SAMPLES_WITH_DOUBLETS = 672, 1024
"""Samples of a chain in a round of larger trees: with half as many of the round before, 1008. With doublets,
whose chains are too short to be near the posterior after a quarter of their steps, the last round alone is
judged."""

_MANY_COLUMNS, _SPACING_OF_MANY, _MOST_ENTRIES = 8, 512, 600_000
"""Distinct columns per mutation from which shares and trees hold each other fast, and the most steps between
two Gibbs steps there; half as many in matrices that are not cheap, whose steps take longer. With 2048 for
512, pairs had a third of the effective samples (docs/performance.md). In matrices of more entries, so many
Gibbs steps take three times as long as all else (5000 x 300)."""

_MORE_DOUBLINGS, _RENEWALS_OF_ROUND, _FEWER_AT_FIRST = 2, 128, 4
"""More rounds, and fewest Gibbs steps of a round, of such matrices: their tree is often certain, and then a
short round says enough of the shares. The first one, which is not judged, has a quarter."""

_CHEAP_ENTRIES = 150_000
"""Entries of the largest matrices with so many Gibbs steps; of larger ones they would take more time than the
steps between them."""


class Budget(NamedTuple):
    """Steps of each chain: a first round, and rounds that each double the number of steps done.

    Attributes:
        samples: samples of each chain in each other round; they are judged together.
        first: steps of the first round, a multiple of `samples`.
        doublings: number of the other rounds, at least 1.
        spacing: most steps between two Gibbs steps of the shares.
        spread: spread between the chains above which these go on, while the budget lasts.
        rounds: number of rounds, 1 or 2, whose samples are judged together, as far apart in both. Those of
            the first round never are.
        renewals: fewest Gibbs steps of a round that is judged, for which they may be closer; 0 for as far
            apart in all.
    """

    samples: int
    first: int
    doublings: int
    spacing: int = _LEAST_RENEWAL
    spread: float = SPREAD
    rounds: int = 1
    renewals: int = 0

    def begun(self, steps: int) -> int:
        """Return the steps after which the round began that goes on after so many steps."""
        return self.first << ((steps // self.first).bit_length() - 1) if steps >= self.first else 0

    def renewal_after(self, steps: int) -> int:
        """Return the steps between two Gibbs steps of the shares in the round after so many steps."""
        if not self.renewals:
            return _greatest_divisor(self.first, self.spacing)
        length = max(self.first, self.begun(steps))
        fewest = self.renewals if steps >= self.first else self.renewals // _FEWER_AT_FIRST
        return _greatest_divisor(length, min(self.spacing, length // fewest))

    @property
    def most(self) -> int:
        """Steps of each chain at the end of the last round."""
        return self.first << self.doublings

    @property
    def sampling_of_first(self) -> Sampling:
        """Sampling of the first round: the guide of the next one is made from it, but nothing else."""
        return Sampling(self.first // self.samples, 0)

    def sampling_after(self, steps: int) -> Sampling:
        """Return the sampling of the round that begins after so many steps, and has as many steps."""
        return Sampling(steps // self.samples, steps)

    def judged_at(self, steps: int) -> Sampling:
        """Return the sampling of what is judged at the end of a round, after so many steps."""
        begun = max(steps >> self.rounds, self.first)
        return Sampling(steps // 2 // self.samples, begun)


def budget_for(level: str, mutations: int, columns: int, *, doublets: bool) -> Budget:
    """Return the budget for a matrix.

    Args:
        level: quick or full.
        mutations, columns: numbers of mutations and of distinct columns.
        doublets: whether the score is that with doublets.
    """
    few = mutations <= FEW_MUTATIONS
    samples = 4096 if few else _SAMPLES_WITH_DOUBLETS if doublets else _SAMPLES_OF_MANY
    entries = mutations * columns
    alone, of_entry = _DOUBLETS_SECONDS if doublets else _SUM_SECONDS
    step = alone + of_entry * entries
    wanted, seconds, doublings = (
        _STEPS_OF_SQUARE * mutations**2 + _LEAST_STEPS,
        _quick_seconds(mutations, entries),
        _QUICK_DOUBLINGS,
    )
    if doublets:
        renewal, of_renewal = _DOUBLETS_RENEWAL
        step += (renewal + of_renewal * entries) / (CHAINS * _DOUBLETS_APART)
        seconds += _DOUBLETS_EXTRA
    close = columns >= _MANY_COLUMNS * mutations and entries <= _MOST_ENTRIES
    soon = close and level != "full" and not doublets
    if level == "full":
        wanted, seconds, doublings = wanted * _FULL_FACTOR, _FULL_SECONDS, 12
    elif soon:
        doublings += _MORE_DOUBLINGS
    most = max(int(min(wanted, seconds / (CHAINS * step))), 2 * samples)
    doublings = min((most // samples).bit_length() - 1, doublings)
    first = samples * max(1, round(most / (samples << doublings)))
    spread = SPREAD if level == "full" or few else math.inf
    if doublets:
        return Budget(samples, first, doublings, _DOUBLETS_APART, spread)
    fewest = _FEWEST_RENEWALS
    if not few and draws_places(mutations, columns):
        fewest = _RENEWALS_OF_MANY if columns >= mutations else _RENEWALS_OF_MOST
    gibbs_steps = max(fewest, int(_RENEWALS * min(1.0, _CHEAP_ENTRIES / entries)))
    steps = first << (doublings if soon else _QUICK_DOUBLINGS)
    spacing = max(steps // gibbs_steps, min(_STEPS_OF_MUTATION * mutations, steps // fewest), _LEAST_RENEWAL)
    if close:
        spacing = min(spacing, _SPACING_OF_MANY // (1 if entries < _CHEAP_ENTRIES else 2))
    renewals = _RENEWALS_OF_ROUND if soon else 0
    return Budget(samples, first, doublings, spacing, spread, rounds=1 if few else 2, renewals=renewals)


def _quick_seconds(mutations: int, entries: int) -> float:
    """Return the time of quick support on two cores: less than a second where a search takes less, too.

    Large trees have less, since Gibbs steps take a part of it and make samples worth more.

    Args:
        mutations: number of mutations.
        entries: the same, times that of distinct columns.
    """
    most, of_entry = (4.0, 2e-5) if mutations <= FEW_MUTATIONS else (3.2, 1.6e-5)
    return min(0.4 + 1.5e-7 * entries**2, most) + of_entry * entries


@cache
def _greatest_divisor(number: int, most: int) -> int:
    """Return the greatest divisor of a number that is no greater than `most`."""
    return max(divisor for divisor in range(1, min(most, number) + 1) if number % divisor == 0)
