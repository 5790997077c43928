"""Searches on every device, and the helpers that their tests share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.answer import stages
from syclade.host.chains.search.kernel import SearchState, Work, fresh_state
from syclade.host.chains.search.problem import SearchProblem, make_search_problem
from syclade.host.chains.search.runner import SearchRunner, make_search_runner
from syclade.host.device.choice import choose_device
from syclade.host.findings.consensus import prevalence
from syclade.host.findings.specimen_shares import draw_shares_of_specimens
from syclade.host.findings.support.budget import Budget, budget_for
from tests.support.backends import Case
from tests.support.did_all import assert_did_all

COMPILED = ("native", "cpu", "fpga-emu")

on_every_compiled = pytest.mark.parametrize(
    "device",
    [pytest.param(name, marks=[] if name == "native" else [pytest.mark.sycl]) for name in COMPILED],
)

CLIMB = (Work("estimated", 20), Work("subtrees", 20), Work("regraft", 20), Work("exact", 5))


def shorten_chains(monkeypatch: pytest.MonkeyPatch, steps: int = 10_000) -> None:
    """Let searches begin with chains of two launches; numpy takes ten seconds for those of ten."""
    monkeypatch.setattr("syclade.host.chains.search.policy.CHAIN_STEPS", steps)


@cache
def problem_of(case: Case) -> SearchProblem:
    """Return the search problem; in kind `coarse` all weights are 0 or ±1, so that most positions tie."""
    made = make_search_problem(case.problem())
    return replace(made, weights=np.sign(made.weights), unit=1.0) if case.kind == "coarse" else made


@contextmanager
def searches_on(
    device: str, case: Case, searches: Sequence[int], sparse: Collection[str] | None = None
) -> Iterator[SearchRunner]:
    """Return a runner with these searches in its slots, all in their initial state."""
    problem = problem_of(case)
    runner = make_search_runner(
        choose_device(device), problem, len(searches), case.seed, by_columns=True, sparse=sparse
    )
    assert_did_all(runner, device)
    try:
        for slot, search in enumerate(searches):
            runner.put(slot, fresh_state(search, problem.mutations))
        yield runner
    finally:
        runner.close()


def states_of(
    device: str, case: Case, search: int, works: Sequence[Work], sparse: Collection[str] | None = None
) -> list[SearchState]:
    """Return the states of a search after each piece of work."""
    states = []
    with searches_on(device, case, [search], sparse) as runner:
        for work in works:
            (score,) = runner.run([work])
            states.append(runner.get(0))
            assert score == states[-1].score
    return states


@cache
def numpy_states(case: Case, search: int, works: tuple[Work, ...]) -> list[SearchState]:
    return states_of("numpy", case, search, works)


def fields_of(state: SearchState) -> dict[str, Any]:
    """Return every field, in a comparable form."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(state).items()
    }


def assert_equal_searches(one: SearchState, other: SearchState, note: object = "") -> None:
    assert fields_of(one) == fields_of(other), note


def slow_score(problem: SearchProblem, parents: NDArray[np.int32]) -> int:
    """Return the sum over columns of the greatest sum of weights on a path from the root."""
    return _slow_score(problem, tuple(parents.tolist()))


@lru_cache(maxsize=256)  # the best tree is mostly that of another state
def _slow_score(problem: SearchProblem, tree: tuple[int, ...]) -> int:
    total = 0
    for column in problem.weights.T.tolist():
        best = 0
        for node in range(problem.mutations):
            here, way = 0, node
            while way != problem.mutations:
                here, way = here + column[way], tree[way]
            best = max(best, here)
        total += best
    return total


LEAST_BUDGET = Budget(128, 256, 1)
DRAWS, PAIR_DRAWS = prevalence.DRAWS, prevalence._PAIR_DRAWS
"""Those of the program."""


def shorten_support(monkeypatch: pytest.MonkeyPatch, budget: Budget = LEAST_BUDGET) -> None:
    """Let support be of few samples: enough for tests of outputs, which need some, but not good ones.

    Shares of clones are of few draws, too.
    """
    monkeypatch.setattr("syclade.host.findings.support.plan.budget_for", lambda *_, **__: budget)
    monkeypatch.setattr(prevalence, "DRAWS", 200)
    monkeypatch.setattr(prevalence, "_PAIR_DRAWS", 100)
    monkeypatch.setattr(stages, "draw_shares_of_specimens", partial(draw_shares_of_specimens, most_draws=400))


def whole_support(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo `shorten_support` for a test that needs good support."""
    monkeypatch.setattr("syclade.host.findings.support.plan.budget_for", budget_for)
    monkeypatch.setattr(prevalence, "DRAWS", DRAWS)
    monkeypatch.setattr(prevalence, "_PAIR_DRAWS", PAIR_DRAWS)
    monkeypatch.setattr(stages, "draw_shares_of_specimens", draw_shares_of_specimens)
