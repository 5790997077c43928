"""Searches take the number of lanes from the target's traits, and results do not depend on it."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.search.kernel import (
    STAGES,
    SearchState,
    Work,
    fresh_state,
    search_arrays,
    search_kernel,
    search_sizes,
)
from syclade.host.chains.search.problem import SearchProblem, make_search_problem
from syclade.host.chains.search.runner import SearchRunner, make_search_runner
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.device.engines import Allocation, open_engine
from syclade.kernels.search.arguments import ARGUMENTS
from syclade.kernels.target.python import TRAITS

SEED = 4


@pytest.fixture(scope="module")
def problem() -> SearchProblem:
    return make_search_problem(make_problem(simulate(11, 7, 0.01, 0.2, 0.1, seed=3).matrix, Rates(0.01, 0.2)))


def runner_of(problem: SearchProblem, lanes: int) -> SearchRunner:
    """Return a runner on the target `python` with this number of lanes."""
    sizes = search_sizes(problem, 1, True, lanes)
    traits = TRAITS._replace(lanes=lanes)
    engine = open_engine(
        choose_device("python"), Allocation(ARGUMENTS, sizes, search_arrays(problem, sizes, SEED))
    )
    return SearchRunner(problem, engine, lambda stage: engine.load(search_kernel(stage, traits)), "general")


def searched(runner: SearchRunner, problem: SearchProblem, stage: str) -> SearchState:
    """Return the state after a start by columns and one sweep of a stage, with noise."""
    runner.put(0, fresh_state(2, problem.mutations))
    runner.run([Work("by-columns")])
    runner.run([Work(stage, gamma=0.5)])
    return runner.get(0)


@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("stage", STAGES)
def test_any_number_of_lanes_gives_the_same_search(problem: SearchProblem, stage: str, lanes: int) -> None:
    with_numpy = make_search_runner(choose_device("numpy"), problem, 1, SEED, by_columns=True)
    expected = searched(with_numpy, problem, stage)
    found = searched(runner_of(problem, lanes), problem, stage)
    assert (found.score, found.best_score, found.sweep) == (
        expected.score,
        expected.best_score,
        expected.sweep,
    )
    assert np.array_equal(found.parents, expected.parents)
    assert np.array_equal(found.best_parents, expected.best_parents)
    with_numpy.close()
