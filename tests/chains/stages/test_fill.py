"""The host's schedule must agree with the simulation of `syclade design`, a separate program."""

from __future__ import annotations

import pytest

from syclade.host.chains.backends.stages.launcher import fill, ticks
from syclade.kernels.ancestor.stage_arguments import STAGES
from syclade.quality.design.equal_stages import equal_stages
from syclade.quality.design.simulation import simulate

STEPS = 40


@pytest.mark.parametrize("slots", [1, 3, 5, 6, 24])
def test_the_schedule_is_the_simulated_one(slots: int) -> None:
    """Every stage has the same state at the same time, and the run ends at the same tick."""
    names = list(STAGES)
    run = simulate(equal_stages(names), capacity=slots, chains=slots, steps=STEPS, timeline=1e9)
    simulated = {(one.start, names.index(one.stage)): (one.slot, one.step) for one in run.timeline}
    scheduled = {
        (float(tick), stage): tuple(state)
        for tick, contents in enumerate(ticks([STEPS] * slots, len(STAGES)))
        for stage, state in enumerate(contents)
        if state is not None
    }
    assert simulated == scheduled
    assert run.cycles == len(list(ticks([STEPS] * slots, len(STAGES))))
    assert fill([STEPS] * slots, len(STAGES)) == pytest.approx(slots * STEPS / run.cycles)
    assert run.utilisation == pytest.approx(min(1.0, slots / len(STAGES)), rel=0.02)
