"""The verdict on a sampler: balance of the proposals, visit frequencies, and single steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from syclade.quality.posterior.samples import ChainSamples
from syclade.quality.posterior.small_target import Target
from syclade.quality.posterior.stats import POWER, Agreement, verdict
from syclade.quality.posterior.transition_fit import TransitionFit, fit_transitions

__all__ = ["PosteriorCase", "judge", "posterior_report"]

EFFECTS = {
    "visits": "root mean square, over the posterior, of the relative error of a tree's probability",
    "steps": "the same of a step's probability, over what the chain does",
    "balance": "none is too small: the test is in exact fractions",
}
"""What the detectable deviations are of."""


@dataclass(frozen=True)
class PosteriorCase:
    """One target, what the chain did on it, and whether that agrees.

    Attributes:
        target: the small problem, enumerated.
        samples: what the chains did.
        balanced: detailed balance of the proposal kernel holds exactly.
        visits: whether the reads are samples of the posterior.
        steps: whether single steps have the exact probabilities.
    """

    target: Target
    samples: ChainSamples
    balanced: bool
    visits: Agreement
    steps: TransitionFit

    @property
    def holds(self) -> bool:
        """All three checks hold."""
        return self.balanced and self.visits.holds and self.steps.holds


def judge(target: Target, samples: ChainSamples) -> PosteriorCase:
    """Test what the chains did against the target.

    Raises:
        ValueError: too few samples for a test.
    """
    return PosteriorCase(
        target=target,
        samples=samples,
        balanced=target.imbalance == 0,
        visits=verdict(samples.visits, target.posterior),
        steps=fit_transitions(samples.moves, target.transitions),
    )


def posterior_report(cases: Sequence[PosteriorCase], settings: dict[str, Any]) -> dict[str, Any]:
    """All of it as plain values, for JSON."""
    return {
        "check": "posterior",
        "holds": all(case.holds for case in cases),
        "settings": settings,
        "power": POWER,
        "detectable_deviation_is": EFFECTS,
        "cases": [_case_report(case) for case in cases],
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
    }
