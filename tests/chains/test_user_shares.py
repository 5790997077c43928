"""Chains of users with shares of the cells: the exact posterior, and what does not change the result."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.gibbs import renewal_steps
from syclade.host.data.model.likelihood import (
    fitted_shares,
    log_likelihood_at_fitted_shares,
    summed_log_likelihood,
)
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle.trees import all_trees
from tests.suites.test_shares import log_posterior_weights, p_value, small_matrix, small_plan

MADE = simulate(cells=30, mutations=8, fp_rate=0.02, fn_rate=0.25, missing=0.1, seed=3).matrix
RATES: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.25, "seed": 5}
RUN: dict[str, Any] = {"score": "shares", "chains": 3, "steps": 1400, "samples": 100}


@cache
def whole() -> syclade.Result:
    return syclade.infer(MADE, **RATES, **RUN, device="native")


# ---- the same bits


@pytest.mark.parametrize(
    "more",
    [
        {"slots": 1},
        {"device": "numpy"},
        {"device": "numpy", "slots": 2},
        {"device": "native,numpy"},
        {"device": "native", "encoding": "preorder"},
        pytest.param({"device": "cpu"}, marks=pytest.mark.sycl),
        pytest.param({"device": "fpga-emu"}, marks=[pytest.mark.sycl, pytest.mark.emulator]),
    ],
)
def test_the_result_depends_neither_on_devices_nor_on_slots(more: dict[str, Any]) -> None:
    found, expected = syclade.infer(MADE, **RATES, **RUN, **{"device": "native", **more}), whole()
    assert found.summary() == expected.summary()
    assert found.samples is not None
    assert expected.samples is not None
    assert [*found.samples.lines()] == [*expected.samples.lines()]


def test_chains_are_the_same_up_to_the_end_of_a_shorter_run() -> None:
    """Shares are renewed at fixed steps: a run that ends at one has the samples of a longer one."""
    short = syclade.infer(MADE, **RATES, **{**RUN, "steps": 1024, "burn_in": 0}, device="native")
    long = syclade.infer(MADE, **RATES, **{**RUN, "burn_in": 0}, device="native")
    assert short.samples is not None
    assert long.samples is not None
    stores = short.samples.store, long.samples.store
    for chain in range(3):
        one, two = (np.concatenate(list(store.of_chain(chain))) for store in stores)
        assert one.tobytes() == two[: len(one)].tobytes()


def test_shares_are_renewed() -> None:
    """With a single tree, scores change only with the shares: at Gibbs steps."""
    values = np.ones((1, 9), dtype=np.uint8)
    values[0, :4] = 0
    found = syclade.infer(values, **RATES, **{**RUN, "steps": 2000, "burn_in": 0}, device="native")
    assert found.samples is not None
    (records,) = found.samples.store.of_chain(0)
    renewals = records["step"] > 0
    rounds = (records["step"][renewals] - 1) // renewal_steps(small_plan(9, 1).problem)
    scores = [set(records["score"][renewals][rounds == number].tolist()) for number in range(4)]
    assert [len(one) for one in scores] == [1, 1, 1, 1]
    assert len(set.union(*scores)) == 4


# ---- the posterior


@pytest.mark.statistical
@pytest.mark.parametrize("mutations", [2, 3])
def test_samples_are_of_the_posterior(mutations: int) -> None:
    """The control is the posterior of cells at uniformly random nodes, which the samples reject."""
    plan = small_plan(6, mutations)
    number = {tuple(tree): at for at, tree in enumerate(all_trees(mutations))}
    found = syclade.infer(
        small_matrix(6, mutations), fp_rate=0.05, fn_rate=0.3, seed=0, score="shares", chains=150,
        steps=12 * 512, samples=2 * 512, burn_in=0.3, device="native",
    )  # fmt: skip
    assert found.samples is not None
    visits = np.zeros(len(number), dtype=np.int64)
    for trees in found.samples.store.trees_by_chain():
        for tree in trees.tolist():
            visits[number[tuple(tree)]] += 1
    assert p_value(log_posterior_weights(plan), visits) > 0.005
    assert p_value(log_posterior_weights(plan, shares=False), visits) < 1e-3


# ---- the log-likelihood of a tree, at the shares that fit it best


def test_fitted_shares_are_the_maximum() -> None:
    """The gap to the maximum is at most cells · (largest gradient - 1), which is near 0 (convex duality)."""
    rng = np.random.Generator(np.random.PCG64(3))
    for nodes, columns in ((2, 1), (5, 40), (12, 7), (40, 200)):
        scores, cells = rng.normal(0, 4, (nodes, columns)), rng.integers(1, 9, columns).astype(np.float64)
        shares, found = fitted_shares(scores, cells)
        likely = np.exp(scores)
        assert (shares > 0).all()
        assert shares.sum() == pytest.approx(1)
        assert found == pytest.approx(float(cells @ np.log(shares @ likely)), rel=1e-12)
        gradient = (likely / (shares @ likely)) @ cells / cells.sum()
        assert gradient.max() - 1 < 1e-7


def test_the_score_of_a_tree_is_that_of_a_run() -> None:
    result = whole()
    rates = Rates(0.02, 0.25)
    assert result.score == "shares"
    assert result.log_likelihood == log_likelihood_at_fitted_shares(MADE, rates, result.parents)
    assert result.log_likelihood >= result.chain_log_likelihoods.max()
    equal = summed_log_likelihood(MADE, rates, result.parents) - MADE.n_cells * np.log(MADE.n_mutations + 1)
    assert result.log_likelihood > equal
    given = {"fp_rate": 0.02, "fn_rate": 0.25}
    assert syclade.score(MADE, result.parents, score="shares", **given) == result.log_likelihood  # type: ignore[arg-type]
    assert result.assignment.posterior is not None
    assert ((result.assignment.posterior > 0) & (result.assignment.posterior <= 1)).all()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"steps": None, "samples": None}, "--score shares without --steps"),
        ({"gamma": 2.0}, "--gamma does not go with --score shares"),
        ({"encoding": "ancestor"}, "--encoding ancestor does not go with --score shares"),
        ({"learn_fn": 0.2}, "--learn-fn does not go with --score shares"),
        ({"recurrent": "1"}, "--recurrent does not go with --score shares"),
        ({"doublets": 0.1}, "--score shares does not go with --doublets"),
        ({"tree": "leaf"}, "--score shares does not go with --tree leaf"),
        ({"stages": "separate", "samples": None}, "--score shares does not go with --stages separate"),
        ({"method": "anneal", "steps": None, "samples": None}, "--score shares does not go with --method"),
        (
            {"method": "search", "chains": None, "steps": None, "samples": None},
            "--score shares does not go with --method",
        ),
    ],
)
def test_what_shares_do_not_go_with(more: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        syclade.infer(MADE, **RATES, **{**RUN, **more})
    assert words in str(caught.value)
