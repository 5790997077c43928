"""The chain is the oracle's, step by step, and on every backend however it is run."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.runs.pipeline import run_chains
from syclade.host.chains.state import ChainInfo, no_tallies
from syclade.quality.oracle import chain as oracle
from tests.suites.rows.maximum import EXTREMES, FAR, SMALL, extreme, far, small
from tests.support.backends import (
    NUMPY,
    WITH_GENERAL,
    Backend,
    Case,
    Seen,
    assert_equal_chains,
    assert_equal_states,
    assert_scores_are_right,
    run_alone,
    runs_here,
    seen,
    tallies_of,
    with_general,
)
from tests.support.own_sizes import OWN_SIZES


def assert_is_trace(chain: Seen, traces: tuple[oracle.Trace, ...], done: int) -> None:
    """Check that the state is the oracle's after `done` steps."""
    state, last = chain.state, traces[done - 1]
    assert state.score == last.steps[-1].score
    assert state.best_score == last.best_score
    assert chain.tallies.tolist() == tallies_of(traces[:done])
    assert state.parents.tolist() == list(last.final)
    assert state.best_parents.tolist() == list(last.best)


# All backends have the bits of these rows in numpy (`test_same_bits.py`).


@pytest.mark.parametrize("name", SMALL)
def test_every_step_is_the_oracles(name: str) -> None:
    case, run = SMALL[name], small(name).expected
    traces = [case.trace(chain, 150) for chain in range(3)]
    assert list(run.at) == list(range(1, 151))
    for done, all_seen in run.at.items():
        for chain, found in enumerate(all_seen):
            assert (found.state.chain, found.state.step) == (chain, done)
            assert_is_trace(found, traces[chain], done)


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name: str) -> None:
    traces = EXTREMES[name].trace(0, 200)
    for done, (found,) in extreme(name).expected.at.items():
        assert found.state.step == done
        assert_is_trace(found, traces, done)


def test_the_extremes_see_every_kind_of_move() -> None:
    for name, kinds in {"prune only": {0}, "labels only": {1}, "subtrees only": {2, 3}}.items():
        proposed = tallies_of(EXTREMES[name].trace(0, 200))[:5]
        assert {kind for kind, count in enumerate(proposed) if count} == kinds
    assert tallies_of(EXTREMES["subtrees of one"].trace(0, 200)) == [0] * 4 + [200] + [0] * 4 + [200]
    flat, greedy = (sum(tallies_of(EXTREMES[name].trace(0, 200))[5:]) for name in ("nearly flat", "greedy"))
    assert flat > 150 > 100 > greedy


@pytest.mark.parametrize("name", FAR)
def test_large_numbers_of_steps_and_chains(name: str) -> None:
    chain, first = FAR[name]
    traces = SMALL["8x13"].trace(chain, 40, first)
    for stop, (found,) in far(name).expected.at.items():
        assert (found.state.chain, found.state.step) == (chain, stop)
        assert_is_trace(found, traces, stop - first)


def test_large_trees_are_the_oracles() -> None:
    case = Case(65, 4)
    assert_is_trace(run_alone(NUMPY, case, 1, 60), case.trace(1, 60), 60)


# ---- ways to run


@with_general
@pytest.mark.parametrize("slots", [1, 2, 3, 5, 16])
def test_slots_do_not_matter(backend: Backend, slots: int) -> None:
    """More slots than chains, as many, or fewer give the same chains."""
    case, chains, steps = Case(8, 13), 5, 60
    plan = case.plan()
    with backend.runner(plan, slots, case.seed) as runner:
        outcome = run_chains(runner, chains=chains, steps=steps)
    traces = [case.trace(chain, steps) for chain in range(chains)]
    assert outcome.best_scores.tolist() == [trace[-1].best_score for trace in traces]
    assert outcome.tallies.tolist() == np.sum([tallies_of(trace) for trace in traces], axis=0).tolist()
    winner = int(np.argmax(outcome.best_scores))
    assert outcome.best.chain == winner
    assert outcome.best.best_parents.tolist() == list(traces[winner][-1].best)
    assert outcome.steps == chains * steps


@with_general
def test_launches_do_not_matter(backend: Backend) -> None:
    case = Case(8, 13)
    with backend.runner(case.plan(), 3, case.seed) as runner:
        for chain in range(3):
            runner.put(chain, case.start(chain))
        for targets in ([1, 50, 0], [8, 50, 99], [30, 51, 100], [100, 100, 100]):
            runner.advance(np.array(targets))
            assert [runner.get(slot).step for slot in range(3)] == targets
        for chain in range(3):
            assert_is_trace(seen(runner, chain), case.trace(chain, 100), 100)


@with_general
def test_a_target_that_is_reached_changes_nothing(backend: Backend) -> None:
    case = Case(8, 13)
    with backend.runner(case.plan(), 2, case.seed) as runner:
        for chain in range(2):
            runner.put(chain, case.start(chain))
        runner.advance(np.array([30, 30]))
        before = [seen(runner, slot) for slot in range(2)]
        runner.advance(np.array([30, 0]))
        for slot in range(2):
            assert_equal_chains(seen(runner, slot), before[slot])


@with_general
def test_slots_without_a_chain_stay_empty(backend: Backend) -> None:
    """Empty slots stay empty even if their memory was used before."""
    case, slots = Case(8, 13), 6
    for occupied in (slots, 1):
        with backend.runner(case.plan(), slots, case.seed) as runner:
            for chain in range(occupied):
                runner.put(chain, case.start(chain))
            runner.advance(np.array([40] * occupied + [0] * (slots - occupied)))
            best = runner.best_scores()
            assert_is_trace(seen(runner, 0), case.trace(0, 40), 40)
    assert best.tolist() == [case.trace(0, 40)[-1].best_score] + [0] * (slots - 1)


@with_general
def test_what_was_read_stays_as_it_was(backend: Backend) -> None:
    case = Case(8, 13)
    with backend.runner(case.plan(), 1, case.seed) as runner:
        runner.put(0, case.start(0))
        state, best = runner.get(0), runner.best_scores()
        runner.advance(np.array([150]))
        assert_equal_states(state, case.start(0))
        assert best.tolist() == [case.start(0).best_score]
        assert runner.best_scores()[0] > best[0]


@with_general
def test_states_go_in_as_they_come_out(backend: Backend) -> None:
    """States move in the middle of a chain, from one slot to another, between the steps of other chains."""
    case = Case(14, 16, seed=4)
    plan = case.plan()
    with backend.runner(plan, 2, case.seed) as first, backend.runner(plan, 3, case.seed) as second:
        first.put(1, case.start(7))
        first.advance(np.array([0, 33]))
        found = seen(first, 1)
        second.put(0, case.start(1))
        second.put(2, found.state, found.info)
        assert_equal_chains(seen(second, 2), found)
        second.advance(np.array([11, 0, 90]))
        assert_is_trace(seen(second, 2), case.trace(7, 90), 90)
        assert_is_trace(seen(second, 0), case.trace(1, 11), 11)


@with_general
def test_a_slot_is_taken_by_another_chain(backend: Backend) -> None:
    """Data that a kernel keeps between launches must not pass from the old chain to the new one."""
    case = Case(14, 16, seed=4)
    with backend.runner(case.plan(), 2, case.seed) as runner:
        for slot, chain in ((0, 1), (1, 2)):
            runner.put(slot, case.start(chain))
        runner.advance(np.array([25, 31]))
        runner.put(0, case.start(3))
        runner.advance(np.array([60, 70]))
        assert_is_trace(seen(runner, 0), case.trace(3, 60), 60)
        assert_is_trace(seen(runner, 1), case.trace(2, 70), 70)
        runner.put_all([case.start(4), case.start(5)])
        runner.advance(np.array([40, 40]))
        assert_is_trace(seen(runner, 0), case.trace(4, 40), 40)
        assert_is_trace(seen(runner, 1), case.trace(5, 40), 40)


@with_general
def test_states_go_in_all_at_once(backend: Backend) -> None:
    case = Case(8, 13)
    states = [run_alone(NUMPY, case, chain, 20 + chain).state for chain in range(3)]
    with backend.runner(case.plan(), 3, case.seed) as runner:
        runner.put_all(states)
        for slot, state in enumerate(states):
            assert_equal_states(runner.get(slot), state)
        assert runner.read_all("step").tolist() == [20, 21, 22]
        runner.advance(np.array([50, 0, 60]))
        for slot, steps in ((0, 50), (2, 60)):
            expected = run_alone(NUMPY, case, slot, steps)
            assert_equal_states(runner.get(slot), expected.state)
        assert_equal_states(runner.get(1), states[1])
        one_by_one = [(runner.get(slot), runner.info(slot)) for slot in range(3)]
        for (state, info), (expected_state, expected_info) in zip(runner.get_all(3), one_by_one, strict=True):
            assert_equal_states(state, expected_state)
            np.testing.assert_array_equal(info.tallies, expected_info.tallies)
        with pytest.raises(ValueError, match="2 states for 3 slots"):
            runner.put_all(states[:2])
        before = sum(one.count for one in runner.work)
        runner.put_first(*zip(*one_by_one[:2], strict=True))
        runner.advance(np.array([70, 70, 0]))
        assert sum(one.count for one in runner.work) - before == 70 - 50 + 70 - 21
        for slot, (state, info) in enumerate(runner.get_all(2)):
            expected = run_alone(NUMPY, case, slot, 70)
            assert_equal_states(state, expected.state)
            assert info.tallies.sum() > one_by_one[slot][1].tallies.sum()


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("case", "own"),
    [
        pytest.param(Case(8, 13), False, id="8x13"),
        pytest.param(Case(8, 13), True, id="8x13, own", marks=pytest.mark.verification),
        pytest.param(Case(64, 64), False, id="64x64"),
    ],
)
def test_a_chain_moves_between_devices(case: Case, own: bool) -> None:
    """Every backend available here continues the chain in turn, all of them in one process.

    Where `own`, this processor's kernel for the size is among them.
    """
    plan, steps = case.plan(), 30
    here = [backend for backend in WITH_GENERAL if runs_here(backend)]
    backends = [backend for backend in here if own or backend != OWN_SIZES]
    chain = Seen(case.start(2), ChainInfo(no_tallies(len(plan.kinds))))
    for turn, backend in enumerate(backends, 1):
        with backend.runner(plan, 1, case.seed) as runner:
            runner.put(0, chain.state, chain.info)
            runner.advance(np.array([turn * steps]))
            chain = seen(runner, 0)
    assert_equal_chains(chain, run_alone(NUMPY, case, 2, len(backends) * steps))
    assert_scores_are_right(plan, chain.state)
