"""Outcome of the posterior check, as plain values and as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from syclade.quality.posterior.check import PosteriorCase
from syclade.quality.posterior.stats import POWER
from syclade.quality.work import work_text

if TYPE_CHECKING:
    from syclade.quality.posterior.result import PosteriorResult

__all__ = ["posterior_lines", "posterior_report"]

EFFECTS = {
    "visits": "root mean square, over the posterior, of the relative error of a tree's probability",
    "steps": "the same of a step's probability, over what the chain does",
    "balance": "none is too small: the test is in exact fractions",
}
"""Definitions of the detectable deviations, by test."""


def posterior_report(result: PosteriorResult) -> dict[str, Any]:
    """Return everything for JSON; `work` as shares by executor, probabilities as numbers from 0 to 1."""
    return {
        "check": "posterior",
        "holds": result.holds,
        "settings": dict(result.settings),
        "work": result.work,
        "power": POWER,
        "detectable_deviation_is": EFFECTS,
        "cases": [_case_report(case) for case in result.cases],
    }


def _case_report(case: PosteriorCase) -> dict[str, Any]:
    target, samples = case.target, case.samples
    return {
        "mutations": target.plan.problem.mutations,
        "cells": len(target.plan.problem.column_of),
        "trees": len(target.trees),
        "gamma": target.plan.gamma,
        "holds": case.holds,
        "balance": {"holds": case.balanced, "imbalance": str(target.imbalance)},
        "visits": asdict(case.visits),
        "steps": asdict(case.steps),
        "relaxation_steps": target.relaxation_steps,
        "thinning": samples.thinning,
        "burn_in": target.burn_in,
        "chains": samples.chains,
        "chain_steps": samples.steps,
        "seconds": samples.seconds,
        "steps_per_second": samples.steps / max(samples.seconds, 1e-9),
        "executor": samples.executor,
    }


def posterior_lines(result: PosteriorResult) -> list[str]:
    """Return the outcome as the command prints it."""
    lines = []
    for case in result.cases:
        visits, steps = case.visits, case.steps
        rate = case.samples.steps / max(case.samples.seconds, 1e-9)
        lines += [
            f"{case.target.size}, {len(case.target.trees)} trees, "
            f"gamma {case.target.plan.gamma:g}: {'holds' if case.holds else 'DOES NOT HOLD'}",
            f"  proposals: detailed balance {'holds' if case.balanced else 'is broken'}",
            f"  visits: {visits.samples} samples, distance {visits.total_variation:.2e} "
            f"(expected {visits.expected_total_variation:.2e}, limit {visits.total_variation_limit:.2e}), "
            f"p = {visits.fit.p_value:.3g}; finds deviations from {visits.detectable_deviation:.1%}",
            f"  steps: {steps.steps} from {steps.rows} trees, p = {steps.p_value:.3g}, "
            f"{steps.impossible} impossible; finds deviations from {steps.detectable_deviation:.1%}",
            f"  {case.samples.steps} chain steps ({result.settings['encoding']}) on "
            f"{result.settings['device']} ({result.device_name}): "
            f"{case.samples.seconds:.1f} s, {rate / 1e3:.0f} ksteps/s",
        ]
    return [*lines, f"work done by: {work_text(result.work)}"]
