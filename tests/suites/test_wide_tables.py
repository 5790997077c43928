"""Wide matrices: tables with sketches and subtree maxima, or of several panels, give the same chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.encodings.preorder import MOST_CLUSTERED, PreorderEncoding, like_columns_together
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.starts import initial_state
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import Problem, SlotRates, make_problem
from syclade.host.data.model.rate_tables import fixed_tables
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.kernels.preorder.wide.sketches import SKETCH_BITS
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import (
    DEVICES,
    NUMPY,
    Backend,
    Seen,
    assert_equal_chains,
    assert_scores_are_right,
    marks_of,
    seen,
    with_rates,
)
from tests.support.own_sizes import OWN_SIZES, by_backend_and_case, is_built_apart

N = 20
SEED = 5
CHAINS = 2
STOPS = (1, 2, 3, 10, 60, 300)

on_devices = pytest.mark.parametrize(
    "backend",
    [
        *(
            pytest.param(Backend(device, "preorder"), id=device, marks=marks_of(Backend(device, "preorder")))
            for device in ("cpu", "fpga-emu")
        ),
        pytest.param(Backend("native", "preorder"), id="native", marks=pytest.mark.verification),
    ],
)


def values(cells: int, kind: str = "tree") -> NDArray[np.uint8]:
    """Return an input of N mutations, uint8: from a simulated tree, random, or with repeated columns."""
    if kind == "random":
        drawn = np.random.default_rng(cells).choice([0, 1, 3], (N, cells), p=[0.5, 0.35, 0.15])
        return drawn.astype(np.uint8)
    made = simulate(cells, N, 0.01, 0.2, 0.2, cells).matrix.values
    return np.concatenate([made, made[:, : cells // 2]], axis=1) if kind == "repeated" else made


CASES: dict[str, tuple[NDArray[np.uint8], Rates, dict[str, Any]]] = {
    "usual": (values(900), Rates(0.01, 0.2), {}),
    "no structure": (values(900, "random"), Rates(0.01, 0.2), {"gamma": 0.001}),
    "many acceptances": (values(900), Rates(0.01, 0.2), {"gamma": 0.001}),
    "labels": (values(900), Rates(0.01, 0.2), {"gamma": 0.001, "move_probabilities": (0, 1, 0)}),
    "subtrees": (values(900), Rates(0.01, 0.2), {"gamma": 0.001, "move_probabilities": (0, 0, 1)}),
    "weights with equal sketches": (values(900), Rates(0.499, 0.499), {}),
    "ones without weight": (values(900), Rates(0.3, 0.7), {}),
    "repeated columns": (values(900, "repeated"), Rates(0.01, 0.2), {"gamma": 0.05}),
    "several panels": (values(150), Rates(0.01, 0.2), {"gamma": 0.05}),
}


BUILT = ("several panels",)
"""Cases that `make test` runs on the emulator, too."""


def plan_of(name: str) -> Plan:
    matrix, rates, settings = CASES[name]
    return make_plan(make_problem(matrix_from_array(matrix), rates), **settings)


def chains(backend: Backend, plan: Plan, weights: Sequence[Sequence[int]] = ()) -> list[Seen]:
    """Return the chains at every stop, run with their own weights if these are given."""
    with backend.runner(plan, CHAINS, SEED) as runner:
        for chain in range(CHAINS):
            state = initial_state(plan, SEED, chain)
            if weights:
                state = with_rates(plan, state, SlotRates(tuple(weights[chain]), 0))
            runner.put(chain, state)
        found = []
        for stop in STOPS:
            runner.advance(np.full(CHAINS, stop))
            found += [seen(runner, chain) for chain in range(CHAINS)]
    return found


@by_backend_and_case(
    [Backend(device, "preorder") for device in DEVICES],
    {name: name for name in CASES},
    everywhere=BUILT,
    compiles=is_built_apart,
    apart=[OWN_SIZES],
)
def test_the_chains_are_those_of_numpy(backend: Backend, case: str) -> None:
    plan = plan_of(case)
    encoding = PreorderEncoding(plan.problem, TRAITS)
    assert encoding.wide == (case != "several panels")
    assert encoding.constants["cells"] > 128, "several panels"
    for ours, expected in zip(chains(backend, plan), chains(NUMPY, plan), strict=True):
        assert_scores_are_right(plan, ours.state)
        assert_equal_chains(ours, expected)


@on_devices
def test_near_weights_hide_no_change(backend: Backend) -> None:
    """Two of the three classes are almost equal: a label swap changes the score little, but not by zero."""
    plan = make_plan(
        with_second_one(make_problem(matrix_from_array(values(900)), Rates(0.01, 0.2))),
        gamma=0.001,
        move_probabilities=(0.2, 0.7, 0.1),
    )
    one = plan.problem.rates.weights[1]
    near = [(-7 << SKETCH_BITS, one, one + 5, 0), (-7 << SKETCH_BITS, one, one & -(1 << SKETCH_BITS), 0)]
    for weights in near:
        assert weights[1] >> SKETCH_BITS == weights[2] >> SKETCH_BITS
    ours, expected = chains(backend, plan, near), chains(NUMPY, plan, near)
    for one_seen, other in zip(ours, expected, strict=True):
        assert_scores_are_right(plan, one_seen.state)
        assert_equal_chains(one_seen, other)
    assert ours[-1].tallies[6] > 10, "accepted label swaps"


def with_second_one(problem: Problem) -> Problem:
    """Return the problem with a random half of its ones as 2, a class between ones and missing values."""
    observed = np.where(problem.observed == 2, 3, problem.observed)
    chosen = np.random.default_rng(4).random(observed.shape) < 0.5
    observed[(observed == 1) & chosen] = 2
    zero, one, nothing = problem.rates.weights
    return replace(
        problem,
        values=(0, 1, 2),
        observed=np.ascontiguousarray(observed.astype(np.uint8)),
        base=0.0,
        rate_tables=fixed_tables(problem.rate_tables.model, (zero, one, one, nothing)),
    )


def test_the_cases_are_what_they_are_called() -> None:
    def sketches(plan: Plan) -> set[int]:
        return {weight >> SKETCH_BITS for weight in plan.problem.rates.weights}

    assert len(sketches(plan_of("usual"))) == 3
    assert len(sketches(plan_of("weights with equal sketches"))) < 3
    assert plan_of("ones without weight").problem.rates.weights[1] == 0
    assert plan_of("repeated columns").problem.multiplicity.max() > 1
    flat = chains(NUMPY, plan_of("many acceptances"))[-1].tallies
    assert (flat[5:9] > 0).all()
    assert flat[5:].sum() > 0.5 * flat[:5].sum()


@pytest.mark.parametrize("width", [1, 2, 3, 40, MOST_CLUSTERED + 10])
def test_the_order_of_columns_is_a_permutation(width: int) -> None:
    drawn = np.random.default_rng(width).random((6, width)) < 0.35
    assert sorted(like_columns_together(drawn).tolist()) == list(range(width))


def test_like_columns_come_together() -> None:
    kinds = np.arange(90) % 3
    columns = np.zeros((12, 90), dtype=np.bool_)
    columns[kinds * 4 + np.random.default_rng(1).integers(0, 4, 90), np.arange(90)] = True
    columns[kinds * 4, np.arange(90)] = True
    ordered = kinds[like_columns_together(columns)]
    assert (np.diff(ordered) != 0).sum() == 2


def test_columns_without_mutations_are_no_trouble() -> None:
    assert sorted(like_columns_together(np.zeros((3, 5), dtype=np.bool_)).tolist()) == list(range(5))
