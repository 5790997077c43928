"""Chains of the tests of recurrence: plans and runners, best trees with a copy and without, evidences.

The evidence is the mean of the likelihood over all trees of a space, by stepping stones (docs/model.md). A
chain begins at a random tree, and its exponent γ rises from nearly 0 to 1 along a ladder. On each rung, the
mean of exp((γ' - γ) log L) over its states estimates the ratio of the means at the next rung, γ', and at this
one. The first rung is so low that the inverse ratio to γ = 0, all trees alike, is exact enough.

Source: Xie, Lewis, Fan, Kuo, Chen, "Improving marginal likelihood estimation for Bayesian phylogenetic model
selection", 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.parities.tables import Trees
from syclade.host.answer.request import Request
from syclade.host.chains.backends import Runner
from syclade.host.chains.backends.opening import ChainsToOpen, open_one
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.clock import Clock, Progress, StepRate
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.runs.pipeline import Start, initial_state, run_round, state_at
from syclade.host.chains.schedule import SlotSchedule
from syclade.host.chains.scores.score import ScoreOptions, score_named
from syclade.host.chains.state import ChainState, recurrent_trees
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.copy_scores import with_best_copy
from syclade.host.data.model.dropout import problem_of_groups
from syclade.host.data.model.problem import SlotRates
from syclade.host.data.model.rate_model import RateModel
from syclade.host.data.model.rates import error_rates
from syclade.host.data.model.recurrence import with_copy_below_root
from syclade.host.data.model.recurrence_rates import Fit, OwnRates
from syclade.host.device.choice import first_of
from syclade.host.device.compile.kernel import load_part
from syclade.host.device.work import WorkDone
from syclade.host.findings.kinds import PlanOptions, TreeKind
from syclade.kernels.parities.parts import RECURRENT

__all__ = [
    "LADDER",
    "Estimate",
    "best_tree_without",
    "best_trees_with_copies",
    "estimate_of",
    "evidence_without",
    "evidences_with_copies",
    "opened",
    "plan_for",
    "ratios_by_chains",
    "slot_rates",
]

LADDER = tuple((rung / 30) ** 4 for rung in range(1, 31))
"""Exponents; most are low, where the likelihood of trees varies most. The last one, 1, is only reached."""

READS = 50
"""Reads of a chain's score on each rung."""

BURN_IN = 0.2
"""Part of the steps on a rung before the first read."""


class Estimate(NamedTuple):
    """An estimate, natural log.

    Attributes:
        value: the estimate.
        error: its standard error, by a jackknife over the chains; NaN with one chain.
    """

    value: float
    error: float

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference of two independent estimates."""
        return Estimate(self.value - other.value, math.hypot(self.error, other.error))


def ratios_by_chains(
    runner: Runner, starts: Sequence[ChainState], steps: int, launched: Callable[[int, int], None]
) -> NDArray[np.float64]:
    """Run chains along the ladder; return the estimate of each chain on each rung.

    Args:
        runner: of plans with fixed rates; its slots are overwritten.
        starts: states of independent chains at step 0, at trees that are uniform in their space.
        steps: steps of a chain on each rung.
        launched: called after each launch with the number of steps done, over all chains, and the best score
            of those in the slots.

    Returns:
        float64, shape (chains, rungs): logs of ratios; they sum to the log of the mean likelihood.
    """
    done, found = 0, []
    burn_in = max(1, round(BURN_IN * steps))
    for first in range(0, len(starts), runner.slots):
        group = starts[first : first + runner.slots]
        for slot, state in enumerate(group):
            runner.put(slot, state)
        ratios = []
        for rung, gamma in enumerate(LADDER[:-1]):
            for slot in range(len(group)):
                runner.set_gamma(slot, gamma)
            scores = []
            for stop in np.linspace(burn_in, steps, READS).round().astype(int).tolist():
                targets = np.zeros(runner.slots, dtype=np.int64)
                targets[: len(group)] = rung * steps + stop
                runner.advance(targets)
                scores.append(runner.read_all("score")[: len(group)])
            done += steps * len(group)
            launched(done, int(runner.best_scores()[: len(group)].max()))
            nats = runner.plan.problem.base + np.array(scores) * runner.plan.problem.unit
            ratio = _log_mean((LADDER[rung + 1] - gamma) * nats)
            ratios.append(ratio if rung else ratio - _log_mean(-gamma * nats))
        found.append(np.stack(ratios, axis=1))
    return np.concatenate(found)


def estimate_of(ratios: NDArray[np.float64]) -> Estimate:
    """Return the estimate of independent chains: float64, shape (chains, rungs), from `ratios_by_chains`."""
    chains = len(ratios)
    value = float(_log_mean(ratios).sum())
    if chains == 1:
        return Estimate(value, math.nan)
    without = np.array([_log_mean(np.delete(ratios, chain, axis=0)).sum() for chain in range(chains)])
    variance = (chains - 1) * float(np.mean((without - without.mean()) ** 2))
    return Estimate(value, math.sqrt(variance))


def _log_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of the mean of exponentials along the first axis."""
    mean: NDArray[np.float64] = np.logaddexp.reduce(values, axis=0) - math.log(len(values))
    return mean


def plan_for(
    request: Request,
    kind: TreeKind,
    matrix: Matrix,
    mutation: int | None,
    model: RateModel,
    doublets: float | None = None,
    own: OwnRates | None = None,
) -> Plan:
    """Return the plan of chains with the options of an inference, for another model.

    Args:
        request: the inference.
        kind, matrix, mutation: trees, their matrix, and the recurrent mutation; None for none.
        model: the rates.
        doublets: rate of doublets; by default that of the inference, or the mean of its prior.
        own: rates of false negatives of all mutations, without doublets; None for that of the model.
    """
    given = request.options
    if doublets is None and model.doublets is not None:
        doublets = model.doublets.prior.mean
    elif doublets is None and not isinstance(given.doublets, str):
        doublets = given.doublets
    scored = ScoreOptions(given.score, doublets, mutation)
    assert given.move_probabilities is not None
    plan = kind.make_plan(matrix, model, PlanOptions(scored, given.gamma, given.move_probabilities, (), 1))
    if own is None:
        return plan
    groups = own.groups if mutation is None else np.append(own.groups, 0)  # the copy's row is missing
    problem = problem_of_groups(matrix, error_rates(model.rates), groups, octaves=scored.octaves)
    return replace(plan, problem=problem, score=score_named(scored.name, problem, None, mutation))


@contextmanager
def opened(request: Request, plan: Plan, chains: int, steps: int, work: list[WorkDone]) -> Iterator[Runner]:
    """Open a runner for a plan, on the device of an inference; at its end, add its work to `work`."""
    to_open = ChainsToOpen(plan, "auto", chains, steps, request.slots, request.seed)
    chosen = open_one(first_of(request.device), to_open)
    try:
        yield chosen.runner
    finally:
        work += chosen.runner.work
        chosen.runner.close()


def slot_rates(own: OwnRates | None, plan: Plan, fits: Sequence[Fit | None]) -> list[SlotRates]:
    """Return the integers of fitted rates; those of the plan where mutations have one rate."""
    return [
        plan.problem.rates if own is None or one is None else own.slot_rates(plan.problem, one)
        for one in fits
    ]


def best_trees_with_copies(
    runner: Runner,
    parents: NDArray[np.int32],
    mutations: Sequence[int],
    rates: Sequence[SlotRates],
    per: int,
    steps: int,
    clock: Clock,
) -> list[NDArray[np.int32]]:
    """Return the best tree of the chains of each mutation, which start at a tree without a recurrence."""
    best: dict[int, ChainState] = {}

    def start(chain: int) -> Start:
        mutation, own = mutations[chain // per], rates[chain // per]
        tree = with_best_copy(runner.plan.problem, with_copy_below_root(parents), mutation, chain % per, own)
        return _state(runner.plan, tree, chain, mutation, own), None

    def finish(slot: int) -> None:
        state = runner.get(slot)
        mutation = state.settings[RECURRENT.name]
        now = best.setdefault(mutation, state)
        if (state.best_score, -state.chain) > (now.best_score, -now.chain):
            best[mutation] = state

    schedule = SlotSchedule(len(mutations) * per, steps, runner.slots)
    run_round(runner, schedule, first_step=0, start=start, finish=finish, clock=clock)
    return [best[mutation].best_parents for mutation in mutations]


def best_tree_without(
    runner: Runner, parents: NDArray[np.int32], rates: SlotRates, per: int, steps: int, context: RunContext
) -> NDArray[np.int32]:
    """Return the best tree of chains without a recurrence, as many and as long as those of a mutation."""
    found: list[ChainState] = []
    run_round(
        runner,
        SlotSchedule(per, steps, runner.slots),
        first_step=0,
        start=lambda chain: (_at_rates(runner.plan, state_at(runner.plan, parents, chain), rates), None),
        finish=lambda slot: found.append(runner.get(slot)),
        clock=Clock(per * steps, context.launched),
    )
    return max(found, key=lambda state: state.best_score).best_parents


def evidences_with_copies(
    runner: Runner,
    mutations: Sequence[int],
    rates: Sequence[SlotRates],
    per: int,
    steps: int,
    context: RunContext,
) -> list[Estimate]:
    """Return the evidence of each mutation's recurrence."""
    plan, seed, starts = runner.plan, runner.seed, list[ChainState]()
    for chain in range(len(mutations) * per):
        mutation = mutations[chain // per]
        tree = recurrent_trees(mutation).initial(plan.labels, seed, chain)
        starts.append(_state(plan, tree, chain, mutation, rates[chain // per]))
    ratios = _ratios(runner, starts, steps, context)
    return [estimate_of(part) for part in ratios.reshape(len(mutations), per, -1)]


def evidence_without(
    runner: Runner, rates: SlotRates, first: int, per: int, steps: int, context: RunContext
) -> Estimate:
    """Return the evidence of no recurrence, by chains with the numbers from `first` on."""
    plan = runner.plan
    starts = [
        _at_rates(plan, initial_state(plan, runner.seed, chain), rates) for chain in range(first, first + per)
    ]
    return estimate_of(_ratios(runner, starts, steps, context))


def _ratios(
    runner: Runner, starts: Sequence[ChainState], steps: int, context: RunContext
) -> NDArray[np.float64]:
    """Return `ratios_by_chains`, and report the progress."""
    total, rate = len(starts) * steps * (len(LADDER) - 1), StepRate()

    def launched(done: int, best: int) -> None:
        context.launched(Progress(done, total, total, best, done, rate.after(done)))

    return ratios_by_chains(runner, starts, steps, launched)


def _state(plan: Plan, tree: NDArray[np.int32], chain: int, mutation: int, rates: SlotRates) -> ChainState:
    """Return the first state of a chain of a mutation, at a tree and rates."""
    settings = {RECURRENT.name: mutation}
    score = _score(plan, tree, settings, rates)
    return ChainState(
        chain, 0, tree, score, tree, score, rates, plan.gamma, settings,
        rate_at=plan.start_rates, best_rate_at=plan.start_rates,
    )  # fmt: skip


def _score(plan: Plan, tree: NDArray[np.int32], settings: Mapping[str, int], rates: SlotRates) -> int:
    """Return the score of a tree as numpy computes it, which is far faster than its definition."""
    state = {name: np.array([value]) for name, value in plan.settings_at(plan.start_rates, settings).items()}
    state["weights"] = np.array([rates.weights])
    cells = load_part(plan.score.numpy).of_cells(
        state, np.zeros(1, int), Trees(tree[None], plan.problem.observed)
    )
    return int(cells[0] @ plan.problem.multiplicity)


def _at_rates(plan: Plan, state: ChainState, rates: SlotRates) -> ChainState:
    """Return a state before its first step with other rates."""
    if rates == state.rates:
        return state
    score = plan.score_of(state.parents, rates, settings=state.settings)
    return replace(state, score=score, best_score=score, rates=rates)
