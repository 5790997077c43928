"""Sparse forms of stages: the bits of the other form, in every case and on every path through them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.chains.search.kernel import (
    SPARSE_STAGES,
    SearchState,
    Work,
    fresh_state,
    is_sparse,
    search_arrays,
    search_kernel,
    search_sizes,
    state_from,
)
from syclade.host.chains.search.policy import Phase
from syclade.host.chains.search.problem import SearchProblem, make_search_problem
from syclade.host.chains.search.runner import SearchRunner, make_search_runner
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.device.engines import Allocation, open_engine
from syclade.kernels.search.sparse.arguments import SPARSE_ARGUMENTS
from syclade.kernels.target.python import TRAITS
from tests.suites.rows.searches import CASES, WORKS
from tests.support.searches import assert_equal_searches, numpy_states, states_of

NATIVE = choose_device("native")
SWEEPS = (
    Work("exact"),
    Work("subtrees", 1, 0.5),
    Work("exact", 3),
    Work("subtrees", 2),
    Work("exact", 1, 2.0),
)


@pytest.mark.parametrize("name", CASES)
def test_all_stages_end_as_in_numpy(name: str) -> None:
    found = states_of("native", CASES[name], 0, WORKS, sparse=SPARSE_STAGES)
    for work, one, other in zip(WORKS, found, numpy_states(CASES[name], 0, WORKS), strict=True):
        assert_equal_searches(one, other, work)


def made_problem(mutations: int, columns: int, values: list[int], seed: int) -> SearchProblem:
    """Return a problem with weights that are drawn from some values."""
    weights = np.random.default_rng(seed).choice(values, (mutations, columns)).astype(np.int32)
    order = np.arange(max(mutations, columns), dtype=np.int32)
    return SearchProblem(mutations, weights, order[:mutations], order[:columns], 1.0, 0.0)


def random_tree(mutations: int, seed: int, depth: int) -> NDArray[np.int32]:
    """Return a parent vector; the greater `depth`, the closer is each parent to its child."""
    random, parents = np.random.default_rng(seed), np.full(mutations + 1, mutations, dtype=np.int32)
    order = random.permutation(mutations)
    for place, node in enumerate(order.tolist()):
        above = order[max(0, place - depth) : place] if depth else order[:place]
        if len(above) and random.random() < 0.9:
            parents[node] = random.choice(above)
    return parents


def after(
    problem: SearchProblem, parents: NDArray[np.int32], works: tuple[Work, ...], sparse: bool
) -> list[SearchState]:
    """Return the states after each piece of work on a tree."""
    forms = tuple(SPARSE_STAGES) if sparse else ()
    runner = make_search_runner(NATIVE, problem, 1, 5, by_columns=False, sparse=forms)
    runner.put(0, state_from(fresh_state(0, problem.mutations), parents))
    states = []
    for work in works:
        runner.run([work])
        states.append(runner.get(0))
    runner.close()
    return states


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 50),
    st.sampled_from([[-1, 0, 1], [-8, -8, -8, 0, 33], [-3, 5], [0, 0, 1], [-40, -7, -1, 0, 2, 90]]),
    st.integers(0, 10**6),
    st.sampled_from([0, 1, 2, 5]),
)
@example(40, 50, [-1, 0, 1], 0, 0)
@example(33, 47, [-8, -8, -8, 0, 33], 1, 2)
@example(5, 13, [-8, -8, -8, 0, 33], 906426, 5)  # children that do not go along
@example(5, 13, [-2, -1, 0, 3], 746743, 2)  # above other children of the parent
@example(4, 9, [-2, -1, 0, 3], 977938, 5)  # as likely above all children of a node
@example(13, 15, [-40, -7, -1, 0, 2, 90], 644261, 1)  # gaps change
def test_any_tree_and_weights(mutations: int, columns: int, values: list[int], seed: int, depth: int) -> None:
    """Each example with a comment ends elsewhere if that is left out of the bounds."""
    problem, tree = made_problem(mutations, columns, values, seed), random_tree(mutations, seed, depth)
    plain, sparse = (after(problem, tree, SWEEPS, form) for form in (False, True))
    for work, one, other in zip(SWEEPS, sparse, plain, strict=True):
        assert_equal_searches(one, other, work)


def simulated(cells: int, mutations: int) -> SearchProblem:
    made = simulate(cells, mutations, 1e-3, 0.2, 0.1, 5)
    return make_search_problem(make_problem(made.matrix, Rates(1e-3, 0.2)))


def test_a_large_search_ends_alike() -> None:
    """Here most mutations stay by their bounds, and each form of the exact move changes the tree."""
    problem = simulated(3000, 120)
    phase, ends = Phase(start="by-mutations", sweeps=2), []
    assert is_sparse("subtrees", problem)
    for forms in ((), tuple(SPARSE_STAGES)):
        runner = make_search_runner(NATIVE, problem, 1, 5, by_columns=False, sparse=forms)
        ends.append(runner.run_phase([fresh_state(0, 120)], [phase], lambda _: None)[0])
        runner.close()
    assert_equal_searches(*ends)


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("stage", SPARSE_STAGES)
def test_any_number_of_lanes_gives_the_same_search(stage: str, lanes: int) -> None:
    """The target `python` keeps apart what lanes share and what they do not."""
    problem = made_problem(7, 11, [-3, -3, 0, 8], 1)
    tree, work = random_tree(7, 2, 2), Work(stage)
    sizes = search_sizes(problem, 1, False, lanes)
    engine = open_engine(
        choose_device("python"), Allocation(SPARSE_ARGUMENTS, sizes, search_arrays(problem, sizes, 5))
    )
    kernel = search_kernel(stage, TRAITS._replace(lanes=lanes), sparse=True)
    runner = SearchRunner(problem, engine, lambda _: engine.load(kernel), "general")
    runner.put(0, state_from(fresh_state(0, 7), tree))
    runner.run([work])
    assert_equal_searches(runner.get(0), after(problem, tree, (work,), sparse=False)[0])
    runner.close()


def test_large_problems_have_sparse_stages() -> None:
    small, large = simulated(20, 10), simulated(2000, 10)
    assert not is_sparse("subtrees", small)
    assert is_sparse("subtrees", replace(large, weights=np.zeros((10, 2000), dtype=np.int32)))
    assert not is_sparse("regraft", large)
    known = np.ones((500, 1000), dtype=np.int32)
    assert is_sparse("exact", replace(large, weights=known))
    known[:, 240:] = 0
    assert not is_sparse("exact", replace(large, weights=known)), "its bounds seldom hold there"
