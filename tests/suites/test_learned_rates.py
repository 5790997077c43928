"""Learned error rates: the chain is the oracle's, step by step, with the bits that all backends have."""

from __future__ import annotations

import pytest

from syclade.host.chains.encodings import choose_encoding
from syclade.host.device.choice import choose_device
from tests.suites.rows.learned import BY_STEP, CASES, EVENTS, FN_ALONE, FP_ALONE, STEPS, by_name
from tests.support.backends import Seen
from tests.support.learned import Learning, learned_plan, oracle_chain
from tests.support.same_bits import Chains

CHAINS = 3


def traces(row: Chains, name: str) -> list[list[Learning]]:
    return [oracle_chain(row.plan, CASES[name], chain, STEPS) for chain in range(CHAINS)]


def assert_is(found: Seen, expected: Learning, rates: list[int]) -> None:
    state = found.state
    assert state.score == expected.score
    assert state.rate_at == expected.places
    assert tuple(state.parents.tolist()) == expected.tree
    assert (state.best_score, state.best_rate_at) == (expected.best_score, expected.best_places)
    assert tuple(state.best_parents.tolist()) == expected.best
    kinds = len(found.tallies) // 2
    for half in range(2):
        jumps = found.tallies[half * kinds + 4 : half * kinds + 4 + len(rates)].tolist()
        assert jumps == [expected.jumps[half * 2 + rate] for rate in rates]


@pytest.mark.parametrize(
    ("row", "name", "rates"),
    [
        *(pytest.param(by_name(name), name, [0, 1], id=name) for name in (*BY_STEP, "duplicates")),
        pytest.param(FN_ALONE, "small", [0], id="FN alone"),
        pytest.param(FP_ALONE, "small", [1], id="FP alone"),
    ],
)
def test_every_step_is_the_oracles(row: Chains, name: str, rates: list[int]) -> None:
    """With one rate alone, the other one stays where it is."""
    expected = traces(row, name)
    for done, all_seen in row.expected.at.items():
        for found, trace in zip(all_seen, expected, strict=True):
            assert_is(found, trace[done - 1], rates)
            assert len(rates) == 2 or found.state.rate_at[1 - rates[0]] == 0
    assert list(row.expected.at) == (
        list(range(1, STEPS + 1)) if name != "duplicates" else [1, 2, 17, 90, STEPS]
    )


def test_events_have_the_rates() -> None:
    events = {(event.chain, event.step): event for event in EVENTS.expected.events}
    assert {step for _, step in events if not step % 9} == set(range(9, STEPS + 1, 9))
    for chain, trace in enumerate(traces(FN_ALONE, "small")):
        for step, state in enumerate(trace, 1):
            event = events.pop((chain, step), None)
            assert (event is not None) >= (step % 9 == 0)
            if event is not None:
                assert (event.score, event.rate_at) == (state.score, state.places)
                assert tuple(event.parents.tolist()) == state.tree
    assert not events


@pytest.mark.sycl
def test_encodings_say_why_they_cannot() -> None:
    problem = learned_plan(CASES["small"]).problem
    assert choose_encoding("auto", choose_device("fpga-emu"), problem).name == "preorder"
