"""Tests of all mutations for a recurrence, in rounds: best trees with two copies, and Bayes factors."""

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
from syclade.host.model.recurrence import recurrent_mutation, with_copy, with_copy_below_root
from syclade.host.output.recurrences import Recurrences, Tested
from syclade.host.output.result import Result
from syclade.host.request import Request
from syclade.host.runs.evidence import LADDER, Estimate, estimate_of, ratios_by_chains
from syclade.host.runs.pipeline import Clock, Progress, Start, run_round
from syclade.host.runs.task import Stopped, Task
from syclade.kernels.parities.parts import RECURRENT

__all__ = ["CHAINS", "STEPS", "plan_for", "tests_of_all"]

CHAINS, STEPS = 4, 20_000
"""Chains for each mutation, and their steps, unless options have other numbers."""

OF_RUNG = 5
"""Chains for Bayes factors do a fifth of these steps on each rung of their ladder."""


def plan_for(
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


def tests_of_all(asked: Request, result: Result, task: Task, work: list[WorkDone]) -> Recurrences | None:
    """Test every mutation, and then those with evidence again, with the strongest ones set aside.

    The model has one recurrence. Where two mutations violate infinite sites, a third one can seem to do so as
    well, because its copy mends what theirs break. So in each further round the mutation with the greatest
    Bayes factor is left out of the matrix, and the others that had evidence are tested without it.

    Args:
        asked: an inference of trees without a recurrence.
        result: its result.
        task: run context: progress callback, stop request.
        work: the work is added to it.

    Returns:
        The tests; those of complete rounds after a stop request, or None if there are none.
    """
    recurrent_mutation(1, asked.observed.mutations)  # refuses a matrix of one mutation
    accepted: list[int] = []
    rounds: list[Mapping[int, Tested]] = []
    left = tuple(range(asked.observed.n_mutations))
    stopped = False
    try:
        while left and asked.observed.n_mutations - len(accepted) >= 2:
            rows = [row for row in range(asked.observed.n_mutations) if row not in accepted]
            inner, own = (asked, result) if not accepted else _set_aside(asked, result, rows, task, work)
            tests = _test_round(inner, own, [rows.index(row) for row in left], task, work)
            rounds.append(dict(zip(left, tests, strict=True)))
            evident = [row for row in left if rounds[-1][row].is_evident]
            if evident:
                accepted.append(max(evident, key=lambda row: rounds[-1][row].log_bayes_factor))
            left = tuple(row for row in evident if row not in accepted)
    except Stopped:
        stopped = True
    if not rounds:
        return None
    first = tuple(rounds[0][row] for row in range(asked.observed.n_mutations))
    return Recurrences(first, *_chains(asked), tuple(rounds[1:]), tuple(accepted), stopped)


def _set_aside(
    asked: Request, result: Result, rows: Sequence[int], task: Task, work: list[WorkDone]
) -> tuple[Request, Result]:
    """Return the inference of some rows of the matrix alone, under the rates of a result, and its result."""
    observed = asked.observed
    matrix = replace(
        observed, values=observed.values[rows], mutations=tuple(observed.mutations[row] for row in rows)
    )
    inner = replace(
        asked,
        observed=matrix,
        plan=plan_for(asked, MUTATION, matrix, None, *_fixed(result)),
        sampling=None,
        support=None,
        max_trees=None,
        true_tree=None,
        options={**asked.options, "recurrent": None, "samples": None},
        estimated=asked.estimated._replace(work=(), tree=None),
    )
    found = answer(inner, task)
    work += found.work
    if found.interrupted:
        raise Stopped
    return inner, found


def _chains(asked: Request) -> tuple[int, int]:
    """Return the number of chains for each mutation, and of their steps."""
    steps = asked.options["steps"]
    return asked.chains if asked.options["method"] == "chain" else CHAINS, STEPS if steps is None else steps


def _test_round(
    asked: Request, result: Result, mutations: Sequence[int], task: Task, work: list[WorkDone]
) -> tuple[Tested, ...]:
    """Test some mutations in the slots of one runner.

    Chains start at the result's tree, with the copy as a leaf at one of its best places.

    Raises:
        Stopped: a stop was requested.
    """
    per, steps = _chains(asked)
    fixed, rung = _fixed(result), max(1, steps // OF_RUNG)
    plan = plan_for(asked, recurrent_kind(0), with_copy(asked.observed, 0), 0, *fixed)
    clock = Clock(len(mutations) * per * steps, task.launched)
    with _opened(asked, plan, len(mutations) * per, steps, work) as runner:
        trees = _best_trees(runner, result.parents, mutations, per, steps, clock)
        evidences = _evidences(runner, mutations, per, rung, task)
    plain = plan_for(asked, MUTATION, asked.observed, None, *fixed)
    with _opened(asked, plain, per, steps, work) as runner:
        known = max(result.log_likelihood, _continued(runner, asked, result, per, steps, task))
        starts = [initial_state(plain, asked.seed, len(mutations) * per + chain) for chain in range(per)]
        without = estimate_of(_ratios(runner, starts, rung, task))
    without = without._replace(value=without.value - _prior(asked))
    return tuple(
        _tested(asked, result, plan, tree, mutation, known, evidence.minus(without))
        for mutation, tree, evidence in zip(mutations, trees, evidences, strict=True)
    )


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
    runner: Runner,
    parents: NDArray[np.int32],
    mutations: Sequence[int],
    per: int,
    steps: int,
    clock: Clock,
) -> list[NDArray[np.int32]]:
    """Return the best tree of the chains of each mutation, which start at a tree without a recurrence."""
    best: dict[int, ChainState] = {}

    def start(chain: int) -> Start:
        mutation = mutations[chain // per]
        tree = _with_leaf(runner.plan, parents, mutation, chain % per)
        return _state(runner.plan, tree, chain, mutation), None

    def finish(slot: int) -> None:
        state = runner.get(slot)
        mutation = state.settings[RECURRENT.name]
        now = best.setdefault(mutation, state)
        if (state.best_score, -state.chain) > (now.best_score, -now.chain):
            best[mutation] = state

    schedule = SlotSchedule(len(mutations) * per, steps, runner.slots)
    run_round(runner, schedule, first_step=0, start=start, finish=finish, clock=clock)
    return [best[mutation].best_parents for mutation in mutations]


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


def _evidences(runner: Runner, mutations: Sequence[int], per: int, steps: int, task: Task) -> list[Estimate]:
    """Return the evidence of each mutation's recurrence."""
    plan, seed, starts = runner.plan, runner.seed, list[ChainState]()
    for chain in range(len(mutations) * per):
        mutation = mutations[chain // per]
        tree = recurrent_trees(mutation).initial(plan.labels, seed, chain)
        starts.append(_state(plan, tree, chain, mutation))
    ratios = _ratios(runner, starts, steps, task)
    return [estimate_of(part) for part in ratios.reshape(len(mutations), per, -1)]


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
    score = plan_for(asked, kind, matrix, mutation, *_fixed(result)).score
    assignment, log_likelihood = kind.assign(matrix, result.rates, plan.problem, parents, score)
    assert assignment.recurrence is not None
    recurrence = assignment.recurrence.compared(log_likelihood, without)
    return Tested(recurrence, parents, log_likelihood, factor.value, factor.error)
