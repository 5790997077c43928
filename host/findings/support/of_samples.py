"""Support of the best tree by the samples of a round; also of the clone where it has each cell."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.gibbs import sampled_counts
from syclade.host.chains.shares import LOWEST_OCTAVE
from syclade.host.chains.state import ChainState
from syclade.host.data.model.doublets import call_doublets, fitted_shares
from syclade.host.data.model.dropout import (
    Dropout,
    mutation_weights,
    rates_in,
)
from syclade.host.data.model.pairs import Forest, kinds_of
from syclade.host.data.model.problem import Problem
from syclade.host.data.model.rate_posterior import RatePosterior, rate_posterior
from syclade.host.data.model.rates import MISSING, ObservationModel, error_rates
from syclade.host.data.trees.cells import clones_of
from syclade.host.data.trees.tree import levels_of
from syclade.host.findings.consensus.clone_tree import (
    clade_support,
    edge_support,
    transfer_support,
)
from syclade.host.findings.consensus.find_consensus import with_wanderers
from syclade.host.findings.consensus.relations import SharedTrees, count_unseparated
from syclade.host.findings.support.plan import SupportPlan
from syclade.host.findings.support.rounds import Judged
from syclade.host.findings.support.value import Missed, Support
from syclade.host.findings.unplaced import CONTRADICTED, Unplaced
from syclade.host.ground.options.types import SHARED_DROPOUT
from syclade.host.ground.signals import give_way

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft

__all__ = [
    "MOST_TREES",
    "RatesOf",
    "cell_shares",
    "doublet_shares",
    "missed_in",
    "rates_of_states",
    "support_by",
    "without_doubtful",
]


_TREES_BYTES = 2**24
"""Most bytes of the sampled trees that stay in memory."""


def support_by(
    planned: SupportPlan,
    draft: Draft,
    judged: Judged,
    seed: int,
    *,
    interrupted: bool,
    seconds: float,
    rates_of: RatesOf | None = None,
) -> Support:
    """Return the support of the best tree by the samples of a round.

    Args:
        planned: the chains.
        draft: the answer so far.
        judged: the samples.
        seed: seed of the run.
        interrupted: whether a stop has ended the sampling.
        seconds: wall time of the chains.
        rates_of: the posterior of estimated rates (`rates_of_states`), which may be known already.

    Raises:
        Stopped: a stop was requested meanwhile (`signals.give_way`).
    """
    problem, sampled, rates, found = planned.problem, judged.sampled, None, draft.best
    shared = _shared(judged.shared, planned) if planned.shares else None
    if shared is not None:
        few = count_unseparated(*shared, len(problem.column_of), sampled.relations.above)
        sampled = replace(sampled, unseparated=few, shared=shared)
    give_way()
    unplaced, clones = with_wanderers(sampled.store.trees, found.parents, sampled.relations, draft.unplaced)
    give_way()
    sampled = replace(sampled, clones=clones)
    trees = _thinned(sampled.store.trees_by_chain())
    count = len(found.mutations)
    placed = unplaced.placed_mutations(count)
    best, some = unplaced.of_tree(found.parents), unplaced.of_trees(trees)

    counts, dropout = None, None
    if planned.groups is not None:
        dropout = _dropout_of(planned, judged.shared, draft.unplaced.silent.mutations)
    elif planned.dropout != SHARED_DROPOUT and judged.shared:
        counts = missed_in(planned, judged.shared, seed)

    def of_all(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of all mutations, with NaN for the unplaced ones."""
        full = np.full(count, np.nan)
        full[placed] = shares
        return full

    calls = found.assignment.doublets
    if rates_of is not None:
        rates = rates_of(judged.shared)
    elif _estimates_rates(planned, draft):
        rates = _rates_of(planned, draft, *(shared or (trees,)))
    give_way()
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


def without_doubtful(support: Support, parents: NDArray[np.int32], doubtful: Mapping[int, str]) -> Support:
    """Return support in which doubtful mutations do not count for the clades of others.

    A mutation whose place is not believed would else make each clade that has it, or that it could be in,
    another one.

    Args:
        support: the support.
        parents: int32, shape (n + 1,): the tree.
        doubtful: these mutations, with the reasons.
    """
    aside = support.unplaced.joined(
        dict.fromkeys(set(doubtful) - set(support.unplaced.mutations), CONTRADICTED)
    )
    placed = aside.placed_mutations(len(parents) - 1)
    clades, transfer = support.clades.copy(), support.transfer.copy()
    if placed.size:
        best, some = aside.of_tree(parents), aside.of_trees(support.trees)
        clades[placed] = clade_support(best, lambda: [some])
        transfer[placed] = transfer_support(best, lambda: [some])
    return replace(support, clades=clades, transfer=transfer, doubtful=doubtful)


def _estimates_rates(planned: SupportPlan, draft: Draft) -> bool:
    """Return whether samples give rates: their posterior is that of single cells, with common rates."""
    return bool(draft.estimated) and draft.best.assignment.doublets is None and planned.groups is None


def _rates_of(
    planned: SupportPlan, draft: Draft, trees: NDArray[np.int32], shares: NDArray[np.float64] | None = None
) -> RatePosterior:
    given = error_rates(planned.rates)
    return rate_posterior(draft.best.observed, given, trees, shares, names=draft.estimated)


RatesOf = Callable[[Sequence[ChainState]], RatePosterior]
"""The posterior of estimated rates by states with shares."""


def rates_of_states(planned: SupportPlan, draft: Draft) -> RatesOf | None:
    """Return the function from states to the posterior of their estimated rates; None without these.

    Asked again of the same states, it does not compute again.
    """
    if not (planned.shares and _estimates_rates(planned, draft)):
        return None
    last: tuple[list[ChainState], RatePosterior] | None = None

    def rates_of(states: Sequence[ChainState]) -> RatePosterior:
        nonlocal last
        if last is None or len(last[0]) != len(states) or any(map(operator.is_not, last[0], states)):
            last = list(states), _rates_of(planned, draft, *_shared(states, planned))
        return last[1]

    return rates_of


def missed_in(planned: SupportPlan, states: Sequence[ChainState], seed: int) -> Missed:
    """Return how often each mutation was missed and seen in draws of some states."""
    return Missed(
        [
            (planned.silent.whole(missed, 0.0), planned.silent.whole(seen, 0.0))
            for missed, seen in sampled_counts(planned.plan.problem, states, seed)
        ]
    )


def _dropout_of(planned: SupportPlan, states: Sequence[ChainState], unseen: Iterable[int]) -> Dropout:
    """Return the rates of mutations in samples; a silent one has those of all others in turns.

    Args:
        planned: what the chains sampled.
        states: the samples.
        unseen: rows of the mutations that were seen in no cell.
    """
    problem, groups = planned.plan.problem, planned.groups
    assert groups is not None
    fp_rate = error_rates(planned.rates).fp_rate
    sampled = np.array([rates_in(problem, fp_rate, state.rates) for state in states])
    own, turns = sampled[:, groups], np.arange(len(sampled)) % len(groups)
    any_other = np.take_along_axis(own, turns[:, None], axis=1)
    return Dropout.of_samples(planned.silent.whole(own, any_other), fp_rate, np.nan, unseen)


def _shared(states: Sequence[ChainState], planned: SupportPlan) -> SharedTrees:
    """Return trees and shares of states, which have logarithms of base 2."""
    logs = np.array([state.rates.log_shares for state in states]) * 2.0**-planned.problem.scale_bits
    trees = planned.silent.whole_trees(np.array([state.parents for state in states], dtype=np.int32))
    return SharedTrees(trees, planned.silent.whole(np.exp2(logs), 2.0**LOWEST_OCTAVE))


def _thinned(chains: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the trees of all chains, thinned to `_TREES_BYTES`: int32, shape (trees, n + 1)."""
    stride = -(-sum(trees.nbytes for trees in chains) // _TREES_BYTES)
    return np.asarray(np.concatenate(chains)[::stride], dtype=np.int32)


MOST_TREES = 400
"""Most trees that are used: each one gives a probability, and not only yes or no."""

_MOST_NUMBERS = 4 * 10**7
"""Most scores of a column at a node, over all trees; for larger matrices fewer trees are used."""

_AT_ONCE = 2 * 10**6

_PAIR_TREES = 100
"""Most trees that are used for doublets."""


def cell_shares(
    problem: Problem,
    rates: ObservationModel,
    parents: NDArray[np.int32],
    node: NDArray[np.int32],
    trees: NDArray[np.int32],
    unplaced: Unplaced | None = None,
    shares: NDArray[np.float64] | None = None,
    fn_rates: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the probability that each cell belongs to the clone of its node.

    A clone is a node of the clonal tree (`clones_of`): mutations without a branch or a cell between them,
    whose order no cell shows. A cell belongs to it if its lowest mutation is one of them; a cell at the root
    has none. In each sampled tree the probability of a node is its likelihood, times its share of the cells,
    divided by the sum over all nodes; the mean over the trees is returned.

    Args:
        problem: the problem of the chains.
        rates: the error rates, or levels of evidence.
        parents: int32, shape (n + 1,): the tree.
        node: int32, shape (cells,): the node of each cell in the tree.
        trees: int32, shape (trees, n + 1): sampled trees, at least one; some are used, evenly spaced.
        unplaced: mutations that are taken out of all trees, and cells without a probability; None for none.
        shares: float64, shape (trees, n + 1): part of the cells at each node; equal by default.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.

    Returns:
        float64, shape (cells,); NaN for unplaced cells.
    """
    unplaced = unplaced or Unplaced()
    if fn_rates is None:
        table = rates.log_table()[list(problem.values)]
        weights = np.append(table[:, 1] - table[:, 0], 0.0)[problem.observed]
    else:
        known = problem.observed < problem.classes - 1
        values = np.where(known, problem.observed % 2, MISSING).astype(np.uint8)
        weights = mutation_weights(values, error_rates(rates).fp_rate, fn_rates)
    weights = weights[unplaced.placed_mutations(len(weights))]
    node, parents = unplaced.nodes_of(parents, node), unplaced.of_tree(parents)
    nodes, columns = len(parents), problem.columns
    used = min(len(trees), MOST_TREES, max(16, _MOST_NUMBERS // (nodes * columns)))
    chosen = np.arange(used) * len(trees) // used
    some = unplaced.of_trees(trees[chosen])
    of_nodes = np.ones(some.shape)
    if shares is not None:
        of_nodes = unplaced.of_shares(trees[chosen], shares[chosen])
    clone = _clone_of(parents, node)
    first = np.zeros(columns, dtype=np.int64)
    first[problem.column_of[::-1]] = np.arange(len(node))[::-1]  # the first cell with each column
    wanted = clone[:, None] == clone[node[first]]
    total = np.zeros(columns)
    chunk = max(1, _AT_ONCE // (nodes * columns))
    for begin in range(0, used, chunk):
        now = slice(begin, begin + chunk)
        total += _of_trees(some[now], of_nodes[now], weights, wanted)
    found = np.asarray((total / used)[problem.column_of])
    found[list(unplaced.cells)] = np.nan
    return found


def doublet_shares(
    problem: Problem, trees: NDArray[np.int32], shares: NDArray[np.float64], rate: float
) -> NDArray[np.float64]:
    """Return the probability of each cell of being a doublet, as a mean over sampled trees.

    Args:
        problem: the problem of the chains, with scores in octaves.
        trees: int32, shape (trees, n + 1): sampled trees, at least one; some are used, evenly spaced.
        shares: float64, shape (trees, n + 1): part of the cells at each node.
        rate: rate of doublets.

    Returns:
        float64, shape (cells,), with six decimals, which are equal on all processors.
    """
    nodes, columns = problem.nodes, problem.columns
    weights = problem.weight_rows() * 2.0**-problem.scale_bits
    used = min(len(trees), _PAIR_TREES, max(16, _MOST_NUMBERS // (nodes * columns)))
    chosen = np.arange(used) * len(trees) // used
    total, chunk = np.zeros(columns), max(1, _AT_ONCE // (nodes * columns))
    for begin in range(0, used, chunk):
        now = chosen[begin : begin + chunk]
        forest, logs = Forest(trees[now]), np.log2(shares[now]).reshape(-1, 1)
        kinds = kinds_of(forest, forest.of_all(weights), logs, rate)
        single, pair = (
            np.logaddexp2.reduce(one.reshape(len(now), nodes, columns), axis=1)
            for one in (kinds.single, kinds.pair)
        )
        total += np.exp2(pair - np.logaddexp2(single, pair)).sum(axis=0)
    return np.asarray(np.round((total / used)[problem.column_of], 6))


def _of_trees(
    trees: NDArray[np.int32],
    shares: NDArray[np.float64],
    weights: NDArray[np.float64],
    wanted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the sum over trees of the probability that each column is at one of the wanted nodes.

    Args:
        trees: int32, shape (trees, n + 1).
        shares: float64, of the same shape, positive.
        weights: float64, shape (n, columns): log-likelihood ratio of having each mutation, natural log.
        wanted: bool, shape (n + 1, columns).
    """
    scores = np.zeros((*trees.shape, weights.shape[1]))
    for level in levels_of(trees):
        scores[level.trees, level.nodes] = scores[level.trees, level.parents] + weights[level.nodes]
    scores += np.log(shares)[:, :, None]
    likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
    share = (likelihood * wanted).sum(axis=1) / likelihood.sum(axis=1)
    return np.asarray(share.sum(axis=0))


def _clone_of(parents: NDArray[np.int32], node: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of each node's clone: int64, shape (n + 1,); that of the root is 0."""
    clone = np.zeros(len(parents), dtype=np.int64)
    for number, one in enumerate(clones_of(parents, node)):
        clone[list(one.mutations)] = number
    return clone
