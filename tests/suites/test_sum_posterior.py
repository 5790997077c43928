"""The chain with the sum score samples its posterior; one with the maximum score does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan

pytestmark = pytest.mark.statistical

MUTATIONS, GAMMA = 4, 1.5


@pytest.fixture(scope="module")
def target() -> Target:
    return make_target(small_plan(MUTATIONS, GAMMA, score="sum"))


def check(target: Target, device: str, encoding: str, samples: int) -> PosteriorCase:
    return judge(target, sample_chain(target, choose_device(device), encoding, samples, seed=1, slots=512))


@pytest.mark.parametrize(
    ("device", "encoding", "samples"),
    [
        pytest.param("numpy", "auto", 3000, marks=pytest.mark.verification),
        ("native", "auto", 50_000),
        pytest.param("native", "preorder", 100_000, marks=pytest.mark.verification),
        pytest.param("cpu", "ancestor", 100_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("cpu", "preorder", 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("fpga-emu", "preorder", 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
    ],
)
def test_the_chain_samples_its_posterior(target: Target, device: str, encoding: str, samples: int) -> None:
    assert check(target, device, encoding, samples).holds


@pytest.mark.parametrize("zygosity", [False, True])
def test_the_chain_with_another_score_does_not(target: Target, zygosity: bool) -> None:
    """The check rejects the maximum score, and the sum score of another matrix."""
    other = small_plan(MUTATIONS, GAMMA, zygosity=zygosity, score="sum" if zygosity else "max")
    found = check(replace(target, plan=other), "native", "auto", 6000)
    assert not found.holds
    assert not found.visits.holds
