"""Recurrent mutations compared with the tree without: the gain of one, or tests of all of them."""

from __future__ import annotations

from dataclasses import replace

from syclade.host.answer.recurrence.bayes_factors import plan_for, tests_of_all
from syclade.host.answer.request import Request
from syclade.host.answer.run import make_draft
from syclade.host.chains.runs.outcome import RECURRENCE
from syclade.host.chains.runs.task import Task
from syclade.host.data.model.recurrence import WithCopy
from syclade.host.device.work import WorkDone
from syclade.host.findings.draft import Draft
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.options.defaults import ALL_MUTATIONS

__all__ = ["add_recurrences"]


def add_recurrences(asked: Request, draft: Draft, task: Task) -> None:
    """Add what the option `recurrent` asks for besides the tree.

    Args:
        asked: the inference: of a recurrent mutation, or of a tree without if all are to be tested.
        draft: its answer so far.
        task: run context: progress callback, stop request.
    """
    if asked.options.recurrent == ALL_MUTATIONS:
        work: list[WorkDone] = []
        draft.recurrences = tests_of_all(asked, draft.best, task, work)
        draft.work += tuple(work)
        if draft.recurrences is None or draft.recurrences.stopped:
            draft.stop(RECURRENCE)
        return
    best = draft.best
    assert best.assignment.recurrence is not None
    without = make_draft(_without_recurrence(asked), task)
    if without.stopped_in is not None:
        draft.stop(RECURRENCE)
        return
    recurrence = best.assignment.recurrence.compared(best.log_likelihood, without.best.log_likelihood)
    draft.best = replace(best, assignment=replace(best.assignment, recurrence=recurrence))
    draft.seconds += without.seconds
    draft.work += without.work


def _without_recurrence(asked: Request) -> Request:
    """Return the same inference for trees without a recurrence, and without samples."""
    assert isinstance(asked.observed, WithCopy)
    assert asked.observed.origin is not None
    searches = asked.options.method == "anneal" and asked.plan.score.name == "max"
    return replace(
        asked,
        kind=MUTATION,
        observed=asked.observed.origin,
        plan=plan_for(asked, MUTATION, asked.observed.origin, None, asked.plan.problem.rate_tables.model),
        by_search=searches,
        encoding="auto",
        sampling=None,
        true_tree=None,
        options=asked.options._replace(recurrent=None, samples=None),
        estimated=asked.estimated._replace(work=()),  # the result with the recurrence has it
    )
