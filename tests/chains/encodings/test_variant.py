"""Needs of a problem are written into its specialised kernel; the general kernel serves every problem."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding, SpecialisedPreorderEncoding
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.kernels.preorder.sizes import ANY_PROBLEM, Variant
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case
from tests.support.learned import learned_plan

RATES = Rates(0.01, 0.2)


def simulated(cells: int, mutations: int, *, octaves: bool = False) -> Problem:
    matrix = simulate(cells, mutations, 0.01, 0.2, 0.1, seed=1).matrix
    return make_problem(matrix, RATES, octaves=octaves)


def equal_columns() -> Problem:
    return make_problem(matrix_from_array(np.ones((3, 50), np.uint8)), RATES)


@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        (simulated(64, 63), Variant(weighted=0, wide=0, few=0)),
        (simulated(32, 31), Variant(weighted=0, wide=0, few=1)),
        (equal_columns(), Variant(weighted=1, wide=0, few=1)),
        (learned_plan(Case(20, 12)).problem, Variant(weighted=0, wide=1, few=1)),
    ],
    ids=["no extras", "few blocks", "equal columns", "learned rates"],
)
def test_specialised_kernels_are_told_what_a_problem_needs(problem: Problem, variant: Variant) -> None:
    encoding = PreorderEncoding(problem, TRAITS).specialised()
    assert isinstance(encoding, SpecialisedPreorderEncoding)
    assert encoding.specialisation[-len(variant) :] == variant


def test_general_kernels_serve_every_problem() -> None:
    encoding = PreorderEncoding(simulated(32, 31), TRAITS).general()
    assert isinstance(encoding, PreorderEncoding)
    assert encoding.variant == ANY_PROBLEM
    assert encoding.specialisation == ()


@pytest.mark.parametrize(
    ("cells", "rounds", "panels", "of_maximum"),
    [(60, 4, 1, (4, 1)), (70, 5, 1, (6, 1)), (110, 8, 1, (8, 1)), (150, 5, 2, (8, 2)), (390, 5, 5, (8, 4))],
)
def test_general_kernels_of_sums_need_little_padding(
    cells: int, rounds: int, panels: int, of_maximum: tuple[int, int]
) -> None:
    """Compare the rows of sum scores with those of the maximum, whose steps take less time per column."""
    problem = simulated(cells, 63, octaves=True)
    assert problem.columns > cells - 6
    encoding = PreorderEncoding(problem, TRAITS).general()
    assert isinstance(encoding, PreorderEncoding)
    assert (encoding.shape.rounds, encoding.shape.panels) == (rounds, panels)
    assert encoding.constants["rounds"] == rounds
    other = PreorderEncoding(simulated(cells, 63), TRAITS).general()
    assert isinstance(other, PreorderEncoding)
    assert (other.shape.rounds, other.shape.panels) == of_maximum
