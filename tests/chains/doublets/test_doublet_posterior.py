"""Chains with doublets sample their posterior over all trees; those of other models do not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan

pytestmark = pytest.mark.statistical

MUTATIONS, GAMMA, RATE = 4, 1.5, 0.25


@cache
def target_of(mutations: int) -> Target:
    return make_target(small_plan(mutations, GAMMA, doublets=RATE))


def check(target: Target, device: str, samples: int) -> PosteriorCase:
    return judge(target, sample_chain(target, choose_device(device), "auto", samples, seed=1, slots=128))


@pytest.mark.parametrize(
    ("device", "samples", "mutations"),
    [
        pytest.param("numpy", 1000, 3, marks=pytest.mark.verification),
        ("native", 20_000, MUTATIONS),
        pytest.param("cpu", 100_000, MUTATIONS, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("fpga-emu", 50_000, MUTATIONS, marks=[pytest.mark.sycl, pytest.mark.verification]),
    ],
)
def test_the_chain_samples_its_posterior(device: str, samples: int, mutations: int) -> None:
    assert check(target_of(mutations), device, samples).holds


@pytest.mark.parametrize("other", [{"doublets": 0.9}, {"score": "sum"}, {}], ids=["rate", "sum", "max"])
def test_the_chain_of_another_model_does_not(other: dict[str, float]) -> None:
    """The check rejects another rate of doublets, and models without."""
    plan = small_plan(MUTATIONS, GAMMA, **other)  # type: ignore[arg-type]
    found = check(replace(target_of(MUTATIONS), plan=plan), "native", 15_000)
    assert not found.holds
    assert not found.visits.holds
