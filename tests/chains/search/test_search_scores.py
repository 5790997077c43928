"""Climbs of searches reach as high as they should.

All tests use numpy. `tests/suites/rows/searches.py` compares the devices, and checks the scores of stages.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.fallback.search.conversions import to_cell_tree, to_mutation_tree
from syclade.fallback.search.draws import Draws
from syclade.fallback.search.mutation_tree import MutationTree
from syclade.host.chains.search.kernel import SearchState, Work, search_log_table, state_from
from syclade.host.chains.search.problem import SearchProblem
from syclade.quality.oracle.trees import all_trees
from tests.suites.rows.searches import CASES
from tests.support import tree_strategies
from tests.support.backends import Case
from tests.support.searches import CLIMB, numpy_states, problem_of, searches_on, slow_score

on_every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@on_every_case
def test_what_climbs_never_loses(case: Case) -> None:
    works = (Work("by-mutations"), *CLIMB, Work("subtrees", 2, 0.3), *CLIMB, Work("by-columns"), *CLIMB)
    states = numpy_states(case, 0, works)
    for before, after, work in zip(states, states[1:], works[1:], strict=False):
        if work in CLIMB:
            assert after.score >= before.score, work
        assert after.best_score >= max(before.best_score, after.score), work


@given(tree_strategies.trees(), st.data(), st.integers(0, 2**64 - 1))
@settings(deadline=None)
def test_conversions_never_lose(parents: NDArray[np.int32], data: st.DataObject, seed: int) -> None:
    n, m = len(parents) - 1, data.draw(st.integers(1, 9))
    entries = data.draw(st.lists(st.integers(-9, 9), min_size=n * m, max_size=n * m))
    weights = np.array(entries, dtype=np.int32).reshape(n, m)
    tree = MutationTree(parents, weights)
    cells = to_cell_tree(tree, Draws(seed, 0, search_log_table()), sweep=0)
    back = MutationTree(to_mutation_tree(cells), weights)
    assert tree.score() <= cells.score() <= back.score()


def climb(case: Case, search: int = 0, most: int = 8) -> SearchState:
    """Start by mutations, then climb until a climb gains nothing."""
    with searches_on("numpy", case, [search]) as runner:
        (score,) = runner.run([Work("by-mutations")])
        for _ in range(most):
            before = score
            for work in CLIMB:
                (score,) = runner.run([work])
            if score == before:
                break
        return runner.get(0)


@pytest.mark.parametrize(("n", "share"), [(2, 0.95), (3, 0.9), (4, 0.8)])
def test_climbs_reach_the_best_of_all_trees(n: int, share: float) -> None:
    """Climbs find the optimum on a share of small random inputs, and never more than the optimum."""
    reached = []
    for m in range(3, 43):
        case = Case(n, m)
        best = max(slow_score(problem_of(case), np.array(tree)) for tree in all_trees(n))
        found = climb(case).best_score
        assert found <= best
        reached.append(found == best)
    assert np.mean(reached) >= share


def reinsertions(parents: NDArray[np.int32], v: int) -> Iterator[NDArray[np.int32]]:
    """Yield all trees with v removed and reinserted as a leaf or on an edge."""
    out = np.where(parents == v, parents[v], parents)
    others = [node for node in range(len(parents)) if node != v]
    for node in others:
        out[v] = node
        yield out.copy()
    for child in others[:-1]:
        on_edge = out.copy()
        on_edge[v], on_edge[child] = out[child], v
        yield on_edge


def settled(case: Case, parents: NDArray[np.int32]) -> tuple[SearchState, bool]:
    """Run exact sweeps until one changes nothing; return the state, and whether that happened within 20."""
    with searches_on("numpy", case, [0]) as runner:
        runner.put(0, state_from(runner.get(0), parents))
        for _ in range(20):
            before = runner.get(0).parents
            runner.run([Work("exact")])
            if np.array_equal(before, runner.get(0).parents):
                return runner.get(0), True
        return runner.get(0), False


def test_exact_moves_leave_nothing_to_gain_for_one_mutation() -> None:
    """Start from stars, where every mutation has to move; check trees that a whole sweep left unchanged."""
    ended = []
    for case in [*(Case(n, m) for n in (2, 5, 8) for m in (5, 9, 14)), Case(8, 13, kind="duplicates")]:
        problem: SearchProblem = problem_of(case)
        state, end = settled(case, np.full(case.n + 1, case.n, dtype=np.int32))
        ended.append(end)
        if end:
            for v in range(case.n):
                assert (
                    max(slow_score(problem, tree) for tree in reinsertions(state.parents, v)) <= state.score
                )
    assert np.mean(ended) > 0.5
