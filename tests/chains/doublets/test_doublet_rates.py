"""Chains that learn rates of errors and doublets sample their posterior."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan
from tests.support.backends import QUICKEST

QUICK = {3: "native", 4: QUICKEST}
"""Devices that have a precompiled kernel for the rates that chains of so many mutations learn here."""


@pytest.fixture(scope="module", params=[3, pytest.param(4, marks=pytest.mark.verification)])
def target(request: pytest.FixtureRequest) -> Target:
    return make_target(small_plan(request.param, 1.0, doublets=0.3, learn=True))


def check(target: Target, device: str, samples: int) -> PosteriorCase:
    chosen = choose_device(QUICK[target.plan.problem.mutations] if device == "quick" else device)
    return judge(target, sample_chain(target, chosen, "auto", samples, seed=1, slots=128))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("device", "samples"),
    [
        pytest.param("numpy", 2000, marks=pytest.mark.verification),
        pytest.param("native", 100_000, marks=pytest.mark.verification),
        ("quick", 20_000),
    ],
)
def test_the_chain_samples_rates_and_trees_from_their_posterior(
    target: Target, device: str, samples: int
) -> None:
    assert check(target, device, samples).holds


@pytest.mark.statistical
def test_the_chain_with_another_prior_does_not(target: Target) -> None:
    plan = small_plan(target.plan.problem.mutations, 1.0, doublets=0.6, learn=True)
    found = check(replace(target, plan=plan), "quick", 20_000)
    assert not found.holds
    assert not found.visits.holds
