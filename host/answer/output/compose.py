"""Assembly of a result from the output of chains or searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.outcome import TREE, Found
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.rate_fit import advised_rates, fit_rates, misfit
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.cells import default_cell_names
from syclade.host.data.trees.truth import compare
from syclade.host.findings.consensus.unplaced import Unplaced
from syclade.host.findings.kinds.kind import TreeKind

__all__ = ["make_result"]


def make_result(
    kind: TreeKind,
    matrix: Matrix,
    rates: Rates,
    plan: Plan,
    found: Found,
    *,
    seed: int,
    options: Mapping[str, Any],
    true: NDArray[np.int32] | None = None,
    estimated: tuple[str, ...] = (),
    unplaced: Unplaced,
) -> Result:
    """Assemble a result; the log-likelihood is recomputed in float64 from the original matrix.

    Args:
        kind: kind of the trees.
        matrix: the matrix.
        rates: the error rates; of learned ones, the rates of the best tree.
        plan: the plan of the run.
        found: the output of the chains or searches.
        seed: the seed.
        options: the options of `infer`.
        true: parent vector of the true tree to compare with, int32, shape (n + 1,); None for none.
        estimated: names of the rates that were estimated from the matrix.
        unplaced: mutations and cells of which the matrix says nothing.
    """
    outcome = found.outcome
    proposed, accepted = outcome.tallies.reshape(2, -1).tolist()
    problem, parents = plan.problem, kind.canonical(outcome.best.best_parents)
    weights = options["move_probabilities"]
    score = plan.score if plan.score.at is None else plan.score.at(outcome.best.best_rate_at)
    assignment, log_likelihood = kind.assign(matrix, rates, problem, parents, score)
    fitted, advised, contradicted = _fit(kind, matrix, rates, plan, parents, assignment)
    return Result(
        kind=kind,
        parents=parents,
        log_likelihood=log_likelihood,
        assignment=assignment,
        mutations=matrix.mutations,
        cells=matrix.cells or default_cell_names(matrix.n_cells),
        rates=rates,
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
        move_probabilities=_probabilities(plan, weights),
        encoding=found.encoding,
        work=found.work,
        searches=found.searches,
        slots=found.slots,
        seconds=outcome.seconds,
        matrix=None if matrix.file_sha256 is None else matrix.source,
        matrix_sha256=matrix.sha256,
        matrix_file_sha256=matrix.file_sha256,
        options=options,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        version=syclade.__version__,
        observed=matrix,
        stopped_in=TREE if found.interrupted else None,
        true_tree=None if true is None else compare(parents, true),
        pipeline=found.pipeline,
        score=score.name,
        learned=_learned(problem.rate_tables.model, outcome.best.best_rate_at),
        estimated_rates=estimated,
        unplaced=unplaced,
        fitted_rates=fitted,
        advised_rates=advised,
        contradicted=contradicted,
    )


def _fit(
    kind: TreeKind,
    matrix: Matrix,
    rates: Rates,
    plan: Plan,
    parents: NDArray[np.int32],
    assignment: Assignment,
) -> tuple[Rates | None, Rates | None, tuple[str, ...]]:
    """Return the rates that fit a mutation tree, those to infer with instead, and the contradicted ones.

    There are none where the path to a cell's node does not say what the cell has, or rates are not two.
    """
    fixed = not plan.problem.rate_tables.model.priors and rates.fn_rate_hom is None
    plain = assignment.doublets is None and assignment.recurrence is None
    if not (kind.name == "mutation" and fixed and plain):
        return None, None, ()
    fitted = fit_rates(matrix, parents, rates)
    advised = advised_rates(matrix, parents, rates, fitted)
    return fitted, advised, () if advised is None else misfit(matrix, parents, rates, advised)


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
