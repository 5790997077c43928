"""Recurrent mutations compared with the tree without: the gain of one, and the test of all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.parities.tables import Trees
from syclade.host.answer import answer
from syclade.host.backends import Runner
from syclade.host.backends.opening import open_one
from syclade.host.chains.plan import Plan
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.chains.space import recurrent_trees
from syclade.host.chains.starts import initial_state, state_at
from syclade.host.chains.state import ChainState
from syclade.host.cluster.where import first_of
from syclade.host.compile.kernel import load_part
from syclade.host.devices.work import WorkDone
from syclade.host.input.matrix import Matrix
from syclade.host.kinds.kind import PlanOptions, TreeKind
from syclade.host.kinds.mutation_trees import MUTATION
from syclade.host.kinds.recurrent_trees import recurrent_kind
from syclade.host.model.copy_scores import with_best_copy
from syclade.host.model.rate_model import RateModel
from syclade.host.model.recurrence import WithCopy, recurrent_mutation, with_copy, with_copy_below_root
from syclade.host.options.defaults import ALL_MUTATIONS
from syclade.host.output.recurrences import Recurrences, Tested
from syclade.host.output.result import Result
from syclade.host.request import Request
from syclade.host.runs.evidence import LADDER, Estimate, estimate_of, ratios_by_chains
from syclade.host.runs.found import RECURRENCE
from syclade.host.runs.pipeline import Clock, Progress, Start, run_round
from syclade.host.runs.task import Stopped, Task
from syclade.kernels.parities.parts import RECURRENT

__all__ = ["CHAINS", "STEPS", "with_recurrences"]

CHAINS, STEPS = 4, 20_000
"""Chains for each mutation, and their steps, unless options have other numbers."""

OF_RUNG = 5
"""Chains for Bayes factors do a fifth of these steps on each rung of their ladder."""


def with_recurrences(asked: Request, result: Result, task: Task) -> Result:
    """Return the result of an inference with what its option `recurrent` asks for besides the tree.

    Args:
        asked: the inference: of a recurrent mutation, or of a tree without if all are to be tested.
        result: its result.
        task: run context: progress callback, stop request.
    """
    if asked.options["recurrent"] == ALL_MUTATIONS:
        work: list[WorkDone] = []
        found = _test_all(asked, result, task, work)
        tested = replace(result, recurrences=found, work=(*result.work, *work))
        return tested.stopped(RECURRENCE) if found is None else tested
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
        plan=_plan(asked, MUTATION, asked.observed.origin, None, asked.plan.problem.rate_tables.model),
        by_search=searches,
        encoding="auto",
        sampling=None,
        true_tree=None,
        options={**asked.options, "recurrent": None, "samples": None},
        estimated=asked.estimated._replace(work=()),  # the result with the recurrence has it
    )


def _plan(
    asked: Request,
    kind: TreeKind,
    matrix: Matrix,
    mutation: int | None,
    model: RateModel,
    doublets: float | None = None,
) -> Plan:
    """Return the plan of chains with the options of an inference, for another model.

    Args:
        asked: the inference.
        kind, matrix, mutation: trees, their matrix, and the recurrent mutation; None for none.
        model: the rates.
        doublets: rate of doublets; by default that of the inference, or the mean of its prior.
    """
    given: Mapping[str, Any] = asked.options
    if doublets is None:
        doublets = given["doublets"] if model.doublets is None else model.doublets.prior.mean
    scored = ScoreOptions(given["score"], doublets, mutation)
    options = PlanOptions(scored, given["gamma"], given["move_probabilities"], (), 1)
    return kind.make_plan(matrix, model, options)


def _test_all(asked: Request, result: Result, task: Task, work: list[WorkDone]) -> Recurrences | None:
    """Test every mutation in the slots of one runner; return the tests, or None after a stop request.

    Chains start at the result's tree, with the copy as a leaf at one of its best places. The work is added
    to `work`.
    """
    mutations = asked.observed.n_mutations
    per = asked.chains if asked.options["method"] == "chain" else CHAINS
    steps = STEPS if asked.options["steps"] is None else asked.options["steps"]
    recurrent_mutation(1, asked.observed.mutations)  # refuses a matrix of one mutation
    fixed = _fixed(result)
    plan = _plan(asked, recurrent_kind(0), with_copy(asked.observed, 0), 0, *fixed)
    clock = Clock(mutations * per * steps, task.launched)
    rung = max(1, steps // OF_RUNG)
    try:
        with _opened(asked, plan, mutations * per, steps, work) as runner:
            trees = _best_trees(runner, result.parents, mutations, per, steps, clock)
            evidences = _evidences(runner, mutations, per, rung, task)
        plain = _plan(asked, MUTATION, asked.observed, None, *fixed)
        with _opened(asked, plain, per, steps, work) as runner:
            known = max(result.log_likelihood, _continued(runner, asked, result, per, steps, task))
            starts = [initial_state(plain, asked.seed, mutations * per + chain) for chain in range(per)]
            without = estimate_of(_ratios(runner, starts, rung, task))
    except Stopped:
        return None
    without = without._replace(value=without.value - _prior(asked))
    tests = tuple(
        _tested(asked, result, plan, tree, mutation, known, evidences[mutation].minus(without))
        for mutation, tree in enumerate(trees)
    )
    return Recurrences(tests, per, steps)


@contextmanager
def _opened(asked: Request, plan: Plan, chains: int, steps: int, work: list[WorkDone]) -> Iterator[Runner]:
    """Open a runner for a plan, on the device of an inference; at its end, add its work to `work`."""
    opened = open_one(
        first_of(asked.device), "auto", plan, chains=chains, steps=steps, slots=asked.slots, seed=asked.seed
    )
    try:
        yield opened.runner
    finally:
        work += opened.runner.work
        opened.runner.close()


def _best_trees(
    runner: Runner, parents: NDArray[np.int32], mutations: int, per: int, steps: int, clock: Clock
) -> list[NDArray[np.int32]]:
    """Return the best tree of the chains of each mutation, which start at a tree without a recurrence."""
    best: dict[int, ChainState] = {}

    def start(chain: int) -> Start:
        tree = _with_leaf(runner.plan, parents, chain // per, chain % per)
        return _state(runner.plan, tree, chain, chain // per), None

    def finish(slot: int) -> None:
        state = runner.get(slot)
        mutation = state.settings[RECURRENT.name]
        now = best.setdefault(mutation, state)
        if (state.best_score, -state.chain) > (now.best_score, -now.chain):
            best[mutation] = state

    schedule = SlotSchedule(mutations * per, steps, runner.slots)
    run_round(runner, schedule, first_step=0, start=start, finish=finish, clock=clock)
    return [best[mutation].best_parents for mutation in range(mutations)]


def _continued(runner: Runner, asked: Request, result: Result, per: int, steps: int, task: Task) -> float:
    """Return the best log-likelihood of chains without a recurrence, as many and as long as its chains."""
    found: list[ChainState] = []
    run_round(
        runner,
        SlotSchedule(per, steps, runner.slots),
        first_step=0,
        start=lambda chain: (state_at(runner.plan, result.parents, chain), None),
        finish=lambda slot: found.append(runner.get(slot)),
        clock=Clock(per * steps, task.launched),
    )
    best = max(found, key=lambda state: state.best_score)
    return runner.plan.score.log_likelihood(asked.observed, result.rates, best.best_parents)


def _evidences(runner: Runner, mutations: int, per: int, steps: int, task: Task) -> list[Estimate]:
    """Return the evidence of each mutation's recurrence."""
    plan, seed = runner.plan, runner.seed
    starts = [
        _state(plan, recurrent_trees(chain // per).initial(plan.labels, seed, chain), chain, chain // per)
        for chain in range(mutations * per)
    ]
    ratios = _ratios(runner, starts, steps, task)
    return [estimate_of(part) for part in ratios.reshape(mutations, per, -1)]


def _prior(asked: Request) -> float:
    """Return what the priors of attachments, which the sum score leaves out, add to a log Bayes factor."""
    nodes = asked.observed.n_mutations + 1
    return asked.observed.n_cells * math.log(nodes / (nodes + 1)) if asked.plan.score.name == "sum" else 0.0


def _ratios(runner: Runner, starts: Sequence[ChainState], steps: int, task: Task) -> NDArray[np.float64]:
    """Return `ratios_by_chains`, and report the progress."""
    total, begun = len(starts) * steps * (len(LADDER) - 1), time.perf_counter()

    def launched(done: int, best: int) -> None:
        task.launched(Progress(done, total, total, best, done, time.perf_counter() - begun))

    return ratios_by_chains(runner, starts, steps, launched)


def _with_leaf(plan: Plan, parents: NDArray[np.int32], mutation: int, rank: int) -> NDArray[np.int32]:
    """Return a tree without a recurrence with the copy of a mutation at its best place, or a later one."""
    return with_best_copy(plan.problem, with_copy_below_root(parents), mutation, rank)


def _state(plan: Plan, tree: NDArray[np.int32], chain: int, mutation: int) -> ChainState:
    """Return the first state of a chain of a mutation, at a tree."""
    settings = {RECURRENT.name: mutation}
    score = _score(plan, tree, settings)
    return ChainState(
        chain, 0, tree, score, tree, score, plan.problem.rates, plan.gamma, settings,
        rate_at=plan.start_rates, best_rate_at=plan.start_rates,
    )  # fmt: skip


def _score(plan: Plan, tree: NDArray[np.int32], settings: Mapping[str, int]) -> int:
    """Return the score of a tree as numpy computes it, which is far faster than its definition."""
    rates = plan.problem.rates
    state = {name: np.array([value]) for name, value in plan.settings_at(plan.start_rates, settings).items()}
    state["weights"] = np.array([rates.weights])
    cells = load_part(plan.score.numpy).of_cells(
        state, np.zeros(1, int), Trees(tree[None], plan.problem.observed)
    )
    return int(cells[0] @ plan.problem.multiplicity)


def _fixed(result: Result) -> tuple[RateModel, float | None]:
    """Return the rates of tests, which are those of the inferred tree, and its rate of doublets."""
    doublets = result.assignment.doublets
    return RateModel(result.rates), None if doublets is None else doublets.rate


def _tested(
    asked: Request,
    result: Result,
    plan: Plan,
    parents: NDArray[np.int32],
    mutation: int,
    without: float,
    factor: Estimate,
) -> Tested:
    """Return the test of a mutation from its best tree."""
    kind, matrix = recurrent_kind(mutation), with_copy(asked.observed, mutation)
    score = _plan(asked, kind, matrix, mutation, *_fixed(result)).score
    assignment, log_likelihood = kind.assign(matrix, result.rates, plan.problem, parents, score)
    assert assignment.recurrence is not None
    recurrence = assignment.recurrence.compared(log_likelihood, without)
    return Tested(recurrence, parents, log_likelihood, factor.value, factor.error)
