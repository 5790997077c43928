"""The most likely tree of a request: by searches, by chains, or by chains from the trees of searches.

Searches find mutation trees, by the maximum score. Chains from their trees find what other scores prefer, and
cell trees where the searches are not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from syclade.host.answer.request import Request
from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.chains.encodings import require_only
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.context import KIND as OF_CHAINS
from syclade.host.chains.runs.context import Found, RunContext
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.state import no_tallies
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import entry_weights
from syclade.host.data.model.recurrence import with_copy_below_root
from syclade.host.findings.kinds.mutation_trees import MUTATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from syclade.host.chains.runs.pipeline import Progress
    from syclade.host.chains.state import ChainState

__all__ = ["find_tree"]

_ROUNDING = 1e-9
"""Difference of log-likelihoods of a mutation that rounding explains."""


def find_tree(request: Request, context: RunContext) -> Found:
    """Return what the searches or chains of a request find; arguments and errors as for `run.make_draft`."""
    if request.by_search:
        found = _by_search(request, context)
    elif request.options.method == "search":
        found = _by_search_or_chains(request, context)
    else:
        found = _by_chains(request, context)
    if found.interrupted and request.estimated.tree is not None:
        return _with_tree(found, request, request.estimated.tree)
    return found


def _by_search(request: Request, context: RunContext) -> Found:
    from syclade.host.chains.search.find_tree import find

    return find(
        request.plan,
        request.device,
        request.encoding,
        slots=request.slots,
        seed=request.seed,
        context=context,
    )


class _Sought(NamedTuple):
    """Outcome of searches for mutation trees, by the maximum score.

    Attributes:
        plan: their plan.
        found: what they found.
        trees: their trees, drawn as trees of the request's kind.
        best: the best of these.
    """

    plan: Plan
    found: Found
    trees: tuple[NDArray[np.int32], ...]
    best: NDArray[np.int32]


def _by_search_or_chains(request: Request, context: RunContext) -> Found:
    """Search for a cell tree; run chains from the trees of the searches only where these leave it open.

    Any cell tree has a mutation tree that is as likely, so a cell tree that is as likely as the best mutation
    tree is the best of its kind. Chains go on where none is, or where the searches do not agree.
    """
    require_only("clade", request.encoding)  # searches have none, and chains may not follow
    checkpoints = context.checkpoints
    if checkpoints.resumes(OF_CHAINS):
        return _by_chains(request, context)
    sought = _search(request, context, checkpoints, request.slots)
    outcome = sought.found.outcome
    if sought.found.interrupted or (outcome.converged and _as_likely(sought, request)):
        return _drawn(sought, request)
    checkpoints.begin_next_stage()
    return _by_chains(request, context, sought)


def _by_chains(request: Request, context: RunContext, sought: _Sought | None = None) -> Found:
    """Run chains, from the trees of searches if there are some, or if the request says so."""
    from syclade.host.chains.runs.run import run_plan

    if sought is None and request.start == "search" and context.checkpoints.resumed is None:
        sought = _search(request, context, CheckpointWriter(None, 0.0, {}), None)
    found = run_plan(
        request.plan,
        request.device,
        request.encoding,
        request.image,
        chains=request.chains,
        until=request.until,
        slots=request.slots,
        seed=request.seed,
        context=context,
        starts=None if sought is None else _starts_at(sought.trees, request.plan),
        sampled=request.sampling is not None,
        separate=request.separate,
    )
    if sought is None:
        return found
    before = sought.found
    if found.interrupted:  # not every chain may have begun at its tree
        found = _with_tree(found, request, before.outcome.best.best_parents)
    outcome = replace(found.outcome, seconds=before.outcome.seconds + found.outcome.seconds)
    return replace(found, outcome=outcome, work=(*before.work, *found.work))


def _search(
    request: Request, context: RunContext, checkpoints: CheckpointWriter, slots: int | None
) -> _Sought:
    """Search for mutation trees; report scores as those of the request's plan."""
    from syclade.host.chains.search.find_tree import find

    plan = make_plan(make_problem(request.observed, request.rates))

    def report(state: Progress) -> None:
        best = request.plan.problem.from_nats(plan.problem.to_nats(state.best_score))
        context.report(replace(state, best_score=best))

    def drawn(tree: NDArray[np.int32]) -> NDArray[np.int32]:
        return request.kind.from_mutation_tree(plan.problem, request.rates, tree)

    own = RunContext(report, checkpoints, context.stop)
    encoding = "auto" if request.plan.space.encoding else request.encoding  # searches have others
    found = find(plan, request.device, encoding, slots=slots, seed=request.seed, context=own)
    return _Sought(plan, found, tuple(map(drawn, found.trees)), drawn(found.outcome.best.best_parents))


def _starts_at(trees: Sequence[NDArray[np.int32]], plan: Plan) -> Callable[[int], ChainState]:
    """Return a function from a chain's number to its first state: chains take the trees in turns."""
    return lambda chain: state_at(plan, trees[chain % len(trees)], chain)


def _drawn(sought: _Sought, request: Request) -> Found:
    """Return the findings of searches with trees of the request's kind in place of their mutation trees."""
    problem, outcome = request.plan.problem, sought.found.outcome
    scores = [problem.from_nats(sought.plan.problem.to_nats(int(one))) for one in outcome.best_scores]
    outcome = replace(
        outcome,
        best=state_at(request.plan, sought.best, 0),
        best_scores=np.array(scores, dtype=np.int64),
        tallies=no_tallies(len(request.plan.kinds)),  # moves of mutation trees
    )
    return replace(sought.found, outcome=outcome, trees=sought.trees)


def _as_likely(sought: _Sought, request: Request) -> bool:
    """Return whether the best cell tree is as likely as the mutation tree from which it was drawn.

    In a cell tree, each mutation is in at least one cell: some are not in a mutation tree, at a known cost.
    """
    matrix, rates, plan = request.observed, request.rates, request.plan
    mutation_tree = sought.found.outcome.best.best_parents
    before = MUTATION.assign(matrix, rates, sought.plan.problem, mutation_tree, sought.plan.score)[1]
    now = request.kind.assign(matrix, rates, plan.problem, sought.best, plan.score)[1]
    cost = float(np.minimum(entry_weights(matrix, rates).max(axis=1), 0.0).sum())
    return now > before + cost - _ROUNDING * matrix.n_mutations


def _with_tree(found: Found, request: Request, mutation_tree: NDArray[np.int32]) -> Found:
    """Return the findings of an interrupted run with a mutation tree found before it, if that is better.

    Args:
        found, request: the findings, and the options of the run.
        mutation_tree: int32, shape (n + 1,): a parent vector, without a copy of a recurrent mutation or with.
    """
    problem = make_problem(request.observed, request.rates)
    if len(mutation_tree) == problem.mutations:
        mutation_tree = with_copy_below_root(mutation_tree)
    before = state_at(request.plan, request.kind.from_mutation_tree(problem, request.rates, mutation_tree), 0)
    if before.best_score <= found.outcome.best.best_score:
        return found
    return replace(found, outcome=replace(found.outcome, best=before))
