"""Rounds of chains that sample trees until they are enough: each round doubles the steps done.

The samples that are judged are those of the last round, so burn-in is the first half of all steps, and as
many samples are judged after a long run as after a short one. Of large trees, whose steps cost most, those of
the round before are judged, too, so burn-in is the first quarter (not with doublets). The samples of a round
also make the guide by which the chains propose trees in the next one; within a round the guide does not
change. The budget says how many steps the chains may do (`budget.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.convergence import Change
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import ChainState, Event
from syclade.host.data.diagnostics import (
    Kept,
    PairSizes,
    bulk_ess,
    likely_chains,
    pair_sizes,
    split_rhat,
)
from syclade.host.findings.samples.diagnostics import ESS, RHAT
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.findings.samples.sampled import Sampling
from syclade.host.findings.support.budget import CHAINS, Budget
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.signals import give_way

__all__ = [
    "ERROR",
    "PAIRS",
    "Judged",
    "Renew",
    "SupportRounds",
    "enough",
    "error_of",
    "may_end",
]


ERROR = 0.01
"""Largest mean standard error of the probabilities that one mutation is above another with which samples are
enough. That of two runs with other seeds is as large as their difference says (docs/trust.md)."""

PAIRS = 200
"""Most uncertain pairs whose effective sample size is measured."""

_BRIEF_ENTRIES, _BRIEF_SAMPLES = 10**7, 32
"""After a stop request: most samples times pairs of mutations, and fewest samples."""

Judge = Callable[[SampleStore, Sampling], SampledMutationTrees]

Renew = Callable[[Sequence[ChainState]], Sequence[ChainState]]

Guide = Callable[[SampleStore], Mapping[str, NDArray[np.int32]]]

_CHECKED = 2
"""Rounds besides the first before it is checked whether the rates fit: a quarter of the steps of quick
support."""


class Judged(NamedTuple):
    """Samples of a round.

    Attributes:
        sampled: the samples with their diagnostics.
        steps: steps of each chain until then.
        pairs: effective sample sizes of some uncertain pairs.
        enough: whether they are enough (`enough`).
        shared: states after the Gibbs steps of the round: samples of trees with shares; empty without shares.
        kept: the chains that all of these are of.
    """

    sampled: SampledMutationTrees
    steps: int
    pairs: PairSizes
    enough: bool
    shared: Sequence[ChainState]
    kept: Kept


class _Round(NamedTuple):
    """Samples of a round.

    Attributes:
        store: the samples.
        shared: states after the Gibbs steps.
    """

    store: SampleStore
    shared: list[ChainState]


class SupportRounds:
    """Rule of the rounds, and the sink that takes their samples; see `convergence.Rule`.

    Args:
        budget: steps of the rounds.
        nodes: number of nodes of a tree.
        judge: (samples, their sampling) -> the samples with their diagnostics.
        guide: (samples of a round) -> tables of the guided moves for the next round; None if there are none.
        unit: log-likelihood of 1 in the integer scores.
        every_pair: whether the rounds go on while a measured pair is rough.
        renew: Gibbs step of the states' shares, every `Budget.renewal_after` steps; None if cells have none.
        unplaced: mutations whose pairs are not measured.
        fits: (states with shares of a round) -> whether their rates fit. Chains whose rates do not are ended
            after few rounds, since they will be run under others; None for rates that are final.
    """

    def __init__(
        self,
        budget: Budget,
        nodes: int,
        judge: Judge,
        guide: Guide | None = None,
        *,
        unit: float = 1.0,
        every_pair: bool = False,
        renew: Renew | None = None,
        unplaced: Unplaced | None = None,
        fits: Callable[[Sequence[ChainState]], bool] | None = None,
    ) -> None:
        self._fits = fits
        self._budget, self._nodes, self._judge, self._guide = budget, nodes, judge, guide
        self._unit, self._every_pair, self._renew = unit, every_pair, renew
        self._unplaced = unplaced or Unplaced()
        self._store = SampleStore(nodes)
        self._ended: tuple[SampleStore, int] | None = None
        self._judged: Judged | None = None
        self._shared: list[ChainState] = []
        self._before: _Round | None = None
        self._shared_of_ended: Sequence[ChainState] = ()
        self._thinned = 1
        self._satisfied: tuple[int, bool] | None = None

    @property
    def judged(self) -> Judged | None:
        """Samples of the last round that has ended; None before there is one.

        Chains far below the best one are left out, and of a single chain, samples are not enough.

        Raises:
            Stopped: a stop was requested meanwhile (`signals.give_way`).
        """
        if self._judged is None and self._ended is not None:
            (store, kept), steps = self._of_likely_chains(self._ended[0]), self._ended[1]
            sampling = self._budget.judged_at(steps)
            sampled = self._judge(store, replace(sampling, every=sampling.every * self._thinned))
            give_way()
            shares = self._unplaced.ancestors_of_placed(sampled.posterior.ancestors)
            pairs = pair_sizes(store.trees_by_chain(), shares, PAIRS)
            alone = kept.left_out > 0 and len(kept.chains) < 2
            fine = enough(sampled) and not alone and not (self._every_pair and pairs.rough)
            shared = [state for state in self._shared_of_ended if state.chain in kept.chains]
            self._judged = Judged(sampled, steps, pairs, fine, shared, kept)
        return self._judged

    def thin(self) -> None:
        """Keep so few of the samples that they are judged soon, for the end after a stop request."""
        if self._ended is None:
            return
        store, steps = self._ended
        most = max(_BRIEF_SAMPLES, _BRIEF_ENTRIES // self._nodes**2)
        samples = sum(map(store.count, store.chains))
        self._thinned = -(-samples // most)
        if self._thinned > 1:
            some = SampleStore(self._nodes)
            store.copy_to(some, every=self._thinned)
            self._ended, self._judged = (some, steps), None
        stride = max(1, -(-len(self._shared_of_ended) // most))
        self._shared_of_ended = [  # of each step, those of all chains
            state for at, state in enumerate(self._shared_of_ended) if at // CHAINS % stride == 0
        ]

    def _of_likely_chains(self, store: SampleStore) -> tuple[SampleStore, Kept]:
        """Return the samples of the chains that are not far below the best one, and which these are."""
        kept = self._likely_chains(store)
        if not kept.left_out:
            return store, kept
        some = SampleStore(self._nodes)
        store.copy_to(some, kept.chains)
        return some, kept

    def _likely_chains(self, store: SampleStore) -> Kept:
        return likely_chains({chain: self._unit * _scores_of(store, chain) for chain in store.chains})

    @property
    def most_steps(self) -> int:
        """See `Rule.most_steps`."""
        return self._budget.most

    def take(self, events: Sequence[Event]) -> None:
        """Store the samples of the round; see `Sink.take`."""
        self._store.take(events)

    def gamma_of(self, steps: int) -> float | None:
        """See `Rule.gamma_of`."""
        return None

    def is_between_rounds(self, steps: int) -> bool:
        """See `Rule.is_between_rounds`."""
        if self._renew is None:
            return self._ends_round(steps)
        return (steps - self._budget.begun(steps)) % self._budget.renewal_after(steps) == 0

    def _ends_round(self, steps: int) -> bool:
        """Return whether a round of samples ends after so many steps."""
        return self._budget.begun(steps) == steps

    def length_at(self, steps: int) -> int:
        """See `Rule.length_at`."""
        return max(steps, self._budget.first) if self._renew is None else self._budget.renewal_after(steps)

    def change_at(self, steps: int) -> Change | None:
        """See `Rule.change_at`: new shares, and after a round of samples also what `_next_round` changes."""
        if steps < self._budget.first or not self._ends_round(steps):
            return self._renewed if self._renew is not None and steps else None
        change = self._next_round(steps)
        return change if self._renew is None else lambda states: change(self._renewed(states))

    def _renewed(self, states: Sequence[ChainState]) -> Sequence[ChainState]:
        """Return the states with new shares, and keep what they say of the trees."""
        assert self._renew is not None
        renewed = self._renew(states)
        self._shared += [replace(state, tables={}) for state in renewed]
        return renewed

    def _next_round(self, steps: int) -> Change:
        """Return the change to the next round: as many samples, further apart, and a guide of its own."""
        settings = self._budget.sampling_after(steps).recorder.defaults
        tables = {} if self._guide is None else self._guide(self._store)
        if steps <= self._budget.first:
            self._store.close()  # the samples of the first round are never judged
        elif self._budget.rounds > 1:
            if self._before is not None:
                self._before.store.close()
            self._before = _Round(self._store, self._shared)
        self._store, self._shared = SampleStore(self._nodes), []

        def change(states: Sequence[ChainState]) -> list[ChainState]:
            """Set the samples' distance and the guide of the next round."""
            return [
                replace(state, settings={**state.settings, **settings}, tables={**state.tables, **tables})
                for state in states
            ]

        return change

    def agree(self, best_scores: NDArray[np.int64]) -> bool:
        """See `Rule.agree`; best scores do not matter here."""
        return True

    def earliest_end(self, steps: int, best_since: int) -> int:
        """See `Rule.earliest_end`."""
        rounds = -(-steps // self._budget.first)  # of which the last may not have ended
        begun = 1 << max(0, (rounds - 1).bit_length())
        doubled = 2 * begun if self._ends_round(steps) else begun
        return min(self._budget.first * max(2, doubled), self._budget.most)

    def satisfied(self, steps: int, best_scores: NDArray[np.int64], best_since: int) -> bool:
        """See `Rule.satisfied`: the samples of the round that ends here are enough.

        Raises:
            Stopped: a stop was requested meanwhile.
        """
        if steps <= self._budget.first or not self._ends_round(steps):
            return False
        if self._satisfied is None or self._satisfied[0] != steps:
            self._satisfied = steps, self._may_end_at(steps)
        return self._satisfied[1]

    def _may_end_at(self, steps: int) -> bool:
        """Return whether the samples of the round that ends here are enough, or their rates do not fit."""
        if self._ended is None or self._ended[1] != steps:
            ended, (store, self._shared_of_ended) = self._ended, self._to_judge()
            if ended is not None:
                ended[0].close()
            self._ended, self._judged = (store, steps), None
        store = self._ended[0]
        scores = np.array([_scores_of(store, chain) for chain in store.chains], dtype=np.float64)
        judged = self.judged if _numbers_enough(scores) else None
        if judged is not None and may_end(judged.sampled, self._budget, enough=judged.enough):
            return True
        return steps == self._budget.first << _CHECKED < self._budget.most and not self._rates_fit(store)

    def _to_judge(self) -> _Round:
        """Return the samples of the round that has ended, and of the one before if they count."""
        if self._before is None:
            return _Round(self._store, self._shared)
        both = SampleStore(self._nodes)
        self._before.store.copy_to(both, every=2)  # they are half as far apart
        self._store.copy_to(both)
        return _Round(both, self._before.shared + self._shared)

    def _rates_fit(self, store: SampleStore) -> bool:
        """Return whether the rates fit the states of the round that has ended, or are final."""
        if self._fits is None:
            return True
        kept = self._likely_chains(store).chains
        return self._fits([state for state in self._shared_of_ended if state.chain in kept])


def enough(sampled: SampledMutationTrees) -> bool:
    """Return whether samples give support: R-hat, effective sample size and errors are within their limits.

    The error is that of the probabilities of ancestors: the standard error of all chains together, which is
    the spread between them over the root of their number. While the budget lasts, chains go on if the spread
    is above its limit. If the log-likelihood is the same in all samples, only the error counts.
    """
    return _numbers_enough(sampled.log_likelihoods) and not error_of(sampled) > ERROR


def may_end(sampled: SampledMutationTrees, budget: Budget, *, enough: bool) -> bool:
    """Return whether chains need not go on while the budget lasts: also the spread is within its limit.

    Args:
        sampled: their samples.
        budget: their budget.
        enough: whether these are enough.
    """
    return enough and not sampled.spread > budget.spread


def error_of(sampled: SampledMutationTrees) -> float:
    """Return the mean standard error of the probabilities of ancestors; nan for one chain."""
    return sampled.spread / math.sqrt(len(sampled.log_likelihoods))


def _numbers_enough(values: NDArray[np.float64]) -> bool:
    """Return whether R-hat and ESS are within their limits: float64, shape (chains, samples)."""
    if np.ptp(values) == 0:
        return True
    return bool(split_rhat(values) <= RHAT and bulk_ess(values) >= ESS)


def _scores_of(store: SampleStore, chain: int) -> NDArray[np.int64]:
    """Return the integer scores of a chain's samples."""
    return np.concatenate([records["score"] for records in store.of_chain(chain)])
