"""Annealing: rounds of rising gamma, islands that agree, and the same bits after a stop."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import syclade
from syclade.host.chains.convergence import GAMMAS, Annealing, annealing_for
from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import SlotRates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError
from syclade.host.ground.signals import Stop

RULE = Annealing()
CYCLES = list(itertools.accumulate(len(GAMMAS) * int(500 * 1.5**cycle) for cycle in range(20)))


def state(chain: int, score: int, best_score: int) -> ChainState:
    tree, best = np.full(3, score, dtype=np.int32), np.full(3, best_score, dtype=np.int32)
    return ChainState(chain, 0, tree, score, best, best_score, SlotRates((0,), 0))


def rounds() -> list[tuple[int, float]]:
    """Return the end and gamma of each round of the longest run, by the rule itself."""
    found, steps = list[tuple[int, float]](), 0
    while steps < RULE.most_steps:
        (begun,) = RULE.change_at(steps)([state(0, 1, 1)])
        steps += RULE.length_at(steps)
        found.append((steps, begun.gamma))
    return found


def test_each_cycle_goes_through_all_gammas() -> None:
    ends = rounds()
    assert [gamma for _, gamma in ends] == list(GAMMAS) * (len(ends) // len(GAMMAS))
    assert [end for end, _ in ends][len(GAMMAS) - 1 :: len(GAMMAS)] == [
        end for end in CYCLES if end <= RULE.most_steps
    ]
    assert CYCLES[len(ends) // len(GAMMAS) - 2] < RULE.budget <= RULE.most_steps
    for end, gamma in ends:  # so a checkpoint is checked against the round before it
        assert RULE.gamma_of(end) == gamma
        assert RULE.is_between_rounds(end)
        assert not RULE.is_between_rounds(end - 1)
    assert RULE.gamma_of(0) is None


def test_the_worse_half_of_an_island_takes_its_best_tree() -> None:
    scores = [10, 50, 30, 20, 40, 51, 31, 21]  # chains 0, 4 are on one island, 1, 5 on the next, …
    states = [state(chain, best - 5, best) for chain, best in enumerate(scores)]
    begun = RULE.change_at(CYCLES[0])(states)
    assert [one.best_score for one in begun] == [40, 51, 31, 21] * 2
    assert [one.score for one in begun] == [one.best_score for one in begun]
    assert all((one.parents == one.best_score).all() for one in begun)
    assert [one.chain for one in begun] == list(range(8))
    within = RULE.change_at(500)(states)
    assert [(one.score, one.best_score) for one in within] == [(one.score, one.best_score) for one in states]


@pytest.mark.parametrize(
    ("finders", "agree"), [((0, 1), True), ((0, 4, 8, 12), False), ((3,), False), ((2, 5, 7), True)]
)
def test_chains_of_one_island_do_not_agree(finders: tuple[int, ...], agree: bool) -> None:
    scores = np.zeros(16, dtype=np.int64)
    scores[list(finders)] = 1
    assert RULE.agree(scores) is agree
    assert RULE.satisfied(CYCLES[3], scores, 1) is agree


@given(st.integers(0, 10**5), st.integers(0, 10**5))
def test_a_run_ends_no_earlier_than_told(steps: int, since: int) -> None:
    report, agreeing = RULE.earliest_end(steps, min(since, steps)), np.ones(16, dtype=np.int64)
    assert report > steps
    ends = [end for end in CYCLES if end > steps and RULE.satisfied(end, agreeing, min(since, steps))]
    assert report == ends[0]


@given(st.integers(1, 64), st.integers(1, 10**6), st.integers(1, 10**4))
def test_budgets(chains: int, cells: int, mutations: int) -> None:
    budget = annealing_for(chains, cells, mutations).budget
    assert 2000 <= budget <= 2_000_000
    assert budget * chains * cells * mutations <= 5 * 10**11 or budget == 2000


MADE = simulate(30, 8, 0.01, 0.2, 0.1, seed=3, doublets=0.2)
OPTIONS: dict[str, Any] = {
    "fp_rate": 0.01,
    "fn_rate": 0.2,
    "doublets": 0.2,
    "device": "native",
    "support": "none",
}


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    whole = syclade.infer(MADE.matrix, **OPTIONS)
    assert whole.options["method"] == "anneal"
    assert "annealed chains" in whole.runs
    place, seen = tmp_path / "kept", 0
    for launches in (1, 3, 8):
        stop, seen = Stop(), 0

        def progress(_: object, stop: Stop = stop, launches: int = launches) -> None:
            nonlocal seen
            seen += place.exists()  # chains have begun
            stop.wanted = seen >= launches

        kept: dict[str, Any] = {"checkpoint": place, "checkpoint_every": 0}
        first = syclade.infer(MADE.matrix, **OPTIONS, **kept, stop=stop, progress=progress)
        assert first.interrupted
        again = syclade.infer(MADE.matrix, **OPTIONS, resume=place)
        assert again.summary() == whole.summary()
        place.unlink()


def test_annealing_finds_what_long_chains_find() -> None:
    found = syclade.infer(MADE.matrix, **OPTIONS)
    chains = syclade.infer(MADE.matrix, **OPTIONS, chains=16, steps=100_000, gamma=3.0)
    assert found.converged
    assert found.log_likelihood >= chains.log_likelihood - 1e-6


@pytest.mark.parametrize(
    "options", [{"steps": 10}, {"samples": 5, "steps": 10}, {"learn_fn": 0.1, "steps": 10}]
)
def test_refusals(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="does not go with --method anneal"):
        syclade.infer(MADE.matrix, **OPTIONS, method="anneal", **options)
