"""Recurrent mutations compared with the tree without: the gain of one, and the tests of all of them."""

from __future__ import annotations

from dataclasses import replace

from syclade.host.answer.output.result import Result
from syclade.host.answer.recurrence.bayes_factors import plan_for, tests_of_all
from syclade.host.answer.request import Request
from syclade.host.answer.run import answer
from syclade.host.chains.runs.outcome import RECURRENCE
from syclade.host.chains.runs.task import Task
from syclade.host.data.model.recurrence import WithCopy
from syclade.host.device.work import WorkDone
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.options.defaults import ALL_MUTATIONS

__all__ = ["with_recurrences"]


def with_recurrences(asked: Request, result: Result, task: Task) -> Result:
    """Return the result of an inference with what its option `recurrent` asks for besides the tree.

    Args:
        asked: the inference: of a recurrent mutation, or of a tree without if all are to be tested.
        result: its result.
        task: run context: progress callback, stop request.
    """
    if asked.options["recurrent"] == ALL_MUTATIONS:
        work: list[WorkDone] = []
        found = tests_of_all(asked, result, task, work)
        tested = replace(result, recurrences=found, work=(*result.work, *work))
        return tested.stopped(RECURRENCE) if found is None or found.stopped else tested
    assert result.assignment.recurrence is not None
    without = answer(_without_recurrence(asked), task)
    if without.interrupted:
        return result.stopped(RECURRENCE)
    recurrence = result.assignment.recurrence.compared(result.log_likelihood, without.log_likelihood)
    return replace(
        result,
        assignment=replace(result.assignment, recurrence=recurrence),
        seconds=result.seconds + without.seconds,
        work=(*result.work, *without.work),
    )


def _without_recurrence(asked: Request) -> Request:
    """Return the same inference for trees without a recurrence, and without samples."""
    assert isinstance(asked.observed, WithCopy)
    assert asked.observed.origin is not None
    searches = asked.options["method"] == "anneal" and asked.plan.score.name == "max"
    return replace(
        asked,
        kind=MUTATION,
        observed=asked.observed.origin,
        plan=plan_for(asked, MUTATION, asked.observed.origin, None, asked.plan.problem.rate_tables.model),
        by_search=searches,
        encoding="auto",
        sampling=None,
        true_tree=None,
        options={**asked.options, "recurrent": None, "samples": None},
        estimated=asked.estimated._replace(work=()),  # the result with the recurrence has it
    )
