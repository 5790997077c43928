"""Support without given rates: trees are sampled again where the estimates are too low."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.runs.run import run_plan
from syclade.host.chains.state import ChainState
from syclade.host.data.diagnostics import likely_chains
from syclade.host.data.model.rate_posterior import RateInterval, RatePosterior, rate_posterior
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.support import of_samples, rounds, stage
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.support.plan import SupportPlan, make_support_plan
from syclade.host.ground.options import command_of
from syclade.host.ground.signals import Stop
from tests.support.searches import shorten_support

LOW, FITTING = 21, 17
"""Seeds of matrices with many errors: the estimates of the first are far too low, those of the other fit."""


SAMPLED = Budget(1024, 2048, 4, 256)
"""Samples of the first matrix. Rates fit with 15 of 20 seeds, LOW among them, and the control's with none."""


@cache
def inferred(seed: int) -> tuple[syclade.Result, RatePosterior]:
    """Return a result, which several tests look at, and the posterior of its rates."""
    with pytest.MonkeyPatch.context() as patch:
        if seed == LOW:
            shorten_support(patch, SAMPLED)
        return sampled(seed)


def sampled(seed: int) -> tuple[syclade.Result, RatePosterior]:
    """Return a result and the posterior of its rates."""
    result = syclade.infer(simulate(30, 10, 0.05, 0.4, 0.1, seed).matrix, device="native")
    assert result.support is not None
    assert result.support.rates is not None
    return result, result.support.rates


@pytest.mark.verification
def test_full_support_samples_again_under_the_posterior_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next test with the program's own samples, and narrower bounds."""
    result, found = sampled(LOW)
    assert found.settled  # the posterior is so wide that a third of the trees count
    assert result.rates.fn_rate < 0.25 < 0.28 < found.sampled_under.fn_rate
    monkeypatch.setattr(stage, "_MOST_CORRECTIONS", 0)
    _, once = sampled(LOW)
    assert not once.fits
    assert not once.settled
    assert once.effective < 0.5 * found.effective


def test_trees_are_sampled_again_under_the_posterior_means(monkeypatch: pytest.MonkeyPatch) -> None:
    result, found = inferred(LOW)
    assert found.fits
    assert result.rates.fn_rate < 0.2 < 0.25 < found.sampled_under.fn_rate
    interval = found.intervals["fn_rate"]
    assert interval.low < found.sampled_under.fn_rate < interval.high
    assert result.consensus is not None
    assert result.consensus.rates == found.sampled_under
    report = result.summary()["support"]["rates"]["sampled_under"]
    assert report == {"fp_rate": found.sampled_under.fp_rate, "fn_rate": found.sampled_under.fn_rate}
    again = shlex.split(command_of("MATRIX", result.options))
    assert not {"--fp-rate", "--fn-rate"} & set(again)  # rates that are given would not be corrected
    # Control: without, most of the trees do not count.
    monkeypatch.setattr(stage, "_MOST_CORRECTIONS", 0)
    shorten_support(monkeypatch, SAMPLED)
    result, once = sampled(LOW)
    assert not once.fits
    assert once.sampled_under == result.rates
    assert once.effective < 0.8 * found.effective


def test_one_mutation_of_many_cells_is_sampled_under_two_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few trees count, as the cells hold the shares fast; more corrections would not change that."""
    once, runs = stage._sampled, []

    def counted(planned: SupportPlan, *given: Any, **named: Any) -> Any:
        runs.append(planned.rates)
        return once(planned, *given, **named)

    monkeypatch.setattr(stage, "_sampled", counted)
    result = syclade.infer(simulate(1500, 1, 0.01, 0.2, 0.0, 1).matrix, device="native", dropout="shared")
    assert result.support is not None
    found = result.support.rates
    assert found is not None
    assert len(set(runs)) == 2
    assert not found.fits
    assert found.settled
    assert "still moved" not in "".join(result.support.warnings)
    # Control: means that are elsewhere are named.
    far = replace(result.support, rates=found._replace(sampled_under=Rates(0.001, 0.2)))
    assert "still moved" in "".join(far.warnings)


def test_chains_under_rates_that_do_not_fit_end_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last ones run to the end, whether their rates fit or not; those before end after few rounds."""
    shorten_support(monkeypatch, Budget(512, 1024, 4, 256))
    monkeypatch.setattr(rounds, "enough", lambda sampled: False)
    monkeypatch.setattr(RatePosterior, "fits", property(lambda found: found.sampled_under.fn_rate > 0.2))
    once, parts = stage._sampled, []

    def counted(planned: SupportPlan, *given: Any, **named: Any) -> Any:
        found = once(planned, *given, **named)
        assert found is not None
        assert found.rates is not None
        parts.append((found.steps / planned.budget.most, found.rates.fits))
        return found

    monkeypatch.setattr(stage, "_sampled", counted)
    _, found = sampled(LOW)
    assert found.fits
    assert parts == [(0.25, False)] * (len(parts) - 1) + [(1.0, True)]
    assert len(parts) > 1
    # Control: rates that never fit are those of whole chains at last, too.
    parts.clear()
    monkeypatch.setattr(stage, "_MOST_CORRECTIONS", 2)
    monkeypatch.setattr(RatePosterior, "fits", False)
    sampled(LOW)
    assert parts[-2:] == [(0.25, False), (1.0, False)]


def test_a_stop_before_the_correction_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, whole = Stop(), run_plan

    def stopped_late(*given: Any, **named: Any) -> Any:
        found = whole(*given, **named)
        stop.wanted = True
        return found

    monkeypatch.setattr(stage, "run_plan", stopped_late)
    matrix = simulate(30, 10, 0.05, 0.4, 0.1, LOW).matrix
    result = syclade.infer(matrix, device="native", stop=stop)
    assert result.stopped_in == "support"
    assert result.support is not None
    assert result.support.interrupted
    assert not result.support.rates.fits  # type: ignore[union-attr]
    if result.support.enough:
        assert "sampling was stopped before it was repeated" in "".join(result.support.warnings)


@pytest.mark.parametrize("seed", [LOW, FITTING])
def test_the_lines_of_the_command_have_the_corrected_rates(seed: int) -> None:
    result, found = inferred(seed)
    said = [line for finding in result.findings for line in finding.lines]
    rates = found.sampled_under
    under = f"support and consensus are of --fp-rate {rates.fp_rate:g} and --fn-rate {rates.fn_rate:g}"
    assert any("error rates estimated from the matrix" in line for line in said)
    assert any(under in line for line in said) == (seed == LOW)


def test_trees_are_sampled_once_where_the_estimates_fit() -> None:
    result, found = inferred(FITTING)
    assert found.sampled_under == result.rates == Rates(result.rates.fp_rate, result.rates.fn_rate)
    assert result.support is not None
    assert sum(one.count for one in result.work[-1:]) == 4 * result.support.steps


def test_chains_far_below_the_best_one_say_nothing_of_the_rates() -> None:
    """A tree that does not fit has many false negatives: with its own rates it would outweigh the rest."""
    made, rates = simulate(400, 4, 0.01, 0.2, 0.1, 3), Rates(0.01, 0.2)
    planned = make_support_plan("quick", made.matrix, rates, None)
    problem, wrong = planned.plan.problem, np.array([2, 3, 4, 0, 4], dtype=np.int32)
    states = [
        state_at(planned.plan, wrong if chain == 3 else made.parents, chain)
        for chain in (0, 1, 2, 3)
        for _ in range(4)
    ]
    scores = {
        chain: np.array([problem.to_nats(state.score) for state in states if state.chain == chain])
        for chain in range(4)
    }
    kept = likely_chains(scores)
    assert (kept.chains, kept.left_out) == ((0, 1, 2), 1)
    placed = [state for state in states if state.chain in kept.chains]

    def interval(some: Sequence[ChainState]) -> RateInterval:
        shared = of_samples._shared(some, planned)
        found = rate_posterior(made.matrix, rates, shared.trees, shared.shares, names=("fp_rate", "fn_rate"))
        return found.intervals["fn_rate"]

    assert interval(placed).low < 0.2 < interval(placed).high
    assert not interval(states).low < 0.2 < interval(states).high, "the control takes all chains"
