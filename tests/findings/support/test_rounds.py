"""Rounds of sampling chains: what they sample, and when it is enough."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import Event
from syclade.host.data.diagnostics import Kept
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.samples.diagnostics import SPREAD
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees, judge_mutation_trees
from syclade.host.findings.samples.sampled import Sampling
from syclade.host.findings.support import rounds as rounds_module
from syclade.host.findings.support.budget import Budget
from syclade.host.findings.support.plan import make_support_plan
from syclade.host.findings.support.rounds import ERROR, SupportRounds, error_of
from syclade.host.ground.signals import Stop, Stopped, finishing

CHAINS, SAMPLES = 4, 1000
BUDGET = Budget(SAMPLES, 2 * SAMPLES, 3)
MADE = simulate(6, 3, 0.05, 0.3, 0.2, 3).matrix
PLAN = make_support_plan("quick", MADE, Rates(0.05, 0.3), None).plan
CHAIN, STAR, OTHER = ([1, 2, 3, 3], [3, 3, 3, 3], [3, 0, 1, 3])
NONE = np.zeros(CHAINS, dtype=np.int64)


def judge(store: SampleStore, sampling: Sampling) -> SampledMutationTrees:
    return judge_mutation_trees(store, sampling, PLAN.problem, MADE.mutations)


def rounds_with(
    *given: tuple[NDArray[np.int64], NDArray[np.int32]], every_pair: bool = False, budget: Budget = BUDGET
) -> SupportRounds:
    """Return rounds after the first with samples: scores and trees of every chain in each."""
    rounds, steps = SupportRounds(budget, 4, judge, every_pair=every_pair), BUDGET.first
    for scores, trees in given:
        sampling = BUDGET.sampling_after(steps)
        at = steps + sampling.every * np.arange(1, SAMPLES + 1)
        for chain in range(CHAINS):
            rounds.take(
                [
                    Event(chain, int(step), int(score), 1, 0, tree)
                    for step, score, tree in zip(at, scores[chain], trees[chain], strict=True)
                ]
            )
        steps *= 2
        rounds.satisfied(steps, NONE, 0)
        rounds.change_at(steps)
    return rounds


def drawn(seed: int, **changes: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return independent samples: scores, and trees of which a chain has the first with probability 0.97."""
    generator = np.random.default_rng(seed)
    scores = generator.integers(-1000, 1000, (CHAINS, SAMPLES))
    first = generator.random((CHAINS, SAMPLES)) < 0.97
    if "one_chain" in changes:
        scores[0] += changes["one_chain"]
    if "stuck" in changes:
        scores = np.repeat(scores[:, :: changes["stuck"]], changes["stuck"], axis=1)
    if "other_tree" in changes:
        first[0] = generator.random(SAMPLES) < changes["other_tree"]
    trees = np.where(first[..., None], np.array(CHAIN, np.int32), np.array(STAR, np.int32))
    return scores, trees


def test_good_samples_are_enough() -> None:
    rounds = rounds_with(drawn(1))
    assert rounds.satisfied(2 * BUDGET.first, NONE, 0)
    judged = rounds.judged
    assert judged is not None
    assert (judged.enough, judged.steps) == (True, 2 * BUDGET.first)
    assert (judged.sampled.burn_in, judged.sampled.every) == (BUDGET.first, BUDGET.first // SAMPLES)


@pytest.mark.parametrize(
    "changes",
    [{"one_chain": 200}, {"stuck": 50}, {"other_tree": 0.8}],
    ids=["R-hat", "effective sample size", "spread of ancestors"],
)
def test_each_part_of_the_rule_refuses(changes: dict[str, Any]) -> None:
    rounds = rounds_with(drawn(1, **changes))
    assert not rounds.satisfied(2 * BUDGET.first, NONE, 0)
    assert rounds.judged is not None
    assert not rounds.judged.enough


def test_chains_go_on_while_each_of_them_is_rough() -> None:
    """One chain has a tree in 95 % of its samples: together they are good, so a last round is enough."""
    rounds = rounds_with(drawn(1, other_tree=0.95))
    assert not rounds.satisfied(2 * BUDGET.first, NONE, 0)
    assert rounds.judged is not None
    assert SPREAD < rounds.judged.sampled.spread < 2 * ERROR
    assert error_of(rounds.judged.sampled) == rounds.judged.sampled.spread / math.sqrt(CHAINS)
    assert rounds.judged.enough


def test_equal_scores_are_judged_by_the_trees() -> None:
    """A posterior may be flat, and one tree may have nearly all of it."""
    scores, trees = drawn(1)
    assert rounds_with((scores * 0, trees)).satisfied(2 * BUDGET.first, NONE, 0)
    _, other = drawn(1, other_tree=0.5)
    assert not rounds_with((scores * 0, other)).satisfied(2 * BUDGET.first, NONE, 0)


def test_only_the_last_round_counts() -> None:
    bad, good = drawn(1, one_chain=500), drawn(2)
    assert rounds_with(bad, good).satisfied(4 * BUDGET.first, NONE, 0)
    assert not rounds_with(good, bad).satisfied(4 * BUDGET.first, NONE, 0)


def test_two_rounds_are_judged_together() -> None:
    """Samples of the round before are half as far apart, so every other one counts; the first never does."""
    budget, given = BUDGET._replace(rounds=2), [drawn(seed) for seed in (1, 2, 3)]
    for count, burn_in in ((1, BUDGET.first), (2, BUDGET.first), (3, 2 * BUDGET.first)):
        rounds, steps = rounds_with(*given[:count], budget=budget), BUDGET.first << count
        judged = rounds.judged
        assert judged is not None
        assert (judged.steps, judged.sampled.burn_in) == (steps, burn_in)
        assert judged.sampled.every == steps // 2 // SAMPLES
        for chain in range(CHAINS):
            records = np.concatenate(list(judged.sampled.store.of_chain(chain)))
            assert (np.diff(records["step"], prepend=burn_in) == judged.sampled.every).all()
            earlier = [scores[chain, 1::2] for scores, _ in given[: count - 1][-1:]]
            assert (
                records["score"].tolist() == np.concatenate([*earlier, given[count - 1][0][chain]]).tolist()
            )
    bad, good = drawn(1, one_chain=500), drawn(2)
    assert not rounds_with(bad, good, budget=budget).satisfied(4 * BUDGET.first, NONE, 0)
    assert rounds_with(bad, good, drawn(3), budget=budget).satisfied(8 * BUDGET.first, NONE, 0)


def test_rounds_for_every_pair_go_on_while_one_is_slow() -> None:
    """Each chain is in one tree for 250 samples, then in the other, so all have the same shares."""
    scores, _ = drawn(1)
    other = (np.arange(SAMPLES) // 250 + np.arange(CHAINS)[:, None]) % 2 == 1
    slow = scores, np.where(other[:, :, None], np.array(CHAIN, np.int32), np.array(STAR, np.int32))
    for every_pair in (False, True):
        rounds = rounds_with(slow, every_pair=every_pair)
        assert rounds.judged is not None
        assert rounds.judged.pairs.rough
        assert rounds.judged.enough != every_pair
        assert rounds_with(drawn(1), every_pair=every_pair).satisfied(2 * BUDGET.first, NONE, 0)


def test_a_round_that_has_not_ended_does_not_count() -> None:
    rounds = rounds_with(drawn(1))
    rounds.take([Event(0, 1, 10**9, 1, 0, np.array(OTHER, np.int32))])
    assert rounds.judged is not None
    assert rounds.judged.sampled.log_likelihoods.size == CHAINS * SAMPLES
    assert SupportRounds(BUDGET, 4, judge).judged is None


def test_after_a_stop_few_samples_are_judged_where_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, (scores, trees) = Stop(), drawn(1)
    stop.wanted = True
    with stop.heeded(), pytest.raises(Stopped):
        rounds_with((scores, trees))
    with stop.heeded(), finishing():
        assert rounds_with((scores, trees)).judged is not None
    whole = rounds_with((scores, trees)).judged
    monkeypatch.setattr(rounds_module, "_BRIEF_ENTRIES", 16 * 100)
    rounds = rounds_with((scores, trees))
    rounds.thin()
    judged = rounds.judged
    assert whole is not None
    assert judged is not None
    assert (judged.steps, whole.steps) == (2 * BUDGET.first, 2 * BUDGET.first)
    assert judged.sampled.every == 40 * whole.sampled.every
    np.testing.assert_array_equal(judged.sampled.log_likelihoods, whole.sampled.log_likelihoods[:, 39::40])


def test_rounds_double_the_steps() -> None:
    rounds, steps = SupportRounds(BUDGET, 4, judge), 0
    seen = []
    while steps < rounds.most_steps:
        steps += rounds.length_at(steps)
        seen.append(steps)
        assert rounds.is_between_rounds(steps)
        assert not rounds.is_between_rounds(steps + 1)
    assert seen == [BUDGET.first << k for k in range(BUDGET.doublings + 1)]
    assert rounds.change_at(0) is None, "the plan has the sampling of the first round"
    change = rounds.change_at(4 * BUDGET.first)
    assert change is not None
    state = replace(initial_state(PLAN, 1, 0), settings={"sum_spare": 7})
    every = 4 * BUDGET.first // SAMPLES
    (changed,) = change([state])
    assert changed.settings == {"sum_spare": 7, "every": every, "first_sample": 4 * BUDGET.first + every}
    assert not changed.tables


def test_each_round_has_the_guide_of_the_samples_of_the_last_one() -> None:
    seen: list[set[int]] = []

    def guide(store: SampleStore) -> dict[str, NDArray[np.int32]]:
        seen.append(
            {int(step) for chain in store.chains for one in store.of_chain(chain) for step in one["step"]}
        )
        return {"guide_edges": np.full(1, len(seen), np.int32)}

    rounds, tree = SupportRounds(BUDGET, 4, judge, guide), np.array(CHAIN, np.int32)
    state = replace(initial_state(PLAN, 1, 0), tables={"guide_edges": np.zeros(1, np.int32)})
    for steps in (BUDGET.first, 2 * BUDGET.first, 4 * BUDGET.first):
        rounds.take([Event(chain, steps - 1, 5, 1, 0, tree) for chain in range(CHAINS)])
        rounds.satisfied(steps, NONE, 0)
        change = rounds.change_at(steps)
        assert change is not None
        (state,) = change([state])
        assert seen[-1] == {steps - 1}, "samples of earlier rounds do not count"
        assert state.tables["guide_edges"] == len(seen)


def test_the_first_round_has_samples_for_the_first_guide() -> None:
    sampling = BUDGET.sampling_of_first
    assert sampling == Sampling(BUDGET.first // SAMPLES, 0)
    assert PLAN.settings["first_sample"] == PLAN.settings["every"]


def far_below(*low: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return samples of which some chains have much lower scores, and another tree."""
    scores, trees = drawn(1)
    scores[list(low)] -= 100_000
    trees[list(low)] = OTHER
    return scores, trees


def test_chains_far_below_the_best_one_are_left_out() -> None:
    rounds = rounds_with(far_below(1, 3))
    assert not rounds.satisfied(2 * BUDGET.first, NONE, 0), "they may still rise"
    judged = rounds.judged
    assert judged is not None
    assert (judged.kept.chains, judged.kept.left_out) == ((0, 2), 2)
    assert judged.kept.below == pytest.approx(100_000, rel=0.01)
    assert judged.enough
    assert judged.sampled.log_likelihoods.shape == (2, SAMPLES)
    assert judged.sampled.rhat < 1.01
    assert not (np.concatenate(list(judged.sampled.store.trees())) == OTHER).all(axis=1).any()
    near = rounds_with(drawn(1, one_chain=200)).judged
    assert near is not None
    assert (near.kept.chains, near.enough) == ((0, 1, 2, 3), False)


def test_samples_of_one_chain_alone_are_not_enough() -> None:
    judged = rounds_with(far_below(0, 1, 3)).judged
    assert judged is not None
    assert judged.kept.chains == (2,)
    assert not judged.enough


def test_support_and_consensus_are_of_the_chains_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"fp_rate": 0.05, "fn_rate": 0.3, "device": "native", "seed": 1}
    monkeypatch.setattr(
        "syclade.host.findings.support.plan.budget_for", lambda *_, **__: Budget(64, 128, 1, 64)
    )
    every = syclade.infer(MADE, **options)
    monkeypatch.setattr(
        "syclade.host.findings.support.rounds.likely_chains", lambda _: Kept((1, 2), 2, 1234.5)
    )
    some = syclade.infer(MADE, **options)
    for result, chains in ((every, 4), (some, 2)):
        assert result.support is not None
        assert result.consensus is not None
        assert result.support.to_dict()["chains"] == chains
        assert len(result.support.trees) == result.consensus.relations.samples == 64 * chains
    assert every.support is not None
    assert some.support is not None
    assert "left_out" not in every.support.to_dict()
    assert some.support.to_dict()["left_out"] == {"chains": 2, "below": 1234.5}
    assert "2 of 4 chains stayed 1234 nats or more below" in " ".join(some.support.warnings)
    assert "nats or more below" not in " ".join(every.support.warnings)
