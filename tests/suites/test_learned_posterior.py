"""Chains that learn error rates sample the joint posterior of trees and rates; wrong chains do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_leaf_plan, small_plan
from tests.support.backends import QUICKEST

pytestmark = pytest.mark.statistical

GAMMA = 1.5


@pytest.fixture(scope="module")
def target() -> Target:
    return make_target(small_plan(3, GAMMA, learn=True))


def check(target: Target, device: str, samples: int) -> PosteriorCase:
    return judge(target, sample_chain(target, choose_device(device), "auto", samples, seed=1, slots=512))


@pytest.mark.parametrize(
    ("device", "samples"),
    [
        pytest.param("numpy", 2048, marks=pytest.mark.verification),
        pytest.param("cpu", 60_000, marks=pytest.mark.sycl),
        pytest.param("native", 100_000, marks=pytest.mark.verification),
        pytest.param("fpga-emu", 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
    ],
)
def test_the_chain_samples_its_posterior(target: Target, device: str, samples: int) -> None:
    assert len(target.posterior) == 512
    assert check(target, device, samples).holds


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("score", "zygosity"),
    [
        pytest.param("sum", False, marks=pytest.mark.verification),
        pytest.param("max", True, marks=pytest.mark.verification),
        ("sum", True),
    ],
)
def test_with_other_scores(score: str, zygosity: bool) -> None:
    target = make_target(small_plan(3, GAMMA, score=score, zygosity=zygosity, learn=True))
    assert check(target, "cpu", 60_000).holds


@pytest.mark.sycl
@pytest.mark.verification
def test_more_trees() -> None:
    assert check(make_target(small_plan(4, GAMMA, learn=True)), "cpu", 60_000).holds


@pytest.mark.parametrize(
    ("device", "zygosity", "samples"),
    [
        pytest.param("numpy", False, 2048, marks=pytest.mark.verification),
        pytest.param("cpu", False, 60_000, marks=pytest.mark.sycl),
        pytest.param("cpu", True, 60_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("native", False, 60_000, marks=pytest.mark.verification),
    ],
)
def test_with_cell_trees(device: str, zygosity: bool, samples: int) -> None:
    target = make_target(small_leaf_plan(4, GAMMA, zygosity=zygosity, learn=True))
    assert len(target.posterior) == 480
    assert check(target, device, samples).holds


@pytest.mark.parametrize("missing", ["fn_worth", "fp_worth"])
def test_a_chain_without_the_prior_or_the_base_does_not(target: Target, missing: str) -> None:
    problem = target.plan.problem
    tables = problem.rate_tables
    flat = replace(tables, **{missing: np.zeros_like(getattr(tables, missing))})
    plan = replace(target.plan, problem=replace(problem, rate_tables=flat))
    found = check(replace(target, plan=plan), QUICKEST, 20_000)
    assert not found.visits.holds
    assert not found.steps.holds


def test_a_chain_with_other_jumps_does_not(target: Target) -> None:
    """The posterior is the same, but the steps differ."""
    problem = target.plan.problem
    learned = problem.rate_tables.model
    assert learned.fn is not None
    wider = replace(learned.fn, prior=replace(learned.fn.prior, step=0.25))
    tables = replace(problem.rate_tables, model=replace(learned, fn=wider))
    plan = replace(target.plan, problem=replace(problem, rate_tables=tables))
    found = check(replace(target, plan=plan), QUICKEST, 20_000)
    assert found.visits.holds
    assert not found.steps.holds
