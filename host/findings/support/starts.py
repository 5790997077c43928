"""First states of the chains that sample trees for support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.gibbs import with_rates
from syclade.host.chains.mode_jumps import FittedTree
from syclade.host.chains.moves import uniform_guide
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.shares import log_shares_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.dropout import slot_rates
from syclade.host.data.model.rates import error_rates
from syclade.host.findings.estimated_rates import ShortRuns
from syclade.host.findings.support.budget import CHAINS
from syclade.host.findings.support.fitted_trees import COMMON_RATES, MOST_ENTRIES, FittedTrees
from syclade.host.findings.support.plan import SupportPlan

if TYPE_CHECKING:
    from syclade.host.chains.runs.context import RunContext
    from syclade.host.device.choice import Several
    from syclade.host.findings.finding import Draft

__all__ = ["fitted_starts", "spread_out", "starts_of"]


def fitted_starts(
    planned: SupportPlan, draft: Draft, device: str | Several, seed: int, context: RunContext
) -> tuple[FittedTree, ...]:
    """Return the most likely trees with rates of the mutations; none if the matrix is too large for that.

    The work of their searches is added to the draft.

    Args:
        planned: the chains, with a rate for each mutation.
        draft: the answer so far, with the trees of its searches.
        device, seed, context: of the searches.
    """
    problem, rates = planned.plan.problem, error_rates(planned.rates)
    if not planned.has_own_rates or problem.nodes * problem.mutations * problem.columns > MOST_ENTRIES:
        return ()
    matrix = planned.silent.of_matrix(draft.best.observed)
    runs = ShortRuns(matrix, device, seed, context.stop, lambda *_: None)
    first = [draft.best.parents, *(draft.found.trees or draft.found.outcome.trees)]
    trees = list(planned.silent.of_trees(np.array(first, dtype=np.int32)))
    for rate in COMMON_RATES:
        if context.stop.wanted:
            return ()
        found = runs.search(replace(rates, fn_rate=rate))
        draft.work += found.work
        trees += found.trees
    return tuple(FittedTrees(problem, rates.fp_rate, rates.fn_rate).likely(trees))


def starts_of(
    planned: SupportPlan, best: NDArray[np.int32], trees: Sequence[NDArray[np.int32]]
) -> Callable[[int], ChainState]:
    """Return the function from the number of a chain to its first state.

    Chains start at trees of searches, or at fitted ones with their shares and rates, as different as there
    are. Chains from random trees can stay for very long in regions that have no weight, on real matrices 24
    nats below the others.

    Args:
        planned: the chains.
        best, trees: the best tree and other good trees of all mutations: int32, shape (n + 1,).
    """
    plan, fits = planned.plan, {one.parents.tobytes(): one for one in planned.fitted}
    if planned.fitted:
        first, *others = [one.parents for one in planned.fitted]
    else:
        first, *others = planned.silent.of_trees(np.array([best, *trees], dtype=np.int32))
    chosen = spread_out(first, others, CHAINS)
    tables = uniform_guide(plan.labels, plan.problem.unit, plan.gamma) if planned.guided else {}

    def start(chain: int) -> ChainState:
        state = replace(state_at(plan, chosen[chain], chain), tables=tables)
        if planned.groups is None:
            return state
        given, fit = error_rates(planned.rates), fits.get(chosen[chain].tobytes())
        if fit is None:
            same = np.full(int(planned.groups.max()) + 1, given.fn_rate)
            return with_rates(plan, state, slot_rates(plan.problem, given.fp_rate, same))
        rates = slot_rates(plan.problem, given.fp_rate, fit.fn_rates)
        return with_rates(plan, state, replace(rates, log_shares=log_shares_of(plan.problem, fit.shares)))

    return start


def spread_out(
    best: NDArray[np.int32], others: Sequence[NDArray[np.int32]], count: int
) -> list[NDArray[np.int32]]:
    """Return the best tree, and then always the tree that differs most from those already chosen.

    The difference of two trees is the number of mutations with different parents; of equally different trees
    the first is taken. If there are fewer different trees than wanted, they are taken again, in turns.

    Args:
        best: int32, shape (n + 1,): the best tree.
        others: other trees, such as those of all searches.
        count: number of trees.
    """
    chosen = [best]
    distance = np.array([np.count_nonzero(tree != best) for tree in others])
    while len(chosen) < count and distance.any():
        tree = others[int(distance.argmax())]
        chosen.append(tree)
        distance = np.minimum(distance, [np.count_nonzero(other != tree) for other in others])
    return [chosen[number % len(chosen)] for number in range(count)]
