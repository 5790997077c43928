"""Run an inference: the most likely tree, what follows from it, and the answer.

The tree is found by searches, by chains, or by chains from the trees of searches. Searches find mutation
trees, by the maximum score. Chains from their trees find what other scores prefer, and cell trees where the
searches are not enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.answer.request import Request
from syclade.host.answer.stages import add_findings, findings_of
from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.chains.encodings import require_only
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.context import KIND as OF_CHAINS
from syclade.host.chains.runs.context import TREE, Found, RunContext
from syclade.host.chains.runs.pipeline import Outcome, state_at
from syclade.host.chains.state import no_tallies
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import ObservationModel, entry_weights
from syclade.host.data.model.recurrence import with_copy_below_root
from syclade.host.findings.finding import BestTree, Draft
from syclade.host.findings.kinds import TreeKind
from syclade.host.findings.kinds.mutation_trees import MUTATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from syclade.host.chains.runs.clock import Progress
    from syclade.host.chains.state import ChainState

__all__ = ["best_tree_of", "finish", "make_draft"]

_ROUNDING = 1e-9
"""Difference of log-likelihoods of a mutation that rounding explains."""


def make_draft(request: Request, context: RunContext) -> Draft:
    """Run the inference: the most likely tree and its findings, except recurrences.

    Args:
        request: the checked options.
        context: the run context: progress callback, checkpointing, stop request.

    Raises:
        DeviceError, OptionError: the request cannot be met.
        CheckpointError: the checkpoint to resume from is damaged or belongs to another run.
        OutputError: the samples cannot be written.
    """
    begun, problem = time.perf_counter(), request.plan.problem
    found = _find_tree(request, context)
    rates = problem.rate_tables.model.at(found.outcome.best.best_rate_at)
    draft = Draft(
        best=best_tree_of(request.kind, request.observed, rates, request.plan, found),
        found=found,
        estimated=request.estimated.names,
        true_tree=request.true_tree,
        unplaced=request.unplaced,
        work=(*request.estimated.work, *found.work),
        seconds=found.outcome.seconds,
        stopped_in=TREE if found.interrupted or request.estimated.stopped else None,
        stages={"tree": time.perf_counter() - begun},
    )
    add_findings(request, draft, context)
    return draft


def best_tree_of(
    kind: TreeKind, matrix: Matrix, rates: ObservationModel, plan: Plan, found: Found
) -> BestTree:
    """Return the best tree of a run; its log-likelihood is recomputed in float64 from the original matrix.

    Args:
        kind: kind of the trees.
        matrix: the matrix.
        rates: the error rates; of learned ones, the rates of the best tree.
        plan: the plan of the run.
        found: the output of the chains or searches.
    """
    best, problem = found.outcome.best, plan.problem
    score = plan.score if plan.score.at is None else plan.score.at(best.best_rate_at)
    trees = [kind.canonical(best.best_parents)]
    if isinstance(rates, Levels) and not rates.exact and not found.searches:  # chains are by levels
        same = [tree for tree in (*found.trees, *found.outcome.trees) if len(tree) == len(trees[0])]
        others = map(kind.canonical, same)
        trees = list({tree.tobytes(): tree for tree in (*trees, *others)}.values())
    answers = [(*kind.assign(matrix, rates, problem, tree, score), tree) for tree in trees]
    assignment, log_likelihood, parents = max(answers, key=lambda one: one[1])
    return BestTree(
        kind=kind,
        parents=parents,
        log_likelihood=log_likelihood,
        assignment=assignment,
        mutations=matrix.mutations,
        cells=matrix.named_cells,
        rates=rates,
        observed=matrix,
        score=score.name,
        learned=_learned(problem.rate_tables.model, best.best_rate_at),
    )


def _learned(model: RateModel, places: Places) -> dict[str, Any] | None:
    """Return the learned rates as plain values: value with the best tree, options, and log prior."""
    values = model.values(places)
    learned = {prior.name: {"value": values[prior.name], **prior.to_dict()} for prior in model.priors}
    return {**learned, "log_prior": model.log_prior(places)} if learned else None


def finish(request: Request, draft: Draft, prepared: float, total_seconds: float) -> Result:
    """Return the result of a run whose stages have ended.

    Args:
        request: its options. The command to repeat the run estimates the rates again.
        draft: what its stages found.
        prepared: wall time before its stages: of reading the matrix, and of estimating the rates.
        total_seconds: its wall time.
    """
    best, found, plan = draft.best, draft.found, request.plan
    weights = request.options.move_probabilities
    assert weights is not None
    options = {**request.plain_options, **request.estimated.as_requested}
    if options["method"] == "search" and not found.searches and not request.by_search:  # they were not enough
        options |= {"method": "anneal", "start": request.start, "chains": request.chains}
    outcome, matrix = found.outcome, best.observed
    proposed, accepted = outcome.tallies.reshape(2, -1).tolist()
    return Result(
        kind=best.kind,
        parents=best.parents,
        log_likelihood=best.log_likelihood,
        assignment=best.assignment,
        mutations=best.mutations,
        cells=best.cells,
        model=best.rates,
        chain_log_likelihoods=np.array([plan.problem.to_nats(int(score)) for score in outcome.best_scores]),
        moves={
            kind: (tried, taken)
            for kind, tried, taken in zip(plan.kinds, proposed, accepted, strict=True)
            if tried
        },
        chains=len(outcome.best_scores),
        steps=found.steps,
        converged=bool(outcome.converged),
        seed=request.seed,
        gamma=float(plan.gamma),
        move_probabilities=_probabilities(plan, weights),
        encoding=found.encoding,
        work=draft.work,
        searches=found.searches,
        slots=found.slots,
        seconds=draft.seconds,
        matrix=None if matrix.file_sha256 is None else matrix.source,
        matrix_sha256=matrix.sha256,
        matrix_file_sha256=matrix.file_sha256,
        options=options,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        version=syclade.__version__,
        observed=matrix,
        score=best.score,
        learned=best.learned,
        findings=findings_of(draft),
        stopped_in=draft.stopped_in,
        pipeline=found.pipeline,
        total_seconds=total_seconds,
        stages={"preparation": prepared, **draft.stages},
    )


def _probabilities(plan: Plan, weights: Sequence[float]) -> dict[str, float]:
    """Return the probability of each move by name: rate jumps have their own, tree moves share the rest."""
    jumps = {f"learn {one.name}": one.probability for one in plan.problem.rate_tables.model.priors}
    left = (1.0 - sum(jumps.values())) / sum(weights)
    of_trees = plan.moves[: len(weights)]
    return {**{move.name: weight * left for move, weight in zip(of_trees, weights, strict=True)}, **jumps}


def _find_tree(request: Request, context: RunContext) -> Found:
    """Return what the searches or chains of a request find; arguments and errors as for `make_draft`."""
    from syclade.host.chains.search.find_tree import find

    estimated = request.estimated
    by_estimate = request.by_search and estimated.stopped and isinstance(request.rates, Levels)
    if by_estimate and estimated.tree is not None:
        return _of_estimate(request, estimated.tree)
    if request.by_search:
        found = find(
            request.plan, request.device, request.encoding,
            slots=request.slots, seed=request.seed, context=context,
        )  # fmt: skip
    elif request.options.method == "search":
        found = _by_search_or_chains(request, context)
    else:
        found = _by_chains(request, context)
    if found.interrupted and request.estimated.tree is not None:
        return _with_tree(found, request, request.estimated.tree)
    return found


def _of_estimate(request: Request, tree: NDArray[np.int32]) -> Found:
    """Return the tree that parameters of reads fit as the best one of a run that was stopped meanwhile."""
    plan, nothing = request.plan, np.zeros(0, dtype=np.int64)
    best = state_at(plan, request.kind.from_mutation_tree(plan.problem, request.rates, tree), 0)
    outcome = Outcome(best, nothing, no_tallies(len(plan.kinds)), 0, 0.0, converged=False)
    return Found(outcome, 0, "", 0, (), (), interrupted=True)


class _Sought(NamedTuple):
    """Outcome of searches for mutation trees, by the maximum score.

    Attributes:
        plan: their plan.
        found: what they found.
        draw: (mutation tree) -> a tree of the request's kind that is as likely.
        best: the best tree, drawn so.
    """

    plan: Plan
    found: Found
    draw: Callable[[NDArray[np.int32]], NDArray[np.int32]]
    best: NDArray[np.int32]


def _by_search_or_chains(request: Request, context: RunContext) -> Found:
    """Search for a cell tree; run chains from the trees of the searches only where these leave it open.

    Any cell tree has a mutation tree that is as likely, so a cell tree that is as likely as the best mutation
    tree is the best of its kind. Chains go on where none is, or where the searches do not agree. By evidence,
    searches have ended because more would hardly gain, or they have had their time, and chains find no more.
    """
    require_only("clade", request.encoding)  # searches have none, and chains may not follow
    checkpoints = context.checkpoints
    if checkpoints.resumes(OF_CHAINS):
        return _by_chains(request, context)
    sought = _search(request, context, checkpoints, request.slots)
    outcome = sought.found.outcome
    enough = outcome.converged or request.rates.same > 0.0
    if sought.found.interrupted or (enough and _as_likely(sought, request)):
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
        starts=None if sought is None else _starts_at(sought, request.plan),
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
    return _Sought(plan, found, drawn, drawn(found.outcome.best.best_parents))


def _starts_at(sought: _Sought, plan: Plan) -> Callable[[int], ChainState]:
    """Return a function from a chain's number to its first state: chains take the trees in turns."""
    trees = [sought.draw(tree) for tree in sought.found.trees]
    return lambda chain: state_at(plan, trees[chain % len(trees)], chain)


def _drawn(sought: _Sought, request: Request) -> Found:
    """Return the findings of searches with the best tree of the request's kind in place of mutation trees."""
    problem, outcome = request.plan.problem, sought.found.outcome
    scores = [problem.from_nats(sought.plan.problem.to_nats(int(one))) for one in outcome.best_scores]
    outcome = replace(
        outcome,
        best=state_at(request.plan, sought.best, 0),
        best_scores=np.array(scores, dtype=np.int64),
        tallies=no_tallies(len(request.plan.kinds)),  # moves of mutation trees
    )
    return replace(sought.found, outcome=outcome, trees=())


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
