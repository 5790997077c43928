"""Run an inference: searches or chains on a device, and what follows from their result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from syclade.host.answer.output.compose import make_result
from syclade.host.answer.request import Request
from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.outcome import CO_OPTIMAL, SUPPORT, TREE
from syclade.host.chains.runs.task import Task
from syclade.host.chains.starts import state_at
from syclade.host.data.model.problem import make_problem, problem_at
from syclade.host.data.model.recurrence import with_copy_below_root
from syclade.host.ground.errors import SycladeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.answer.output.result import Result
    from syclade.host.chains.runs.outcome import Found
    from syclade.host.chains.runs.pipeline import Progress
    from syclade.host.chains.state import ChainState
    from syclade.host.data.model.rates import Rates
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.support.stage import SupportPlan

__all__ = ["answer"]

logger = logging.getLogger("syclade.support")


def answer(asked: Request, task: Task) -> Result:
    """Run the inference and return its result.

    Args:
        asked: the checked options.
        task: the run context: progress callback, checkpointing, stop request.

    Raises:
        DeviceError, OptionError: the request cannot be met.
        CheckpointError: the checkpoint to resume from is damaged or belongs to another run.
        OutputError: the samples cannot be written.
    """
    problem = asked.plan.problem
    found = _by_search(asked, task) if asked.by_search else _by_chains(asked, task)
    if found.interrupted and asked.estimated.tree is not None:
        found = _with_tree(found, asked, asked.estimated.tree)
    found = replace(found, work=(*asked.estimated.work, *found.work))

    rates = problem.rate_tables.model.at(found.outcome.best.best_rate_at)
    result = make_result(
        asked.kind,
        asked.observed,
        rates,
        asked.plan,
        found,
        seed=asked.seed,
        # The command to repeat the run estimates the rates again.
        options={**asked.options, **asked.estimated.as_asked},
        true=asked.true_tree,
        estimated=asked.estimated.names,
        unplaced=asked.unplaced,
    )
    if asked.estimated.stopped:
        result = result.stopped(TREE)
    if asked.sampling is not None and found.samples is not None:
        judged = asked.kind.judge(found.samples, asked.sampling, problem, result.mutations, result.cells)
        result = _with_consensus(replace(result, samples=judged), asked, judged, rates)
    if asked.support is not None:
        result = _with_support(asked.support, asked, result, found, task)
    if asked.max_trees is None:
        return result
    from syclade.host.findings.cooptimal.plateau import walk_plateau

    best = [result.parents, *found.trees]
    fixed = problem_at(problem, asked.observed, rates)
    co_optimal = walk_plateau(fixed, best, asked.max_trees, lambda: task.stop.wanted)
    stopped = task.stop.wanted and not co_optimal.complete and len(co_optimal.trees) < asked.max_trees
    result = replace(result, co_optimal=co_optimal)
    return result.stopped(CO_OPTIMAL) if stopped else result


def _with_consensus(
    result: Result,
    asked: Request,
    samples: Sampled,
    rates: Rates,
    fn_rates: NDArray[np.float64] | None = None,
) -> Result:
    """Return the result with the consensus of samples, if their trees have one.

    Args:
        result, asked: the result, and what was asked for.
        samples: the samples.
        rates: the error rates that they were sampled under, for the cells.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
    """
    consensus = asked.kind.consensus(
        samples, result.parents, asked.observed, rates, asked.true_tree, result.unplaced, fn_rates
    )
    return replace(result, consensus=consensus)


def _with_support(planned: SupportPlan, asked: Request, result: Result, found: Found, task: Task) -> Result:
    """Return the result with its support and its consensus, unless the run was stopped before."""
    if task.stop.wanted:
        return result.stopped(SUPPORT)
    result = _supported(planned, asked, result, found, task)
    support = result.support
    if support is None:
        return result
    rates, posterior = result.rates, support.rates
    sampled_under = rates if posterior is None else posterior.sampled_under
    fn_rates = None if support.dropout is None else support.dropout.fn_rates
    return _with_consensus(result, asked, support.sampled, sampled_under, fn_rates)


def _supported(planned: SupportPlan, asked: Request, result: Result, found: Found, task: Task) -> Result:
    """Return the result with its support; progress shows the best tree of the result meanwhile.

    If the chains cannot run, such as for want of memory, the tree is not lost: a warning gives the reason.
    """
    from syclade.host.findings.support.stage import with_support

    best = asked.plan.problem.from_nats(result.log_likelihood)

    def report(state: Progress) -> None:
        task.report(replace(state, best_score=best))

    try:
        return with_support(
            planned,
            result,
            found.trees or found.outcome.trees,
            device=asked.device,
            encoding=asked.encoding,
            slots=asked.slots,
            task=Task(report, stop=task.stop),
        )
    except SycladeError as error:
        logger.warning("the tree has no support: %s", error)
        return result


def _by_search(asked: Request, task: Task) -> Found:
    from syclade.host.chains.search.find_tree import find

    return find(asked.plan, asked.device, asked.encoding, slots=asked.slots, seed=asked.seed, task=task)


def _by_chains(asked: Request, task: Task) -> Found:
    from syclade.host.chains.runs.run import run_plan

    starts: Callable[[int], ChainState] | None = None
    sought: Found | None = None
    if asked.start == "search" and task.keeper.resumed is None:
        starts, sought = _starts_by_search(asked, task)
    found = run_plan(
        asked.plan,
        asked.device,
        asked.encoding,
        asked.image,
        chains=asked.chains,
        until=asked.until,
        slots=asked.slots,
        seed=asked.seed,
        task=task,
        starts=starts,
        sampled=asked.sampling is not None,
        separate=asked.separate,
    )
    if sought is None:
        return found
    if found.interrupted:  # not every chain may have begun at its tree
        found = _with_tree(found, asked, sought.outcome.best.best_parents)
    outcome = replace(found.outcome, seconds=sought.outcome.seconds + found.outcome.seconds)
    return replace(found, outcome=outcome, work=(*sought.work, *found.work))


def _with_tree(found: Found, asked: Request, mutation_tree: NDArray[np.int32]) -> Found:
    """Return the findings of an interrupted run with a mutation tree found before it, if that is better.

    Args:
        found, asked: the findings, and the options of the run.
        mutation_tree: int32, shape (n + 1,): a parent vector, without a copy of a recurrent mutation or with.
    """
    problem = make_problem(asked.observed, asked.rates)
    if len(mutation_tree) == problem.mutations:
        mutation_tree = with_copy_below_root(mutation_tree)
    before = state_at(asked.plan, asked.kind.from_mutation_tree(problem, asked.rates, mutation_tree), 0)
    if before.best_score <= found.outcome.best.best_score:
        return found
    return replace(found, outcome=replace(found.outcome, best=before))


def _starts_by_search(asked: Request, task: Task) -> tuple[Callable[[int], ChainState], Found]:
    """Search for trees, and return them as first states of chains; chains take them in turns.

    The searches find mutation trees, by the maximum score.

    Returns:
        A function from a chain's number to its first state, and the findings of the searches.
    """
    from syclade.host.chains.search.find_tree import find

    sought = make_plan(make_problem(asked.observed, asked.rates))

    def report(state: Progress) -> None:
        best = asked.plan.problem.from_nats(sought.problem.to_nats(state.best_score))
        task.report(replace(state, best_score=best))

    told = Task(report, stop=task.stop)
    encoding = "auto" if asked.plan.space.encoding else asked.encoding  # searches have others
    found = find(sought, asked.device, encoding, slots=None, seed=asked.seed, task=told)
    trees = [asked.kind.from_mutation_tree(sought.problem, asked.rates, one) for one in found.trees]
    return lambda chain: state_at(asked.plan, trees[chain % len(trees)], chain), found
