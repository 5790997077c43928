"""Rounds of chains that are stopped: every chain is returned where it stopped."""

from __future__ import annotations

import pytest

from syclade.host.chains.runs.clock import Clock, Progress
from syclade.host.chains.runs.long_run import Rounds
from syclade.host.ground.signals import Stopped
from tests.support.backends import NUMPY, Case, Seen, assert_equal_chains, run_alone

CASE = Case(8, 13)
LENGTH = 150


@pytest.mark.parametrize("slots", [4, 2, 1])
@pytest.mark.parametrize("stop_after", [1, 300, 450])
def test_a_stop_keeps_what_was_done(slots: int, stop_after: int) -> None:
    """Also in the last launch of a round, whether chains stay in their slots or not."""
    chains = 3

    def stop(progress: Progress) -> None:
        if progress.steps_done >= stop_after:
            raise Stopped

    with NUMPY.runner(CASE.plan(), slots, CASE.seed) as runner:
        rounds = Rounds(runner, chains, Clock(None, stop))
        with pytest.raises(Stopped):
            rounds.advance(LENGTH)
        current = rounds.current()
        assert sum(state.step for state, _ in current) >= stop_after
        for chain, (state, info) in enumerate(current):
            if state.step:
                assert_equal_chains(Seen(state, info), run_alone(NUMPY, CASE, chain, state.step))
        assert rounds.outcome().best_scores.max() == max(state.best_score for state, _ in current)
