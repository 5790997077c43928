"""Recurrent mutations: the gain of one over the tree without it, or tests of all mutations.

All are tested in rounds: best trees with two copies, and Bayes factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.recurrence.chains import (
    Estimate,
    best_tree_without,
    best_trees_with_copies,
    evidence_without,
    evidences_with_copies,
    opened,
    plan_for,
    slot_rates,
)
from syclade.host.answer.recurrence.sampled_factors import factors_of, sample_without
from syclade.host.answer.request import Request
from syclade.host.answer.request.arguments import dropout_of
from syclade.host.answer.run import make_draft
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.clock import Clock
from syclade.host.chains.runs.context import RECURRENCE, RunContext
from syclade.host.data.model.dropout import EVIDENT
from syclade.host.data.model.rate_model import RateModel
from syclade.host.data.model.rates import error_rates, scored_values
from syclade.host.data.model.recurrence import WithCopy, genotypes_of, kind_of, recurrent_mutation, with_copy
from syclade.host.data.model.recurrence_rates import Fit, OwnRates, fit_own_rates
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.work import WorkDone
from syclade.host.findings.finding import BestTree, Draft
from syclade.host.findings.kinds.mutation_trees import MUTATION, recurrent_kind
from syclade.host.findings.recurrences import Recurrences, RecurrencesFinding, Tested
from syclade.host.findings.support.stage import Run
from syclade.host.ground.options.types import ALL_MUTATIONS, AUTO_DROPOUT, SHARED_DROPOUT
from syclade.host.ground.signals import Stopped

__all__ = [
    "CHAINS",
    "STEPS",
    "add_recurrences",
    "tests_of_all",
]


CHAINS, STEPS = 4, 20_000
"""Chains for each mutation, and their steps, unless options have other numbers."""

OF_RUNG = 5
"""Chains for Bayes factors with doublets do a fifth of these steps on each rung of their ladder."""


def tests_of_all(
    request: Request, best: BestTree, context: RunContext, work: list[WorkDone]
) -> Recurrences | None:
    """Test every mutation, and then those with evidence again, with the strongest ones set aside.

    The model has one recurrence. Where two mutations violate infinite sites, a third one can seem to do so as
    well, because its copy mends what theirs break. So in each further round the mutation with the greatest
    Bayes factor is left out of the matrix, and the others that had evidence are tested without it.

    Args:
        request: an inference of trees without a recurrence.
        best: its best tree.
        context: run context: progress callback, stop request.
        work: the work is added to it.

    Returns:
        The tests; those of complete rounds after a stop request, or None if there are none.
    """
    recurrent_mutation(1, request.observed.mutations)  # refuses a matrix of one mutation
    accepted: list[int] = []
    rounds: list[Mapping[int, Tested]] = []
    first_rates: OwnRates | None = None
    left = tuple(range(request.observed.n_mutations))
    stopped = False
    try:
        while left and request.observed.n_mutations - len(accepted) >= 2:
            rows = [row for row in range(request.observed.n_mutations) if row not in accepted]
            inner, own = (request, best) if not accepted else _set_aside(request, best, rows, context, work)
            rates = _own_rates(inner, own, context, work)
            first_rates = rates if not rounds else first_rates
            tests = _test_round(inner, own, [rows.index(row) for row in left], rates, context, work)
            rounds.append(dict(zip(left, tests, strict=True)))
            evident = [row for row in left if rounds[-1][row].is_evident]
            if evident:
                accepted.append(max(evident, key=lambda row: rounds[-1][row].log_bayes_factor))
            left = tuple(row for row in evident if row not in accepted)
    except Stopped:
        stopped = True
    if not rounds:
        return None
    first = tuple(rounds[0][row] for row in range(request.observed.n_mutations))
    return Recurrences(
        first, *_chains(request), tuple(rounds[1:]), tuple(accepted), stopped,
        None if first_rates is None else first_rates.log_bayes_factor,
        None if first_rates is None else first_rates.of_mutations,
        tuple(np.flatnonzero(~np.isin(request.observed.values, (1, 2)).any(axis=1)).tolist()),
    )  # fmt: skip


def _set_aside(
    request: Request, best: BestTree, rows: Sequence[int], context: RunContext, work: list[WorkDone]
) -> tuple[Request, BestTree]:
    """Return the inference of some rows of the matrix alone, under the rates of a best, and its best."""
    observed = request.observed
    matrix = replace(
        observed, values=observed.values[rows], mutations=tuple(observed.mutations[row] for row in rows)
    )
    inner = replace(
        request,
        observed=matrix,
        plan=plan_for(request, MUTATION, matrix, None, *_fixed(best)),
        sampling=None,
        support=None,
        max_trees=None,
        true_tree=None,
        options=request.options.replace(recurrent=None, samples=None),
        estimated=request.estimated._replace(work=(), tree=None),
    )
    found = make_draft(inner, context)
    work += found.work
    if found.stopped_in is not None:
        raise Stopped
    return inner, found.best


def _chains(request: Request) -> tuple[int, int]:
    """Return the number of chains for each mutation, and of their steps."""
    steps = request.options.steps
    return request.chains if request.options.method == "chain" else CHAINS, STEPS if steps is None else steps


def _test_round(
    request: Request,
    best: BestTree,
    mutations: Sequence[int],
    own: OwnRates | None,
    context: RunContext,
    work: list[WorkDone],
) -> tuple[Tested, ...]:
    """Test some mutations in the slots of one runner.

    Chains start at the best tree, with the copy as a leaf at one of its best places.

    Raises:
        Stopped: a stop was requested.
    """
    per, steps = _chains(request)
    fixed = _fixed(best)
    plan = plan_for(request, recurrent_kind(0), with_copy(request.observed, 0), 0, *fixed, own)
    clock, evidences = Clock(len(mutations) * per * steps, context.launched), list[Estimate]()
    with opened(request, plan, len(mutations) * per, steps, work) as runner:
        sought = [None if own is None else own.at_mean(mutation) for mutation in mutations]
        start = slot_rates(own, plan, sought)
        trees = best_trees_with_copies(runner, best.parents, mutations, start, per, steps, clock)
        if fixed[1] is not None:
            evidences = evidences_with_copies(runner, mutations, start, per, _rung(steps), context)
    fits = [
        None if own is None else own.with_copy(genotypes_of(tree, mutation)[:-1], mutation)
        for mutation, tree in zip(mutations, trees, strict=True)
    ]
    plain = plan_for(request, MUTATION, request.observed, None, *fixed, own)
    rates = slot_rates(own, plain, [None if own is None else own.fit])[0]
    with opened(request, plain, per, steps, work) as runner:
        tree_without = best_tree_without(runner, best.parents, rates, per, steps, context)
        if evidences:
            without = evidence_without(runner, rates, len(mutations) * per, per, _rung(steps), context)
            factors = [evidence.minus(without) for evidence in evidences]
    if not evidences:
        factors = _factors_with_shares(request, best, mutations, own, context, work)
    known = _log_likelihood_without(request, best, plain, tree_without, own)
    return tuple(
        _tested(request, best, plan, tree, mutation, known, factor, own, fit)
        for mutation, tree, factor, fit in zip(mutations, trees, factors, fits, strict=True)
    )


def _rung(steps: int) -> int:
    """Return the steps on each rung of the ladder of chains with doublets."""
    return max(1, steps // OF_RUNG)


def _factors_with_shares(
    request: Request,
    best: BestTree,
    mutations: Sequence[int],
    own: OwnRates | None,
    context: RunContext,
    work: list[WorkDone],
) -> list[Estimate]:
    """Return the log Bayes factors of a model without doublets, in which nodes have shares of the cells."""
    rates = error_rates(best.rates)
    run = Run(
        request.device, "auto", request.slots, request.seed, RunContext(context.report, stop=context.stop)
    )
    sampled = sample_without(best, rates, own, _chains(request)[1], run, work)
    return factors_of(sampled, best.observed, rates, own, mutations)


def _own_rates(
    request: Request, best: BestTree, context: RunContext, work: list[WorkDone]
) -> OwnRates | None:
    """Return rates of false negatives of all mutations if they differ, or shall; None for one rate.

    They are fitted to the best tree, and then to the best tree of chains that start there: the order of
    mutations in a tree under one rate explains a part of the differences.
    """
    model, doublets = _fixed(best)
    rates = error_rates(model.rates)
    wanted = dropout_of(request.options, rates, doublets)
    if wanted == SHARED_DROPOUT:
        return None
    values = scored_values(request.observed, rates)
    own = fit_own_rates(values, rates.fp_rate, rates.fn_rate, _genotypes(best.parents))
    if wanted == AUTO_DROPOUT and own.log_bayes_factor <= EVIDENT:
        return None
    per, steps = _chains(request)
    plain = plan_for(request, MUTATION, request.observed, None, *_fixed(best), own)
    with opened(request, plain, per, steps, work) as runner:
        slot = own.slot_rates(plain.problem, own.fit)
        parents = best_tree_without(runner, best.parents, slot, per, steps, context)
    return own.refitted(_genotypes(parents))


def _genotypes(parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which mutations each node has in a tree without a recurrence: bool, shape (n, nodes)."""
    return ancestor_matrix(parents)[:-1].astype(np.bool_)


def _log_likelihood_without(
    request: Request, best: BestTree, plan: Plan, parents: NDArray[np.int32], own: OwnRates | None
) -> float:
    """Return the log-likelihood of the best tree without a recurrence: a given one, or the best one."""
    if own is None:
        return max(best.log_likelihood, plan.score.log_likelihood(request.observed, best.rates, parents))
    trees, summed = (parents, best.parents), plan.score.name == "sum"
    return max(
        own.log_likelihood(_genotypes(tree), own.fit, plan.problem.base, summed=summed) for tree in trees
    )


def _fixed(best: BestTree) -> tuple[RateModel, float | None]:
    """Return the rates of tests, which are those of the inferred tree, and its rate of doublets."""
    doublets = best.assignment.doublets
    return RateModel(best.rates), None if doublets is None else doublets.rate


def _tested(
    request: Request,
    best: BestTree,
    plan: Plan,
    parents: NDArray[np.int32],
    mutation: int,
    without: float,
    factor: Estimate,
    own: OwnRates | None,
    fit: Fit | None,
) -> Tested:
    """Return the test of a mutation from its best tree, and its rates with the copy if they are its own."""
    if own is not None and fit is not None:
        has = genotypes_of(parents, mutation)[:-1]
        summed = plan.score.name == "sum"
        likely = own.log_likelihood(has, fit, plan.problem.base, summed=summed)
        found = kind_of(parents, mutation, with_copy(request.observed, mutation).mutations)
        return Tested(found.compared(likely, without), parents, likely, factor.value, factor.error)
    kind, matrix = recurrent_kind(mutation), with_copy(request.observed, mutation)
    score = plan_for(request, kind, matrix, mutation, *_fixed(best)).score
    assignment, log_likelihood = kind.assign(matrix, best.rates, plan.problem, parents, score)
    assert assignment.recurrence is not None
    recurrence = assignment.recurrence.compared(log_likelihood, without)
    return Tested(recurrence, parents, log_likelihood, factor.value, factor.error)


def add_recurrences(request: Request, draft: Draft, context: RunContext) -> None:
    """Add what the option `recurrent` asks for besides the tree.

    Args:
        request: the inference: of a recurrent mutation, or of a tree without if all are to be tested.
        draft: its answer so far.
        context: run context: progress callback, stop request.
    """
    if request.options.recurrent == ALL_MUTATIONS:
        work: list[WorkDone] = []
        tests = tests_of_all(request, draft.best, context, work)
        draft.work += tuple(work)
        if tests is not None:
            doublets = draft.best.assignment.doublets is not None
            draft.add(RecurrencesFinding(None, tests, doublets=doublets))
        if tests is None or tests.stopped:
            draft.stop(RECURRENCE)
        return
    best = draft.best
    assert best.assignment.recurrence is not None
    without = make_draft(_without_recurrence(request), context)
    if without.stopped_in is not None:
        draft.stop(RECURRENCE)
        return
    recurrence = best.assignment.recurrence.compared(best.log_likelihood, without.best.log_likelihood)
    draft.best = replace(best, assignment=replace(best.assignment, recurrence=recurrence))
    draft.seconds += without.seconds
    draft.work += without.work


def _without_recurrence(request: Request) -> Request:
    """Return the same inference for trees without a recurrence, and without samples."""
    assert isinstance(request.observed, WithCopy)
    assert request.observed.origin is not None
    searches = request.options.method == "anneal" and request.plan.score.name == "max"
    return replace(
        request,
        kind=MUTATION,
        observed=request.observed.origin,
        plan=plan_for(
            request, MUTATION, request.observed.origin, None, request.plan.problem.rate_tables.model
        ),
        by_search=searches,
        encoding="auto",
        sampling=None,
        true_tree=None,
        options=request.options.replace(recurrent=None, samples=None),
        estimated=request.estimated._replace(work=()),  # the result with the recurrence has it
    )
