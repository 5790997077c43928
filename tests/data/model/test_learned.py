"""Learned error rates: priors, grids and tables, checked against scipy and the definitions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import make_problem, problem_at
from syclade.host.data.model.rate_grid import RateGrid, RatePrior
from syclade.host.data.model.rate_model import NOWHERE, make_rate_model
from syclade.host.data.model.rates import Rates, error_rates
from syclade.host.data.trees.tree import validate_parents
from syclade.host.ground.errors import OptionError
from syclade.kernels.rates.arguments import FN

RATES = Rates(1e-5, 0.2)
ZYGOSITY = Rates(1e-4, 0.2, 0.1, 1e-5)


def grid_of(mean: float = 0.2, deviation: float = 0.1, step: float = 0.01, end: float = 0.9) -> RateGrid:
    return RateGrid(RatePrior("fn_rate", 0.2, mean, deviation, step), end)


@given(st.floats(1e-6, 0.6), st.floats(0.001, 0.999))
def test_the_prior_is_scipys(mean: float, part: float) -> None:
    """Any standard deviation that a Beta distribution can have gives a finite prior, without NaN."""
    deviation = part * math.sqrt(mean * (1 - mean))
    grid = grid_of(mean, deviation)
    a, b = grid.prior.shapes
    assume(a > 1e-9)
    beta = stats.beta(a, b)
    assert beta.mean() == pytest.approx(mean)
    assert beta.std() == pytest.approx(deviation)
    assert np.isfinite(grid.log_density).all()
    np.testing.assert_allclose(grid.log_density, beta.logpdf(grid.rates), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("rates", [RATES, ZYGOSITY, replace(RATES, merge_homozygous=True)], ids=str)
def test_weights_along_the_grids_are_those_of_their_rates(rates: Rates) -> None:
    """Bit for bit, since integer tables are rounded from them."""
    model = make_rate_model(rates, learn_fn=0.2, learn_fp=0.1)
    fn, fp, doublets = model.start
    present, absent = model.parts_of_weights
    for place in (*range(0, model.points[FN], 501), -1):
        np.testing.assert_array_equal(present[place], model.at((place, fp, doublets)).log_table()[:, 1])
        np.testing.assert_array_equal(absent[place], -model.at((fn, place, doublets)).log_table()[:, 0])


def test_jumps_are_normal() -> None:
    grid = grid_of(step=0.02)
    jumps = grid.jumps * grid.spacing
    assert (np.diff(grid.jumps) >= 0).all()
    assert math.sqrt(float((jumps**2).mean())) == pytest.approx(0.02, rel=0.02)
    assert stats.kstest(np.concatenate([jumps, -jumps]), stats.norm(0, 0.02).cdf).statistic < 0.01
    assert grid_of(step=0.9).jumps.max() < grid.points  # one reflection brings it back onto the grid
    assert grid_of(step=grid.spacing / 4).jumps.min() == 1


@pytest.mark.parametrize("rates", [RATES, ZYGOSITY])
def test_places_are_rates(rates: Rates) -> None:
    learned = make_rate_model(rates, learn_fn=0.2, learn_fp=0.1)
    assert learned.start[:2] == tuple(grid.start for grid in (learned.fn, learned.fp) if grid is not None)
    missed = rates.fn_rate + (rates.fn_rate_hom or 0)
    assert learned.values(learned.start)["fn_rate"] == pytest.approx(missed, abs=2e-4)
    assert learned.values(learned.start)["fp_rate"] == pytest.approx(rates.fp_rate, rel=1e-2)
    for places in (NOWHERE, (0, learned.points[1] - 1, 0), (learned.points[0] - 1, 0, 0)):
        made = error_rates(learned.at(places))  # also checks the rates
        total = made.fn_rate + (made.fn_rate_hom or 0)
        assert learned.values(places) == {"fn_rate": pytest.approx(total), "fp_rate": made.fp_rate}
        assert made.fn_rate_hom in (None, made.fn_rate)
    learned.at((learned.points[0] - 1, learned.points[1] - 1, 0))


def test_one_rate_alone() -> None:
    fn, fp = make_rate_model(RATES, learn_fn=0.2), make_rate_model(RATES, learn_fp=0.2)
    assert (fn.points[1], fp.points[0]) == (1, 1)
    assert error_rates(fn.at((17, 0, 0))).fp_rate == RATES.fp_rate
    assert error_rates(fp.at((0, 17, 0))).fn_rate == RATES.fn_rate


@pytest.mark.parametrize("rates", [RATES, ZYGOSITY])
def test_fixed_rates_are_the_case_of_one_point(rates: Rates) -> None:
    model = make_rate_model(rates)
    assert (model.learns, model.points, model.start, model.priors) == (False, (1, 1, 1), NOWHERE, ())
    assert model.at(NOWHERE) == rates
    assert (model.values(NOWHERE), model.log_prior(NOWHERE)) == ({}, 0.0)
    matrix = matrix_from_array(np.array([[0, 1, 3], [1, 0, 1]], dtype=np.uint8))
    problem = make_problem(matrix, rates, model=model)
    assert not problem.learns
    assert problem.rate_tables.worth(NOWHERE) == 0
    assert problem.rate_tables.digest is None
    wanted = [round(weight / problem.unit) for weight in rates.weights()[list(problem.values)].tolist()]
    assert problem.rates_at(NOWHERE).weights == problem.rates.weights == (*wanted, 0)
    assert problem_at(problem, matrix, rates) is problem


def test_learned_rates_are_fixed_at_a_point() -> None:
    model = make_rate_model(RATES, learn_fn=0.2)
    matrix = matrix_from_array(np.array([[0, 1, 3], [1, 0, 1]], dtype=np.uint8))
    problem = make_problem(matrix, RATES, octaves=True, model=model)
    rates = model.at((100, 0, 0))
    fixed = problem_at(problem, matrix, rates)
    assert (problem.learns, fixed.learns, fixed.octaves) == (True, False, True)
    assert fixed.rates == make_problem(matrix, rates, octaves=True).rates


@pytest.mark.parametrize("rates", [RATES, ZYGOSITY])
@pytest.mark.parametrize("octaves", [False, True])
def test_scores_are_log_likelihoods_with_the_prior(rates: Rates, octaves: bool) -> None:
    """Check at any grid point: the integer score is that of make_problem at these rates, plus the density."""
    draw = np.random.default_rng(1)
    matrix = matrix_from_array(draw.integers(0, 4 if rates.hom_rate else 2, (7, 9)).astype(np.uint8))
    learned = make_rate_model(rates, learn_fn=0.2, learn_fp=0.1)
    problem = make_problem(matrix, rates, octaves=octaves, model=learned)
    parents = validate_parents([7, 0, 0, 1, 7, 4, 4, 7])
    for places in (learned.start, (5, 11, 0), (8000, 4000, 0), (300, 8191, 0)):
        score = problem.best_attachments(parents, problem.rates_at(places)) @ problem.multiplicity
        report = problem.to_nats(int(score) + problem.rate_tables.worth(places))
        wanted = log_likelihood(matrix, learned.at(places), parents) + learned.log_prior(places)
        assert report == pytest.approx(wanted, abs=200 * problem.unit)


def test_tables_tell_their_digest() -> None:
    matrix = matrix_from_array(np.eye(3, dtype=np.uint8))

    def digest(**options: float) -> str:
        learned = make_rate_model(RATES, **options)
        found = make_problem(matrix, RATES, model=learned).rate_tables.digest
        assert found is not None
        return found

    usual = digest(learn_fn=0.2)
    assert usual == digest(learn_fn=0.3)  # covered by the move probabilities
    assert len({usual, digest(learn_fn=0.2, fn_deviation=0.2), digest(learn_fn=0.2, fn_step=0.02)}) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learn_fn": 0.0}, r"--learn-fn is 0"),
        ({"learn_fn": 1.0}, r"--learn-fn is 1"),
        ({"learn_fn": math.nan}, r"--learn-fn is nan"),
        ({"learn_fp": 2}, r"--learn-fp is 2"),
        ({"learn_fn": 0.6, "learn_fp": 0.4}, r"leave no step for the tree"),
        ({"learn_fn": 0.2, "fn_deviation": 0.4}, r"--fn-sd is 0.4\n.*between 0 and 0.4"),
        ({"learn_fn": 0.2, "fn_deviation": 0.0}, r"--fn-sd is 0"),
        ({"learn_fn": 0.2, "fn_step": 0.0}, r"--fn-step is 0"),
        ({"learn_fn": 0.2, "fn_step": 1e-9}, r"--fn-step is 1e-09"),
        ({"learn_fn": 0.2, "fn_step": 5.0}, r"--fn-step is 5"),
    ],
)
def test_what_makes_no_sense_is_said(options: dict[str, float], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make_rate_model(RATES, **options)


def test_rates_without_room_are_said() -> None:
    # Half of 0.21 is 0.105, less than hom_rate: a homozygous observation is no evidence.
    rates = Rates(0.01, 0.01, 0.2, 0.15)
    with pytest.raises(OptionError, match=r"--fn-rate 0\.21 leaves no room"):
        make_rate_model(rates, learn_fn=0.2)


def test_defaults_are_scites() -> None:
    learned = make_rate_model(RATES, learn_fn=0.2)
    assert learned.fn is not None
    assert learned.fn.prior == RatePrior("fn_rate", 0.2, 0.2, 0.1, 0.1 * 0.1)
    # No Beta distribution with mean 0.001 has the default standard deviation, 0.1.
    small = make_rate_model(Rates(1e-5, 0.001), learn_fn=0.2)
    assert small.fn is not None
    assert small.fn.prior.deviation < 0.1
