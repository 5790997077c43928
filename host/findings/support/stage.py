"""The stage after a search: chains of the sum score sample trees, and the best tree gets support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.doublet_draws import renew_doublet_shares
from syclade.host.chains.gibbs import GibbsSteps, draws_places
from syclade.host.chains.jump import Proposals
from syclade.host.chains.mode_jumps import ModeJumps
from syclade.host.chains.rate_draws import RateDraws
from syclade.host.chains.ridge_moves import RidgeMoves
from syclade.host.chains.runs.context import SUPPORT, Found, RunContext
from syclade.host.chains.runs.run import place_of_few, run_plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.share_moves import ShareMoves
from syclade.host.chains.state import SUMMED_TREES, ChainState
from syclade.host.data.model.rates import error_rates
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees, judge_mutation_trees
from syclade.host.findings.samples.sampled import Sampling
from syclade.host.findings.support.budget import CHAINS
from syclade.host.findings.support.finding import SupportFinding
from syclade.host.findings.support.of_samples import RatesOf, missed_in, rates_of_states, support_by
from syclade.host.findings.support.plan import SupportPlan, WholeTrees, learned_guide
from syclade.host.findings.support.rounds import Renew, SupportRounds, may_end
from syclade.host.findings.support.starts import fitted_starts, starts_of
from syclade.host.findings.support.value import Missed, Support
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.options.types import AUTO_DROPOUT, SHARED_DROPOUT
from syclade.host.ground.signals import Stopped, finishing, give_way

if TYPE_CHECKING:
    from syclade.host.device.choice import Several
    from syclade.host.findings.finding import Draft

__all__ = ["Run", "add_support", "sample"]

_WITHOUT_SHARES = "ancestor"
"""Encoding that has no shares of cells; the chains for support then use another one."""

_MOST_MOVED = 32
"""Most mutations of chains with one rate that also move the shares of single nodes."""

_MOST_CORRECTIONS = 8
"""How often trees are sampled again under corrected rates. On matrices with large errors, once or twice; on
panels of thousands of cells whose errors depend on each other, more often."""

_LEAST_CORRECTIONS = 3
"""Corrections after which rates that hardly move are final, even if few of several trees count, and others
are foreseen."""


def add_support(planned: SupportPlan, draft: Draft, run: Run) -> None:
    """Sample trees, and add the support of the best tree; none if a stop came before a round of samples.

    After a stop, the draft says so, and so does its support. With the device `auto`, this processor runs the
    chains instead of a CPU device, as for searches. Where rates were estimated and the samples show that they
    are too far off, trees are sampled again under corrected rates.

    Args:
        planned: the chains. They start from the best trees of the searches, or of the chains.
        draft: the answer so far.
        run: where the chains run.
    """
    support = _sampled(planned, draft, run)
    if support is not None:
        planned, support = _corrected(planned, draft, support, run)
    if support is not None and not support.interrupted:
        support = _with_dropout(planned, draft, support, run)
    if support is not None:
        draft.add(SupportFinding(support, draft.best.parents, draft.best.mutations))
        draft.unplaced = support.unplaced
        assignment = replace(draft.best.assignment, doublets=support.doublets)
        draft.best = replace(draft.best, assignment=assignment)


def _corrected(planned: SupportPlan, draft: Draft, support: Support, run: Run) -> tuple[SupportPlan, Support]:
    """Return the support under rates that fit the sampled trees, and its plan; if a stop comes, those so far.

    Rates and shares of thousands of cells hold each other fast, so that means can move far less than they
    would at last. So later corrections look ahead. Chains under rates that do not fit end after few rounds.
    If no others follow, they are run once more, to the end; others do if mutations have rates of their own.
    """
    before = None
    for done in range(_MOST_CORRECTIONS):
        posterior = support.rates
        if posterior is None or posterior.fits:
            break
        one_tree = bool((support.trees == support.trees[0]).all())  # does not depend on the rates
        if posterior.settled and done >= (1 if one_tree else _LEAST_CORRECTIONS):
            break
        rates = posterior.next_rates(before if done >= _LEAST_CORRECTIONS else None)
        other = planned.under(rates, draft.best.observed)
        again = _again(other, draft, support, run)
        if again is None:
            return planned, replace(support, interrupted=True)
        planned, support, before = other, again, posterior
        if support.interrupted:
            return planned, support
    ended = may_end(support.sampled, planned.budget, enough=support.enough)
    ended |= _tells_dropout_soon(planned) and _has_dropout(planned, support.missed)
    if not ended and support.steps < planned.budget.most and not support.interrupted:
        again = _again(planned, draft, support, run, final=True)
        return planned, replace(support, interrupted=True) if again is None else again
    return planned, support


def _again(
    planned: SupportPlan, draft: Draft, support: Support, run: Run, *, final: bool = False
) -> Support | None:
    """Return the support of other chains, with the time of those before; None if a stop came first."""
    if run.context.stop.wanted:
        draft.stop(SUPPORT)
        return None
    again = _sampled(planned, draft, run, final=final)
    return None if again is None else replace(again, seconds=support.seconds + again.seconds)


def _with_dropout(planned: SupportPlan, draft: Draft, support: Support, run: Run) -> Support:
    """Return the support with rates of mutations that differ, if they shall, or if the samples show it.

    The posterior of the common rates, if they were estimated, remains that of the trees before.
    """
    counts = support.missed
    if counts is None or not _has_dropout(planned, counts):
        return support
    missed, seen = (np.mean([one[at] for one in counts.draws], axis=0) for at in (0, 1))
    own = planned.with_dropout(draft.best.observed, (missed + 0.5) / (missed + seen + 1.0))
    own = own._replace(fitted=fitted_starts(own, draft, run.device, run.seed, run.context))
    again = _again(own, draft, support, run)
    if again is None:
        return replace(support, interrupted=True)
    assert again.dropout is not None
    dropout = replace(again.dropout, log_bayes_factor=counts.evidence)
    return replace(again, rates=support.rates, dropout=dropout)


def _has_dropout(planned: SupportPlan, counts: Missed | None) -> bool:
    """Return whether trees are sampled again with rates of the mutations, by how often these were missed."""
    if planned.dropout == SHARED_DROPOUT or counts is None:
        return False
    return planned.dropout != AUTO_DROPOUT or counts.is_evident


def _tells_dropout_soon(planned: SupportPlan) -> bool:
    """Return whether few rounds tell if mutations have rates of their own: they are sampled again then."""
    return planned.shares and planned.groups is None


def _fits(planned: SupportPlan, rates_of: RatesOf | None, seed: int) -> Callable[..., bool] | None:
    """Return the function from states to whether chains go on under their rates; None if all do."""
    soon = _tells_dropout_soon(planned) and planned.dropout != SHARED_DROPOUT
    if rates_of is None and not soon:
        return None

    def fits(states: Sequence[ChainState]) -> bool:
        if rates_of is not None and not rates_of(states).fits:
            return False
        return not (soon and _has_dropout(planned, missed_in(planned, states, seed)))

    return fits


def _sampled(planned: SupportPlan, draft: Draft, run: Run, *, final: bool = False) -> Support | None:
    """Add the work of the chains to the draft, and return their support; see `add_support`.

    Args:
        planned, draft, run: as for `add_support`.
        final: whether the rates are final, even if they do not fit.
    """
    best, trees = draft.best, draft.found.trees or draft.found.outcome.trees
    rates_of = rates_of_states(planned, draft)
    fits = None if final else _fits(planned, rates_of, run.seed)
    rounds, found = sample(planned, best.parents, trees, best.mutations, run, draft.unplaced, fits)
    draft.work += found.work
    if found.interrupted:
        draft.stop(SUPPORT)
    try:
        return _support_by_rounds(planned, draft, rounds, run, found, rates_of)
    except Stopped:
        draft.stop(SUPPORT)
        rounds.thin()
        with finishing():
            return _support_by_rounds(planned, draft, rounds, run, found, rates_of)


def _support_by_rounds(
    planned: SupportPlan,
    draft: Draft,
    rounds: SupportRounds,
    run: Run,
    found: Found,
    rates_of: RatesOf | None,
) -> Support | None:
    """Return the support by the samples of the last round; None if none has ended.

    Args:
        planned, draft, run: as for `add_support`.
        rounds, found: what the chains have left.
        rates_of: the posterior of estimated rates; None where there are none.

    Raises:
        Stopped: a stop was requested meanwhile.
    """
    give_way()
    judged = rounds.judged
    if judged is None:
        return None
    interrupted, seconds = draft.stopped_in == SUPPORT, found.outcome.seconds
    return support_by(
        planned,
        draft,
        judged,
        run.seed,
        interrupted=interrupted,
        seconds=seconds,
        rates_of=rates_of,
    )


class Run(NamedTuple):
    """Execution of chains.

    Attributes:
        device, encoding, slots, seed: as for `infer`.
        context: run context: progress callback, stop request.
    """

    device: str | Several
    encoding: str
    slots: int | None
    seed: int
    context: RunContext


def sample(
    planned: SupportPlan,
    best: NDArray[np.int32],
    trees: Sequence[NDArray[np.int32]],
    names: Sequence[str],
    run: Run,
    unplaced: Unplaced | None = None,
    fits: Callable[[Sequence[ChainState]], bool] | None = None,
) -> tuple[SupportRounds, Found]:
    """Run the chains until their rounds end, and return the rounds with their samples.

    Args:
        planned: the chains.
        best, trees: the best tree and other good trees, from which chains start: int32, shape (n + 1,).
        names: the n names of the mutations.
        run: where they run, and how.
        unplaced: mutations that the diagnostics leave out.
        fits: whether the rates fit; see `SupportRounds`.
    """
    plan = planned.plan

    def judge(store: SampleStore, sampling: Sampling) -> SampledMutationTrees:
        return judge_mutation_trees(store, sampling, planned.problem, names, unplaced)

    guide = partial(learned_guide, plan, planned.silent) if planned.guided else None
    every_pair = planned.level == "full"
    rounds = SupportRounds(
        planned.budget,
        planned.problem.nodes,
        judge,
        guide,
        unit=plan.problem.unit,
        every_pair=every_pair,
        renew=_renewal_of(planned, run.seed) if planned.shares else None,
        unplaced=unplaced,
        fits=fits,
    )
    found = run_plan(
        plan,
        place_of_few(run.device, plan),
        "auto" if planned.shares and run.encoding == _WITHOUT_SHARES else run.encoding,
        None,
        chains=CHAINS,
        until=rounds,
        slots=run.slots,
        seed=run.seed,
        context=run.context,
        sinks=[WholeTrees(planned.silent, rounds)],
        starts=starts_of(planned, best, trees),
    )
    return rounds, found


def _rate_draws_of(planned: SupportPlan) -> RateDraws | None:
    """Return the draws of the rates of mutations, if chains sample them."""
    if planned.groups is None:
        return None
    return RateDraws(planned.plan.problem, error_rates(planned.rates).fp_rate, planned.groups)


def _renewal_of(planned: SupportPlan, seed: int) -> Renew:
    """Return the Gibbs step of the chains' shares and rates."""
    if planned.plan.space is SUMMED_TREES:
        return partial(renew_doublet_shares, planned.plan, seed=seed)
    rate_draws, jumps = _rate_draws_of(planned), _jumps_of(planned)
    return GibbsSteps(planned.plan, seed, rate_draws, jumps=jumps, dominant=planned.dominant)


def _jumps_of(planned: SupportPlan) -> list[Proposals]:
    """Return what proposes to change trees, shares and rates of mutations together.

    Where cells are many beside the mutations, they hold shares fast that are only drawn given the cells. Of
    many mutations, a move of one share at a time changes little.
    """
    problem = planned.plan.problem
    if not planned.has_own_rates:
        few = problem.mutations <= _MOST_MOVED and not draws_places(problem.mutations, problem.columns)
        return [ShareMoves(problem)] if few else []
    fp_rate = error_rates(planned.rates).fp_rate
    jumps: list[Proposals] = [RidgeMoves(problem, fp_rate), ShareMoves(problem)]
    return [*jumps, ModeJumps(problem, fp_rate, planned.fitted)] if len(planned.fitted) > 1 else jumps
