"""Budgets: how many steps the chains that sample trees for support may do, from the sizes of the matrix only.

A budget never depends on the clock, so one seed gives the same support on every machine.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from syclade.host.findings.samples.sampling import Sampling

__all__ = ["CHAINS", "Budget", "budget_for"]

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
"""Additional time of quick support with doublets: at most about twice that without."""

_FULL_SECONDS = 3600.0

_RENEWALS, _LEAST_RENEWAL = 768, 256
"""Gibbs steps of the shares in all rounds of quick support, at least, and the fewest steps of a chain between
two of them. The effective sample size of the log-likelihood is at most that of the shares."""

_CHEAP_ENTRIES = 150_000
"""Entries of the largest matrices with so many Gibbs steps; of larger ones they would take more time than the
steps between them."""


class Budget(NamedTuple):
    """Steps of each chain: a first round, and rounds that each double the number of steps done.

    Attributes:
        samples: samples of each chain in each other round; they are judged together.
        first: steps of the first round, a multiple of `samples`.
        doublings: number of the other rounds, at least 1.
        apart: most steps between two Gibbs steps of the shares.
    """

    samples: int
    first: int
    doublings: int
    apart: int = _LEAST_RENEWAL

    @property
    def renewal(self) -> int:
        """Steps between two Gibbs steps of the shares: a divisor of `samples`."""
        return _greatest_divisor(self.samples, self.apart)

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


def budget_for(level: str, mutations: int, columns: int, *, doublets: bool) -> Budget:
    """Return the budget for a matrix.

    Args:
        level: quick or full.
        mutations, columns: numbers of mutations and of distinct columns.
        doublets: whether the score is that with doublets.
    """
    samples = 4096 if mutations <= 128 else 2048
    entries = mutations * columns
    alone, of_entry = _DOUBLETS_SECONDS if doublets else _SUM_SECONDS
    step = alone + of_entry * entries
    wanted, seconds, doublings = (
        _STEPS_OF_SQUARE * mutations**2 + _LEAST_STEPS,
        _quick_seconds(entries),
        _QUICK_DOUBLINGS,
    )
    if doublets:
        renewal, of_renewal = _DOUBLETS_RENEWAL
        step += (renewal + of_renewal * entries) / (CHAINS * _DOUBLETS_APART)
        seconds += _DOUBLETS_EXTRA
    if level == "full":
        wanted, seconds, doublings = wanted * _FULL_FACTOR, _FULL_SECONDS, 12
    most = max(int(min(wanted, seconds / (CHAINS * step))), 2 * samples)
    doublings = min((most // samples).bit_length() - 1, doublings)
    first = samples * max(1, round(most / (samples << doublings)))
    if doublets:
        return Budget(samples, first, doublings, _DOUBLETS_APART)
    renewals = max(1, int(_RENEWALS * min(1.0, _CHEAP_ENTRIES / entries)))
    return Budget(samples, first, doublings, max((first << _QUICK_DOUBLINGS) // renewals, _LEAST_RENEWAL))


def _quick_seconds(entries: int) -> float:
    """Return the time of quick support on two cores: less than a second where a search takes less, too.

    Args:
        entries: number of mutations, times that of distinct columns.
    """
    return min(0.4 + 1.5e-7 * entries**2, 4.0) + 2e-5 * entries


@cache
def _greatest_divisor(number: int, most: int) -> int:
    """Return the greatest divisor of a number that is no greater than `most`."""
    return max(divisor for divisor in range(1, min(most, number) + 1) if number % divisor == 0)
