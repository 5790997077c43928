"""Stopping rule: when chains stop by themselves, and when they are reported to agree (one chain never is)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.convergence import StoppingRule
from syclade.host.chains.runs.long_run import run_long
from tests.support.backends import NUMPY, Case

CASE = Case(2, 5)
RULE = StoppingRule()


@pytest.mark.parametrize(
    ("scores", "agree"),
    [
        ([5], False),
        ([5, 5], True),
        ([5, 4], False),
        ([5, 5, 4], True),
        ([5, 4, 4], False),
        ([5, 5, 4, 4], True),
        ([5, 5, 4, 4, 4], False),
        ([5] * 8 + [4] * 8, True),
        ([5] * 7 + [4] * 9, False),
    ],
)
def test_half_of_the_chains_and_at_least_two(scores: list[int], agree: bool) -> None:
    assert RULE.agree(np.array(scores, dtype=np.int64)) is agree


@given(st.integers(-(2**40), 2**40), st.integers(1, 10**7), st.integers(0, 10**7))
def test_a_chain_alone_stops_but_never_agrees(score: int, steps: int, since: int) -> None:
    alone = np.array([score])
    assert RULE.satisfied(steps, alone, since) == (steps >= RULE.least_steps and 2 * since <= steps)
    assert not RULE.agree(alone)


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize(("chains", "agree"), [(1, False), (2, True)])
def test_runs_that_stop_early_say_whether_they_agree(slots: int, chains: int, agree: bool) -> None:
    """Two mutations have three trees; 20 steps are enough to visit all of them."""
    rule = replace(RULE, round_steps=20, least_steps=40, most_steps=2000)
    with NUMPY.runner(CASE.plan(), slots, 1) as runner:
        outcome, steps, _, stopped = run_long(runner, chains=chains, until=rule)
    assert 40 <= steps < 2000
    assert (outcome.converged, stopped) == (agree, False)
