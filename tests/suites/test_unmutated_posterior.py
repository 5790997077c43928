"""Chains with counts of left-out positions sample the posterior of the definition; chains without do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from syclade.host.chains.plan import Plan
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.doublets import doublet_log_likelihood
from syclade.host.data.model.likelihood import summed_log_likelihood
from syclade.host.data.model.rates import error_rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.learned_target import places_of
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import (
    CELLS,
    MATRIX_SEED,
    MISSING,
    Target,
    make_target,
    small_plan,
)
from tests.support.backends import QUICKEST

GAMMA, COUNTS = 1.0, (60, 9)
OTHERS: dict[str, dict[str, Any]] = {"sum": {"score": "sum"}, "doublets": {"doublets": 0.3}}
DEVICES = {"sum": QUICKEST, "doublets": "native"}
"""Devices for which the package has the kernels."""


def plan_of(name: str, counts: tuple[int, int]) -> Plan:
    return small_plan(3, GAMMA, learn=True, unmutated=counts, **OTHERS[name])


@pytest.fixture(scope="module", params=list(OTHERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def target(name: str) -> Target:
    return make_target(plan_of(name, COUNTS))


def defined(target: Target, counts: tuple[int, int]) -> NDArray[np.float64]:
    """Return the posterior by its definition: likelihoods in float64, scipy's priors, the counts' terms."""
    plan = target.plan
    model = plan.problem.rate_tables.model
    truth: dict[str, Any] = error_rates(model.rates).to_dict()
    matrix = matrix_from_array(simulate(CELLS, 3, missing=MISSING, seed=MATRIX_SEED, **truth).matrix.values)
    logs = []
    for tree in target.trees:
        for places in places_of(plan):
            rates, values = model.at(places), model.values(places)
            if "doublets" in values:
                log = doublet_log_likelihood(matrix, rates, tree, values["doublets"])
            else:
                log = summed_log_likelihood(matrix, rates, tree)
            for prior in model.priors:
                shapes = replace(prior, counts=(0, 0)).shapes
                log += float(stats.beta.logpdf(values[prior.name], *shapes))
            alpha = values["fp_rate"]
            logs.append(log + counts[0] * np.log1p(-alpha) + counts[1] * np.log(alpha))
    weights = np.exp(GAMMA * (np.array(logs) - max(logs)))
    return np.asarray(weights / weights.sum())


def test_the_chains_target_is_that_of_the_definition(target: Target) -> None:
    np.testing.assert_allclose(target.posterior, defined(target, COUNTS), rtol=5e-3, atol=1e-7)
    assert np.abs(target.posterior - defined(target, (0, 0))).sum() > 0.1, "the counts matter"


def check(target: Target, name: str, samples: int) -> PosteriorCase:
    device = choose_device(DEVICES[name])
    return judge(target, sample_chain(target, device, "auto", samples, seed=1, slots=512))


@pytest.mark.statistical
def test_the_chain_samples_its_posterior(name: str, target: Target) -> None:
    assert check(target, name, 15_000).holds


@pytest.mark.statistical
def test_a_chain_without_the_counts_does_not(name: str, target: Target) -> None:
    found = check(replace(target, plan=plan_of(name, (0, 0))), name, 15_000)
    assert not found.holds
    assert not found.visits.holds
