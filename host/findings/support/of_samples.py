"""Support of the best tree by the samples of a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.gibbs import sampled_counts
from syclade.host.chains.share_draws import LOWEST_OCTAVE
from syclade.host.chains.state import ChainState
from syclade.host.data.model.doublets import call_doublets, fitted_shares
from syclade.host.data.model.dropout import (
    Dropout,
    rates_in,
)
from syclade.host.data.model.rate_posterior import RatePosterior, rate_posterior
from syclade.host.data.model.rates import error_rates
from syclade.host.findings.consensus.clades import (
    clade_support,
    edge_support,
    transfer_support,
)
from syclade.host.findings.consensus.relations import SharedTrees, count_unseparated
from syclade.host.findings.consensus.wanderers import with_wanderers
from syclade.host.findings.support.cells import cell_shares, doublet_shares
from syclade.host.findings.support.plan import SupportPlan
from syclade.host.findings.support.rounds import Judged
from syclade.host.findings.support.value import Support
from syclade.host.ground.options.types import SHARED_DROPOUT

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft

__all__ = ["rates_of_states", "support_by"]

_TREES_BYTES = 2**24
"""Most bytes of the sampled trees that stay in memory."""


def support_by(
    planned: SupportPlan, draft: Draft, judged: Judged, seed: int, *, interrupted: bool, seconds: float
) -> Support:
    """Return the support of the best tree by the samples of a round."""
    problem, sampled, rates, found = planned.problem, judged.sampled, None, draft.best
    shared = _shared(judged.shared, planned) if planned.shares else None
    if shared is not None:
        few = count_unseparated(*shared, len(problem.column_of), sampled.relations.above)
        sampled = replace(sampled, unseparated=few, shared=shared)
    unplaced, clones = with_wanderers(sampled.store.trees, found.parents, sampled.relations, draft.unplaced)
    sampled = replace(sampled, clones=clones)
    trees = _thinned(sampled.store.trees_by_chain())
    count = len(found.mutations)
    placed = unplaced.placed_mutations(count)
    best, some = unplaced.of_tree(found.parents), unplaced.of_trees(trees)

    counts, dropout = None, None
    if planned.groups is not None:
        dropout = _dropout_of(planned, judged.shared)
    elif planned.dropout != SHARED_DROPOUT and judged.shared:
        counts = [
            (planned.silent.whole(missed, 0.0), planned.silent.whole(seen, 0.0))
            for missed, seen in sampled_counts(planned.plan.problem, judged.shared, seed)
        ]

    def of_all(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of all mutations, with NaN for the unplaced ones."""
        full = np.full(count, np.nan)
        full[placed] = shares
        return full

    calls = found.assignment.doublets
    if _estimates_rates(planned, draft):
        rates = _rates_of(planned, draft, *(shared or (trees,)))
    if calls is not None and shared is not None:
        fitted = fitted_shares(found.observed, planned.rates, found.parents, calls.rate)
        calls = call_doublets(found.observed, planned.rates, found.parents, calls.rate, fitted)
        calls = replace(calls, probability=doublet_shares(problem, *shared, calls.rate))
    return Support(
        level=planned.level,
        steps=judged.steps,
        enough=judged.enough,
        interrupted=interrupted,
        seconds=seconds,
        sampled=sampled,
        edges=of_all(edge_support(best, unplaced.of_blocks(sampled.store.trees))),
        clades=of_all(clade_support(best, lambda: [some])),
        transfer=of_all(transfer_support(best, lambda: [some])),
        cells=cell_shares(
            problem,
            planned.rates,
            found.parents,
            found.assignment.node,
            trees if shared is None else shared.trees,
            unplaced,
            None if shared is None else shared.shares,
            None if dropout is None else dropout.fn_rates,
        ),
        trees=trees,
        pairs=judged.pairs,
        kept=judged.kept,
        rates=rates,
        unplaced=unplaced,
        dropout=dropout,
        missed=counts,
        doublets=calls,
    )


def _estimates_rates(planned: SupportPlan, draft: Draft) -> bool:
    """Return whether samples give rates: their posterior is that of single cells, with common rates."""
    return bool(draft.estimated) and draft.best.assignment.doublets is None and planned.groups is None


def _rates_of(
    planned: SupportPlan, draft: Draft, trees: NDArray[np.int32], shares: NDArray[np.float64] | None = None
) -> RatePosterior:
    given = error_rates(planned.rates)
    return rate_posterior(draft.best.observed, given, trees, shares, names=draft.estimated)


def rates_of_states(
    planned: SupportPlan, draft: Draft
) -> Callable[[Sequence[ChainState]], RatePosterior] | None:
    """Return the function from states to the posterior of their estimated rates; None without these."""
    if not (planned.shares and _estimates_rates(planned, draft)):
        return None
    return lambda states: _rates_of(planned, draft, *_shared(states, planned))


def _dropout_of(planned: SupportPlan, states: Sequence[ChainState]) -> Dropout:
    """Return the rates of mutations in samples; a silent one has those of all others in turns."""
    problem, groups = planned.plan.problem, planned.groups
    assert groups is not None
    sampled = np.array(
        [rates_in(problem, error_rates(planned.rates).fp_rate, state.rates) for state in states]
    )
    own, turns = sampled[:, groups], np.arange(len(sampled)) % len(groups)
    any_other = np.take_along_axis(own, turns[:, None], axis=1)
    return Dropout.of_samples(planned.silent.whole(own, any_other), np.nan)


def _shared(states: Sequence[ChainState], planned: SupportPlan) -> SharedTrees:
    """Return trees and shares of states, which have logarithms of base 2."""
    logs = np.array([state.rates.log_shares for state in states]) * 2.0**-planned.problem.scale_bits
    trees = planned.silent.whole_trees(np.array([state.parents for state in states], dtype=np.int32))
    return SharedTrees(trees, planned.silent.whole(np.exp2(logs), 2.0**LOWEST_OCTAVE))


def _thinned(chains: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the trees of all chains, thinned to `_TREES_BYTES`: int32, shape (trees, n + 1)."""
    stride = -(-sum(trees.nbytes for trees in chains) // _TREES_BYTES)
    return np.asarray(np.concatenate(chains)[::stride], dtype=np.int32)
