"""Wide matrices: tables with sketches and subtree maxima, or of several panels, give the same chains."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.pipeline import initial_state
from syclade.host.chains.state import ChainState
from syclade.host.encodings.column_order import MOST_CLUSTERED, like_columns_together
from syclade.host.encodings.preorder import PreorderEncoding
from syclade.host.input.matrix import matrix_from_array
from syclade.host.model.problem import Problem, make_problem
from syclade.host.model.rates import Rates
from syclade.host.model.simulate import simulate
from syclade.kernels.preorder.layout import SKETCH_BITS
from tests.support.backends import NUMPY, Backend, assert_equal_states, assert_scores_are_right

N = 20
SEED = 5
CHAINS = 2
STOPS = (1, 2, 3, 10, 60, 300)

on_devices = pytest.mark.parametrize(
    "backend",
    [
        pytest.param(Backend(device, "preorder"), id=device, marks=pytest.mark.sycl)
        for device in ("cpu", "fpga-emu")
    ],
)


def values(cells: int, kind: str = "tree") -> NDArray[np.uint8]:
    """An input: of a simulated tree, of random values, or of columns that come several times each."""
    if kind == "random":
        drawn = np.random.default_rng(cells).choice([0, 1, 3], (N, cells), p=[0.5, 0.35, 0.15])
        return drawn.astype(np.uint8)
    made = simulate(cells, N, 0.01, 0.2, 0.2, cells).matrix.values
    return np.concatenate([made, made[:, : cells // 2]], axis=1) if kind == "repeated" else made


CASES: dict[str, tuple[NDArray[np.uint8], Rates, dict[str, object]]] = {
    "usual": (values(900), Rates(0.01, 0.2), {}),
    "no structure": (values(900, "random"), Rates(0.01, 0.2), {"gamma": 0.001}),
    "many acceptances": (values(900), Rates(0.01, 0.2), {"gamma": 0.001}),
    "labels": (values(900), Rates(0.01, 0.2), {"gamma": 0.001, "move_probabilities": (0, 1, 0)}),
    "subtrees": (values(900), Rates(0.01, 0.2), {"gamma": 0.001, "move_probabilities": (0, 0, 1)}),
    "weights with equal sketches": (values(900), Rates(0.499, 0.499), {}),
    "ones without weight": (values(900), Rates(0.3, 0.7), {}),
    "repeated columns": (values(900, "repeated"), Rates(0.01, 0.2), {"gamma": 0.05}),
    "several panels": (values(150), Rates(0.01, 0.2), {"gamma": 0.05}),
}


def problem_of(name: str) -> Problem:
    matrix, rates, settings = CASES[name]
    return make_problem(matrix_from_array(matrix), rates, **settings)  # type: ignore[arg-type]


def states(backend: Backend, problem: Problem) -> list[ChainState]:
    """The chains' states at the stops."""
    with backend.runner(problem, CHAINS, SEED) as runner:
        for chain in range(CHAINS):
            runner.put(chain, initial_state(problem, SEED, chain))
        seen = []
        for stop in STOPS:
            runner.advance(np.full(CHAINS, stop))
            seen += [runner.get(chain) for chain in range(CHAINS)]
    return seen


@on_devices
@pytest.mark.parametrize("name", CASES)
def test_the_chains_are_those_of_numpy(backend: Backend, name: str) -> None:
    problem = problem_of(name)
    constants = PreorderEncoding(problem).constants
    assert (constants["sketched"] > 1) == (name != "several panels")
    assert constants["cells"] > 128, "several panels"
    for seen, expected in zip(states(backend, problem), states(NUMPY, problem), strict=True):
        assert_scores_are_right(problem, seen)
        assert_equal_states(seen, expected)


def test_the_cases_are_what_they_are_called() -> None:
    def sketches(problem: Problem) -> set[int]:
        return {weight >> SKETCH_BITS for weight in problem.weights}

    assert len(sketches(problem_of("usual"))) == 3
    assert len(sketches(problem_of("weights with equal sketches"))) < 3
    assert problem_of("ones without weight").gain_one == 0
    assert problem_of("repeated columns").multiplicity.max() > 1
    flat = states(NUMPY, problem_of("many acceptances"))[-1].tallies
    assert (flat[5:9] > 0).all()
    assert flat[5:].sum() > 0.5 * flat[:5].sum()


@pytest.mark.parametrize("width", [1, 2, 3, 40, MOST_CLUSTERED + 10])
def test_the_order_of_columns_is_a_permutation(width: int) -> None:
    drawn = np.random.default_rng(width).choice([0, 1, 3], (6, width)).astype(np.uint8)
    assert sorted(like_columns_together(drawn).tolist()) == list(range(width))


def test_like_columns_come_together() -> None:
    kinds = np.arange(90) % 3
    columns = np.zeros((12, 90), dtype=np.uint8)
    columns[kinds * 4 + np.random.default_rng(1).integers(0, 4, 90), np.arange(90)] = 1
    columns[kinds * 4, np.arange(90)] = 1
    ordered = kinds[like_columns_together(columns)]
    assert (np.diff(ordered) != 0).sum() == 2


def test_columns_without_mutations_are_no_trouble() -> None:
    assert sorted(like_columns_together(np.zeros((3, 5), dtype=np.uint8)).tolist()) == list(range(5))
