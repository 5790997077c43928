"""Run an inference: searches or chains on a device, what follows from their result, and the answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

import syclade
from syclade.host.answer.most_likely import find_tree
from syclade.host.answer.output.result import Result
from syclade.host.answer.request import Request
from syclade.host.answer.stages import add_findings, findings_of
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.context import TREE, Found, RunContext
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.cells import default_cell_names
from syclade.host.findings.finding import BestTree, Draft
from syclade.host.findings.kinds import TreeKind

if TYPE_CHECKING:
    pass

__all__ = [
    "best_tree_of",
    "finish",
    "make_draft",
    "make_result",
]


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
    if isinstance(rates, Levels) and not rates.exact:  # the log odds may prefer the best tree of another
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
        cells=matrix.cells or default_cell_names(matrix.n_cells),
        rates=rates,
        observed=matrix,
        score=score.name,
        learned=_learned(problem.rate_tables.model, best.best_rate_at),
    )


def make_result(
    draft: Draft, plan: Plan, *, seed: int, options: Mapping[str, Any], total_seconds: float
) -> Result:
    """Make the result of a run whose stages have ended.

    Args:
        draft: what the stages found.
        plan: the plan of the run.
        seed: the seed.
        options: the options of `infer`.
        total_seconds: wall time of the run.
    """
    best, found, problem = draft.best, draft.found, plan.problem
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
        chain_log_likelihoods=np.array([problem.to_nats(int(score)) for score in outcome.best_scores]),
        moves={
            kind: (tried, taken)
            for kind, tried, taken in zip(plan.kinds, proposed, accepted, strict=True)
            if tried
        },
        chains=len(outcome.best_scores),
        steps=found.steps,
        converged=bool(outcome.converged),
        seed=seed,
        gamma=float(plan.gamma),
        move_probabilities=_probabilities(plan, options["move_probabilities"]),
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
        stages=draft.stages,
    )


def _probabilities(plan: Plan, weights: Sequence[float]) -> dict[str, float]:
    """Return the probability of each move by name: rate jumps have their own, tree moves share the rest."""
    jumps = {f"learn {one.name}": one.probability for one in plan.problem.rate_tables.model.priors}
    left = (1.0 - sum(jumps.values())) / sum(weights)
    of_trees = plan.moves[: len(weights)]
    return {**{move.name: weight * left for move, weight in zip(of_trees, weights, strict=True)}, **jumps}


def _learned(model: RateModel, places: Places) -> dict[str, Any] | None:
    """Return the learned rates as plain values: value with the best tree, options, and log prior."""
    values = model.values(places)
    learned = {prior.name: {"value": values[prior.name], **prior.to_dict()} for prior in model.priors}
    return {**learned, "log_prior": model.log_prior(places)} if learned else None


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
    found = find_tree(request, context)
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


def finish(request: Request, draft: Draft, prepared: float, total_seconds: float) -> Result:
    """Return the result of a run.

    Args:
        request: its options. The command to repeat the run estimates the rates again.
        draft: what its stages found.
        prepared: wall time before its stages: of reading the matrix, and of estimating the rates.
        total_seconds: its wall time.
    """
    draft.stages = {"preparation": prepared, **draft.stages}
    options = {**request.plain_options, **request.estimated.as_requested}
    if options["method"] == "search" and not draft.found.searches:  # the searches were not enough
        options |= {"method": "anneal", "start": request.start, "chains": request.chains}
    return make_result(draft, request.plan, seed=request.seed, options=options, total_seconds=total_seconds)
