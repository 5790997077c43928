"""The pipeline's schedule as a plain value: positions of the states, their order, fill of the stages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.backends.stages.launcher import InStage, fill, ticks

STAGES = 5


def as_text(steps: Sequence[int], stages: int) -> list[str]:
    """Return one line per tick: slot and step in each stage."""
    return [
        " ".join("--" if one is None else f"{'abcdefgh'[one.slot]}{one.step}" for one in contents)
        for contents in ticks(steps, stages)
    ]


def test_a_small_schedule() -> None:
    assert as_text([2, 1, 2], 2) == ["a0 --", "b0 a0", "c0 b0", "a1 c0", "c1 a1", "-- c1"]


def test_one_state_alone_is_in_one_stage_at_a_time() -> None:
    assert as_text([2], 3) == ["a0 -- --", "-- a0 --", "-- -- a0", "a1 -- --", "-- a1 --", "-- -- a1"]


def test_no_steps_no_ticks() -> None:
    assert as_text([], 3) == as_text([0, 0], 3) == []
    assert fill([0], 3) == 0.0


@given(st.lists(st.integers(0, 6), max_size=9), st.integers(1, 6))
def test_every_state_passes_the_stages_in_order_for_every_step(steps: list[int], stages: int) -> None:
    seen: dict[InStage, list[tuple[int, int]]] = {}
    for tick, contents in enumerate(ticks(steps, stages)):
        for stage, state in enumerate(contents):
            if state is not None:
                seen.setdefault(state, []).append((tick, stage))
    assert set(seen) == {InStage(slot, step) for slot, wanted in enumerate(steps) for step in range(wanted)}
    entered = {state: places[0][0] for state, places in seen.items()}
    for state, places in seen.items():
        assert places == [(entered[state] + stage, stage) for stage in range(stages)]
        if state.step:
            assert entered[state] >= entered[InStage(state.slot, state.step - 1)] + stages


@pytest.mark.parametrize("slots", [1, 4, 5, 6, 24])
def test_ticks_are_as_many_as_counted_by_hand(slots: int) -> None:
    """A round takes max(states, stages) ticks; the last state leaves after its own pass."""
    steps = 40
    count = sum(1 for _ in ticks([steps] * slots, STAGES))
    assert count == (steps - 1) * max(slots, STAGES) + slots - 1 + STAGES
    assert fill([steps] * slots, STAGES) == slots * steps / count


def test_a_full_pipeline_has_no_empty_stage_between_filling_and_draining() -> None:
    contents = list(ticks([30] * 6, STAGES))
    assert all(None not in each for each in contents[STAGES - 1 : 1 - STAGES])
    assert all(None in each for each in (*contents[: STAGES - 1], *contents[1 - STAGES :]))
