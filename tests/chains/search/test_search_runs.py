"""Whole searches: phases, the policy, and equal answers for any number of slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.search import policy as policy_module
from syclade.host.chains.search import problem as search_problem_module
from syclade.host.chains.search import runner as search_runner_module
from syclade.host.chains.search.kernel import STAGES, Work, fresh_state
from syclade.host.chains.search.policy import (
    BY_CHAIN,
    CLIMB,
    Phase,
    PhaseStopped,
    SearchPolicy,
    Works,
    expected_gain,
    policy_for,
    sweeps_apart,
    works_of,
)
from syclade.host.chains.search.problem import SearchProblem, make_search_problem, sample_size
from syclade.host.chains.search.runner import SearchRunner, make_search_runner
from syclade.host.chains.search.search import SearchOutcome, run_search
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import validate_parents
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.signals import Stopped
from tests.support.did_all import assert_did_all

RATES = Rates(0.01, 0.2)
POLICY = SearchPolicy(
    ("by-mutations", "by-columns", BY_CHAIN),
    (Phase(sweeps=3, from_best=True), Phase(sweeps=2, from_best=True)),
)


def search_problem(cells: int, mutations: int, seed: int = 1) -> SearchProblem:
    return make_search_problem(make_problem(simulate(cells, mutations, 0.01, 0.2, 0.1, seed).matrix, RATES))


def searched(problem: SearchProblem, device: str, slots: int, seed: int = 3) -> SearchOutcome:
    runner = make_search_runner(choose_device(device), problem, slots, seed, by_columns=True)
    assert_did_all(runner, device)
    chain = np.full(problem.mutations + 1, problem.mutations, dtype=np.int32)
    chain[: problem.mutations - 1] = np.arange(1, problem.mutations)  # a path, as good a start as any other
    try:
        return run_search(runner, POLICY, [chain])
    finally:
        runner.close()


def _next_of(works: Works, score: int) -> Work | None:
    try:
        return works.send(score)
    except StopIteration:
        return None


def test_a_climb_ends_where_nothing_gains() -> None:
    """Scores rise twice: cheap moves until none gains, then the exact move, then all of it once more."""
    scores = iter([5, 7, 7, 9] + [9] * 12)
    works = works_of(CLIMB)
    done = [next(works)]
    while (work := _next_of(works, next(scores))) is not None:
        done.append(work)
    stages = [work.stage for work in done]
    assert stages[:3] == ["estimated", "subtrees", "regraft"]
    assert stages[-1] == "exact"
    assert {work.gamma for work in done} == {None}


def test_work_apart_goes_on_while_a_sweep_gains() -> None:
    """A launch has one sweep; the work after it sees the score at the end of all."""
    works = sweeps_apart(works_of(CLIMB))
    done, scores = [next(works)], iter([3, 5, 5, 8, 8, 8, 8, 8, 8, 8])
    while (work := _next_of(works, next(scores))) is not None:
        done.append(work)
    stages = ["estimated"] * 3 + ["subtrees"] * 2 + ["regraft", "exact"]
    assert done == [Work(stage, 1) for stage in stages]


@pytest.mark.parametrize("device", ["native", "numpy"])
def test_long_sweeps_are_launched_apart(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop then waits for one sweep at most; the answer is the same on every device."""
    asked: list[int] = []
    begin = SearchRunner.begin

    def beginning(runner: SearchRunner, slot: int, work: Work) -> None:
        asked.append(work.sweeps)
        begin(runner, slot, work)

    problem = search_problem(40, 30)
    together = searched(problem, "native", 2)
    monkeypatch.setattr(SearchRunner, "begin", beginning)
    monkeypatch.setattr(policy_module, "_LONG_SWEEP", 0)
    apart = searched(problem, device, 3)
    assert set(asked) == {1}
    assert apart.best.best_score == together.best.best_score


def test_a_round_warms_up_before_it_climbs() -> None:
    works = works_of(Phase(sweeps=3, hottest=1.0, coldest=4.0, from_best=True))
    done = [next(works)] + [works.send(0) for _ in range(9)]
    assert [work.gamma for work in done[:9]] == [1.0] * 3 + [2.0] * 3 + [4.0] * 3
    assert done[9] == Work("estimated", 30, None)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_a_policy_for_every_size(mutations: int, columns: int) -> None:
    policy = policy_for(mutations, columns)
    assert policy.starts[0] == "by-mutations"
    assert set(policy.starts) <= {*STAGES, BY_CHAIN}
    sampled = sample_size(mutations, columns) < columns
    assert policy.by_columns == (sampled or columns < 10 * mutations)
    assert len(policy.rounds) >= 1
    assert all(phase.from_best for phase in policy.rounds)


def test_large_matrices_need_no_short_chains() -> None:
    """Climbs from the best trees of chains end far below the others, and take most of the time."""
    assert BY_CHAIN in policy_for(500, 500).starts
    for mutations, columns, times in [(500, 1000, 1), (300, 5000, 2), (300, 100_000, 1), (1000, 10_000, 1)]:
        assert policy_for(mutations, columns).starts == ("by-mutations", "by-columns") * times


@pytest.mark.parametrize("device", ["native", "numpy"])
def test_starts_of_large_matrices_use_a_sample(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their trees are those of the sample, and the whole matrix scores them."""
    monkeypatch.setattr(search_problem_module, "_LARGE", 0)
    problem = search_problem(60, 8)
    sample = problem.sample()
    assert sample.columns == 16 < problem.columns
    trees = {}
    for one in (problem, sample):
        runner = make_search_runner(choose_device(device), one, 2, 1, by_columns=True)
        for slot in range(2):
            runner.put(slot, fresh_state(slot, 8))
        scores = runner.run([Work("by-mutations"), Work("by-columns")])
        states = [runner.get(slot) for slot in range(2)]
        assert sum(done.count for done in runner.work) == 2
        runner.close()
        for score, state in zip(scores, states, strict=True):
            assert (score, score) == (state.best_score, one.score_of(state.best_parents))
            assert state.sweep == 1
        trees[one.columns] = [state.parents.tolist() for state in states]
    assert trees[problem.columns] == trees[sample.columns]


def test_enough_is_agreement_and_a_round_in_vain() -> None:
    assert POLICY.enough([5, 5, 4], tops=[5, 5])
    assert not POLICY.enough([5, 5, 5], tops=[4, 5]), "the last round found something"
    assert not POLICY.enough([5, 4, 4], tops=[5, 5]), "one search alone has it"
    assert not POLICY.enough([5, 5, 5], tops=[5]), "no round yet"
    assert replace(POLICY, sure=True).enough([5, 5, 5], tops=[5]), "rounds take long, all have climbed to it"


def test_what_no_first_climb_found_has_to_stand_for_a_long_round() -> None:
    """Searches may agree on the second-best tree, as seen at 200 x 200 and 94 x 96."""
    rounds = (
        Phase(sweeps=10, from_best=True),
        Phase(sweeps=20, from_best=True),
        Phase(sweeps=80, from_best=True),
    )
    policy = SearchPolicy(POLICY.starts, rounds, stand=80)
    assert policy.enough([5, 5, 5], tops=[5, 5]), "a climb found it"
    assert not policy.enough([5, 5, 5], tops=[4, 5, 5]), "20 sweeps are few"
    assert policy.enough([5, 5, 5], tops=[4, 5, 5, 5])
    assert policy_for(200, 200).stand == 80
    assert policy_for(500, 500).stand == 0, "there it would take most of the budget"


def test_searches_of_evidence_end_where_more_would_hardly_gain() -> None:
    """After a round in vain, if as many again are not expected to gain a nat; or after a long one."""
    policy = policy_for(100, 200, same=0.05, unit=100.0)
    count = len(policy.starts)
    close, apart = [1000, 990, *[900] * (count - 2)], [1000, *[700] * (count - 1)]
    equal = [1000, 997, 996, 995, *[900] * (count - 4)]
    assert expected_gain(close) < 100.0 < expected_gain(apart)
    assert [phase.sweeps for phase in policy.rounds[:3]] == [10, 20, 80]
    assert policy.agree(equal)
    assert policy.enough(equal, tops=[1000]), "four are the same, but for 0.05 nats"
    assert not policy.enough(close, tops=[1000])
    assert not policy.enough(close, tops=[1000, 1000]), "ten sweeps are few"
    assert policy.enough(close, tops=[900, 960, 1000]), "0.4 nats are not worth a longer round"
    assert not policy.enough(close, tops=[900, 900, 1000]), "the last round found a nat"
    assert not policy.enough(apart, tops=[1000, 1000, 1000]), "one search is far above the others"
    assert policy.enough(apart, tops=[1000] * 4), "nor did a long round help"
    assert not policy_for(100, 200).enough(close, tops=[1000, 1000, 1000]), "searches of calls have to agree"
    assert policy_for(500, 2000, same=0.05, unit=100.0).enough([1000, 810], tops=[1000]), "rounds take long"
    assert len(policy_for(40, 100, same=0.05).starts) == 8 < len(policy_for(40, 100).starts)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=8))
def test_the_expected_gain_is_that_over_half_of_the_searches(scores: list[int]) -> None:
    halves = list(combinations(scores, (len(scores) + 1) // 2))
    expected = max(scores) - sum(map(max, halves)) / len(halves)
    assert expected_gain(scores) == pytest.approx(expected, abs=1e-9)


def test_every_other_search_goes_softer_through_long_rounds() -> None:
    policy = policy_for(100, 100)
    assert [policy.round_of(1, search).hottest for search in range(4)] == [1.0] * 4
    assert [policy.round_of(2, search).hottest for search in range(4)] == [1.0, 0.3, 1.0, 0.3]
    assert policy.round_of(2, 1)._replace(hottest=1.0) == policy.round_of(2, 0) == policy.rounds[1]


def test_agreement_is_half_of_the_searches_from_two_starts() -> None:
    policy = SearchPolicy(("by-mutations", "by-columns", BY_CHAIN, BY_CHAIN), ())
    assert policy.agree([3, 5, 5, 4])
    assert policy.agree([3, 4, 5, 5]), "every chain is a start of its own"
    assert not policy.agree([3, 5, 4, 4]), "one of four"
    assert not SearchPolicy(("by-mutations", "by-mutations"), ()).agree([5, 5]), "the same start twice"
    assert not SearchPolicy(("by-mutations",), ()).agree([5]), "one search agrees with nobody"


@pytest.mark.parametrize("sampled", [False, True])
def test_any_slots_give_the_same_answer(sampled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if stages do not wait for each other, and starts are made of a sample."""
    if sampled:
        monkeypatch.setattr(search_problem_module, "_LARGE", 0)
    problem = search_problem(100, 15)
    assert (problem.sample() is not problem) == sampled
    found = [searched(problem, "native", slots) for slots in (1, 2)]
    monkeypatch.setattr(search_runner_module, "_LONG_STAGES", 0)
    found += [searched(problem, "native", slots) for slots in (1, 3, 5)]
    first, *others = found
    for other in others:
        assert other.scores == first.scores
        assert other.phases == first.phases
        np.testing.assert_array_equal(other.best.best_parents, first.best.best_parents)


@pytest.mark.parametrize("launches", [1, 4, 9])
def test_a_stop_waits_for_stages_that_have_begun(launches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each search keeps a tree with its score, as after any launch."""
    monkeypatch.setattr(search_runner_module, "_LONG_STAGES", 0)
    problem = search_problem(40, 30)
    runner = make_search_runner(choose_device("native"), problem, 3, 1, by_columns=True)
    seen = 0

    def launched(scores: Sequence[int]) -> None:
        nonlocal seen
        seen += len(scores)
        if seen >= launches:
            raise Stopped

    states = [fresh_state(number, 30) for number in range(4)]
    with pytest.raises(PhaseStopped) as stopped:
        runner.run_phase(states, [Phase(start="by-mutations")] * 4, launched)
    runner.close()
    begun = [state for state in stopped.value.states if state.sweep]
    assert len(begun) >= 3
    assert [state.score for state in begun] == [problem.score_of(state.parents) for state in begun]
    assert all(state.best_score == problem.score_of(state.best_parents) for state in begun)


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu", "numpy"])
@pytest.mark.parametrize(("cells", "mutations"), [(13, 8), (47, 40)])
def test_whole_searches_are_the_same_on_every_device(device: str, cells: int, mutations: int) -> None:
    problem = search_problem(cells, mutations)
    expected, found = searched(problem, "native", 3), searched(problem, device, 2)
    assert (found.scores, found.phases, found.agreed) == (expected.scores, expected.phases, expected.agreed)
    np.testing.assert_array_equal(found.best.best_parents, expected.best.best_parents)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_found_is_a_tree_at_least_as_likely_as_the_true_one(seed: int) -> None:
    """Its score is its log-likelihood, up to the rounding of the weights."""
    simulated = simulate(60, 40, 0.01, 0.2, 0.1, seed)
    problem = make_search_problem(make_problem(simulated.matrix, RATES))
    outcome = searched(problem, "native", 3)
    tree = validate_parents(outcome.best.best_parents)
    likelihood = log_likelihood(simulated.matrix, RATES, tree)
    assert likelihood >= log_likelihood(simulated.matrix, RATES, simulated.parents) - 1e-6
    assert problem.to_nats(outcome.best.best_score) == pytest.approx(likelihood, rel=1e-3)


def test_another_seed_takes_another_way() -> None:
    """A search that ignored its random numbers would be the same for all seeds."""
    problem = search_problem(60, 50)
    sweeps = {searched(problem, "native", 3, seed).best.sweep for seed in range(6)}
    assert len(sweeps) > 1


def test_a_start_that_there_is_no_room_for_is_refused() -> None:
    problem = search_problem(60, 4)
    runner = make_search_runner(choose_device("native"), problem, 1, 1, by_columns=False)
    runner.put(0, fresh_state(0, 4))
    with pytest.raises(ValueError, match="by columns"):
        runner.run([Work("by-columns")])
    runner.close()


def test_searches_do_not_run_in_python() -> None:
    with pytest.raises(DeviceError, match="do not run on the device python"):
        make_search_runner(choose_device("python"), search_problem(5, 4), 1, 1, by_columns=True)
