"""Simulated pipeline, compared with the analytic model and the order of algorithm 3.10."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syclade.host.ground.errors import OptionError
from syclade.quality.design.reader import load_design, preset_names
from syclade.quality.design.shortfall import explain_shortfall
from syclade.quality.design.simulation import simulate, utilisation_by_capacity
from syclade.quality.design.throughput import predict

FIXED = ["ffscite-64", "bbscite-64", "bbscite-96", "syclade-ancestor"]
"""Designs in which every stage processes every state, so that the model is exact."""


@pytest.mark.parametrize("preset", FIXED)
def test_a_full_pipeline_has_the_models_throughput(preset: str) -> None:
    design = load_design(preset)
    prediction = predict(design)
    run = simulate(design, capacity=prediction.smallest_capacity, steps=24)
    assert run.cycles_per_step == pytest.approx(prediction.cycles_per_step, rel=1e-9)
    assert run.ksteps_per_s == pytest.approx(prediction.ksteps_per_s, rel=1e-9)


@pytest.mark.parametrize("preset", FIXED)
def test_a_pipeline_that_is_not_full_waits_for_the_round_trip(preset: str) -> None:
    design = load_design(preset)
    prediction = predict(design)
    for capacity in {1, 2, prediction.smallest_capacity - 1}:
        run = simulate(design, capacity=capacity, steps=24)
        assert run.cycles_per_step == pytest.approx(prediction.round_trip / capacity, rel=1e-9)


def test_uneven_steps_come_close_to_the_mean_of_the_model() -> None:
    design = load_design("syclade-preorder")
    prediction = predict(design)
    run = simulate(design, steps=24)
    assert run.ksteps_per_s == pytest.approx(prediction.ksteps_per_s, rel=0.01)
    assert run.occupancy["rebuild"] == pytest.approx(9.6 / 13, abs=0.02)


@pytest.mark.parametrize("preset", preset_names())
def test_utilisation_grows_with_the_slots(preset: str) -> None:
    points = utilisation_by_capacity(load_design(preset), [1, 2, 3, 4, 6, 8, 16, 24, 48, 80], steps=16)
    used = [point.utilisation for point in points]
    assert used == pytest.approx(sorted(used), rel=2e-3)
    assert used[-1] == pytest.approx(1, rel=2e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(1, 9), st.sampled_from(preset_names()))
def test_every_chain_gets_its_steps_and_nothing_deadlocks(
    capacity: int, chains: int, steps: int, preset: str
) -> None:
    run = simulate(load_design(preset), capacity=capacity, chains=chains, steps=steps)
    assert run.finished == tuple((chain, steps) for chain in range(chains))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 8))
def test_states_are_sent_in_the_order_of_algorithm_3_10(capacity: int, groups: int, steps: int) -> None:
    run = simulate(
        load_design("ffscite-64"), capacity=capacity, chains=groups * capacity, steps=steps, timeline=1e9
    )
    sends = [(each.chain, each.step) for each in run.timeline if each.stage == "io send"]
    first_chains = range(0, groups * capacity, capacity)
    order = [
        (first + slot, step) for first in first_chains for step in range(steps) for slot in range(capacity)
    ]
    assert sends == order


def test_a_stage_works_on_one_state_at_a_time() -> None:
    run = simulate(load_design("bbscite-64"), capacity=7, steps=9, timeline=1e9)
    for stage in run.occupancy:
        spans = sorted((each.start, each.end) for each in run.timeline if each.stage == stage)
        assert len(spans) == 14 * 9
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_occupancies_are_the_models() -> None:
    design = load_design("ffscite-64")
    run = simulate(design, steps=200)
    for stage in predict(design).stages:
        assert run.occupancy[stage.name] == pytest.approx(stage.occupancy, abs=0.005)


@pytest.mark.parametrize("preset", ["bbscite-64", "bbscite-96"])
def test_the_fit_explains_bbscite_with_its_24_states(preset: str) -> None:
    shortfall = explain_shortfall(load_design(preset))
    for row in shortfall.rows:
        run = simulate(shortfall.design, row.cells, row.mutations, steps=24)
        assert run.ksteps_per_s == pytest.approx(row.measured, rel=1e-3)


def test_more_states_in_flight_would_have_helped_bbscite_at_32_by_31() -> None:
    shortfall = explain_shortfall(load_design("bbscite-96"))
    row = shortfall.rows[-1]
    needed = row.capacity_needed
    assert needed is not None
    assert needed > 24
    run = simulate(shortfall.design, 32, 31, capacity=needed, steps=24)
    assert run.utilisation == pytest.approx(1, rel=1e-9)
    assert run.ksteps_per_s > 1.4 * row.measured


def test_the_published_loops_alone_do_not_explain_it() -> None:
    assert simulate(load_design("bbscite-96"), 32, 31, steps=24).utilisation == pytest.approx(1, rel=1e-9)


def test_one_step_of_one_chain_takes_a_round_trip() -> None:
    design = load_design("bbscite-64")
    run = simulate(design, 4, 3, capacity=1, chains=1, steps=1)
    assert run.cycles == predict(design, 4, 3).round_trip
    assert run.finished == ((0, 1),)


@pytest.mark.parametrize(
    ("numbers", "word"),
    [({"capacity": 0}, "capacity 0"), ({"chains": 0}, "chains 0"), ({"steps": 0}, "steps 0")],
)
def test_numbers_out_of_range(numbers: dict[str, int], word: str) -> None:
    with pytest.raises(OptionError, match=word):
        simulate(load_design("ffscite-64"), **numbers)
