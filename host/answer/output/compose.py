"""The best tree of a run, from the output of chains or searches; and the result, from its draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.outcome import Found
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.clones import default_cell_names
from syclade.host.findings.draft import BestTree, Draft
from syclade.host.findings.kinds.kind import TreeKind
from syclade.host.findings.registry import findings_of

__all__ = ["best_tree_of", "make_result"]


def best_tree_of(kind: TreeKind, matrix: Matrix, rates: Rates, plan: Plan, found: Found) -> BestTree:
    """Return the best tree of a run; its log-likelihood is recomputed in float64 from the original matrix.

    Args:
        kind: kind of the trees.
        matrix: the matrix.
        rates: the error rates; of learned ones, the rates of the best tree.
        plan: the plan of the run.
        found: the output of the chains or searches.
    """
    best, problem = found.outcome.best, plan.problem
    parents = kind.canonical(best.best_parents)
    score = plan.score if plan.score.at is None else plan.score.at(best.best_rate_at)
    assignment, log_likelihood = kind.assign(matrix, rates, problem, parents, score)
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
        rates=best.rates,
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
    told = {prior.name: {"value": values[prior.name], **prior.to_dict()} for prior in model.priors}
    return {**told, "log_prior": model.log_prior(places)} if told else None
