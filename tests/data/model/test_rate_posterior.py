"""Intervals of estimated rates: against all trees, coverage, and a control."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.likelihood import summed_log_likelihood
from syclade.host.data.model.rate_fit import PRIORS
from syclade.host.data.model.rate_posterior import RateInterval, RatePosterior, rate_posterior
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import parents_from_pruefer
from syclade.host.findings.support.budget import Budget
from tests.support.commands import status_of
from tests.support.searches import shorten_support

BOTH = ("fp_rate", "fn_rate")
MADE = simulate(150, 3, 0.03, 0.2, 0.1, 2).matrix
CENTER = Rates(0.04, 0.22)
TREES = [parents_from_pruefer(list(code), 3) for code in itertools.product(range(4), repeat=2)]


def likelihoods(matrix: Matrix, rates: Rates) -> NDArray[np.float64]:
    """Likelihoods of all trees, relative to the most likely one under the given rates."""
    return np.array([summed_log_likelihood(matrix, rates, tree) for tree in TREES])


@cache
def exact_intervals() -> dict[str, tuple[float, float]]:
    """Shortest 90 % of both rates of MADE, from all trees and a grid of rates with their priors."""
    fp, fn = np.linspace(0.001, PRIORS["fp_rate"].most, 28), np.linspace(0.02, 0.5, 28)
    logs = np.array([[likelihoods(MADE, Rates(a, b)) for b in fn] for a in fp])
    logs += (29 * np.log(1 - fp)[:, None] + 2 * np.log(1 - fn))[:, :, None]
    density = np.exp(logs - logs.max()).sum(axis=2)
    found: dict[str, tuple[float, float]] = {}
    for name, rates, marginal in zip(BOTH, (fp, fn), (density.sum(axis=1), density.sum(axis=0)), strict=True):
        sums = (np.cumsum(marginal) - marginal / 2) / marginal.sum()
        ends = [
            (float(np.interp(below, sums, rates)), float(np.interp(below + 0.9, sums, rates)))
            for below in np.linspace(0, 0.1, 51)
        ]
        low, high = min(ends, key=lambda end: float(end[1] - end[0]))
        found[name] = (low, high)
    return found


def sampled_trees(matrix: Matrix, rates: Rates, count: int) -> NDArray[np.int32]:
    """Trees drawn independently from the exact posterior under fixed rates."""
    logs = likelihoods(matrix, rates)
    weights = np.exp(logs - logs.max())
    drawn = np.random.default_rng(1).choice(len(TREES), count, p=weights / weights.sum())
    return np.asarray(np.array(TREES, dtype=np.int32)[drawn])


@pytest.mark.parametrize("center", [CENTER, Rates(0.02, 0.2)], ids=str)
def test_intervals_are_those_of_all_trees_and_rates(center: Rates) -> None:
    found = rate_posterior(MADE, center, sampled_trees(MADE, center, 4000), names=BOTH)
    for name in BOTH:
        low, high = exact_intervals()[name]
        assert found.intervals[name].low == pytest.approx(low, abs=0.1 * (high - low))
        assert found.intervals[name].high == pytest.approx(high, abs=0.1 * (high - low))
    assert not found.rough


def test_intervals_where_most_cells_have_no_mutation() -> None:
    """One tree with its shares, against a fine grid; the rates would be far off if the shares were equal."""
    parents, shares = np.array([3, 0, 4, 4, 4], dtype=np.int32), np.array([0.02, 0.03, 0.02, 0.03, 0.9])
    genotypes = np.array([[1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    rng = np.random.default_rng(7)
    present = genotypes[rng.choice(5, 3000, p=shares)]
    values = (rng.random(present.shape) < np.where(present, 0.9, 0.005)).astype(np.uint8)
    matrix = Matrix(np.ascontiguousarray(values.T), ("A", "B", "C", "D"), "array")

    rates = np.linspace(0.001, 0.6, 600)
    fp, logs = 0.005, []
    for fn in rates:
        seen, absent = np.log([fn, 1 - fn]), np.log([1 - fp, fp])
        of_nodes = np.where(genotypes[:, None], seen[values], absent[values]).sum(axis=2)
        logs.append(np.log(shares @ np.exp(of_nodes)).sum() + PRIORS["fn_rate"].log_density(fn))
    density = np.exp(np.array(logs) - max(logs))
    mean = float(rates @ density / density.sum())
    for under in (0.1, 0.3, 0.6):
        one = rate_posterior(matrix, Rates(fp, under), parents[None], shares[None], names=("fn_rate",))
        assert one.intervals["fn_rate"].mean == pytest.approx(mean, rel=0.02)
        assert one.intervals["fn_rate"].low < 0.1 < one.intervals["fn_rate"].high


def test_equal_cells_are_worked_on_once() -> None:
    """As many trees are used as for few cells, and the rates are known far better."""
    many = Matrix(np.tile(MADE.values, 400), MADE.mutations, "array")
    trees = sampled_trees(MADE, CENTER, 500)
    few, found = (rate_posterior(matrix, CENTER, trees, names=BOTH) for matrix in (MADE, many))
    assert found.trees == few.trees > 100
    widths = [one.intervals["fn_rate"].high - one.intervals["fn_rate"].low for one in (few, found)]
    assert widths[1] < 0.1 * widths[0]


def test_trees_of_other_rates_without_their_weights_would_not_do() -> None:
    """Control: trees of another matrix give other intervals, or are worth little."""
    other = simulate(150, 3, 0.03, 0.2, 0.1, 9).matrix
    found = rate_posterior(MADE, CENTER, sampled_trees(other, CENTER, 4000), names=BOTH)
    low, high = exact_intervals()["fp_rate"]
    assert found.intervals["fp_rate"].high > high + 0.2 * (high - low) or found.rough


def test_one_rate_alone_is_narrower_than_with_the_other_unknown() -> None:
    trees = sampled_trees(MADE, CENTER, 500)
    both, one = (rate_posterior(MADE, CENTER, trees, names=names) for names in (BOTH, ("fn_rate",)))
    assert set(one.intervals) == {"fn_rate"}
    narrow, wide = one.intervals["fn_rate"], both.intervals["fn_rate"]
    assert narrow.high - narrow.low < 1.1 * (wide.high - wide.low)


def test_a_rate_without_any_error_has_an_interval_that_ends_above_0() -> None:
    made = simulate(200, 3, 1e-7, 0.2, 0.1, 2).matrix
    found = rate_posterior(made, Rates(1e-3, 0.2), sampled_trees(made, Rates(1e-3, 0.2), 200), names=BOTH)
    interval = found.intervals["fp_rate"]
    assert 0 < interval.low < 1e-4 < interval.mean < interval.high < 0.05


def posterior_at(under: float, mean: float, width: float) -> RatePosterior:
    interval = RateInterval(mean, mean - width / 2, mean + width / 2)
    return RatePosterior({"fp_rate": interval}, 128, 20.0, Rates(under, 0.2))


def test_means_near_the_rates_of_the_trees_are_settled() -> None:
    near = posterior_at(0.03, 0.0319, 0.02)
    assert near.settled
    assert not near.fits, "few trees count"
    assert not posterior_at(0.03, 0.0321, 0.02).settled


def test_means_that_move_on_are_foreseen() -> None:
    first, second = posterior_at(0.02, 0.024, 0.001), posterior_at(0.024, 0.0264, 0.001)
    assert first.next_rates(None) == {"fp_rate": 0.024}
    # The second step is half as long as the first, so that all that follow are as long as the second.
    assert second.next_rates(first)["fp_rate"] == pytest.approx(0.0288, rel=0.02)
    back = posterior_at(0.024, 0.022, 0.001)
    assert back.next_rates(first) == {"fp_rate": 0.022}
    growing = posterior_at(0.03, 0.09, 0.001)
    assert growing.next_rates(first) == {"fp_rate": PRIORS["fp_rate"].most}


def inferred(mutations: int, seed: int) -> RatePosterior:
    """Posterior of the rates that `infer` gives for a simulated matrix."""
    matrix = simulate(40, mutations, 0.02, 0.2, 0.1, seed).matrix
    result = syclade.infer(matrix, fn_rate=0.2, device="native")
    assert result.support is not None
    assert result.support.rates is not None
    return result.support.rates


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mutations", "inputs"), [(5, 8), pytest.param(10, 16, marks=pytest.mark.verification)]
)
def test_intervals_contain_the_true_rate_nine_times_in_ten(
    monkeypatch: pytest.MonkeyPatch, mutations: int, inputs: int
) -> None:
    if mutations == 5:
        shorten_support(monkeypatch, Budget(1024, 2048, 4, 256))
    intervals = [inferred(mutations, seed).intervals["fp_rate"] for seed in range(inputs)]
    assert 0.75 <= np.mean([one.low <= 0.02 <= one.high for one in intervals]) <= 1.0
    # Control: half as wide, they contain it too rarely.
    halves = [
        (one.mean + 0.3 * (one.low - one.mean), one.mean + 0.3 * (one.high - one.mean)) for one in intervals
    ]
    assert np.mean([low <= 0.02 <= high for low, high in halves]) < 0.7


def test_the_command_tells_the_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shorten_support(monkeypatch)
    made = simulate(40, 10, 0.02, 0.2, 0.1, 1).matrix
    place = tmp_path / "matrix.csv"
    place.write_text("\n".join(" ".join(map(str, row)) for row in made.values.tolist()) + "\n")
    assert status_of("infer", str(place), "--device", "native", "--out", str(tmp_path / "out")) == 0
    report = capsys.readouterr().out
    assert "error rates estimated from the matrix: --fp-rate" in report
    assert report.count("(90 %: ") == 2


def test_sums_are_those_by_the_definition_where_products_leave_the_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = simulate(30, 12, 0.02, 0.2, 0.1, 5)
    rng, rates = np.random.default_rng(1), Rates(0.01, 0.15)
    shares = rng.dirichlet(np.ones(13), 4)
    trees = np.array([made.parents] * 4, dtype=np.int32)

    def found() -> list[float]:
        posterior = rate_posterior(made.matrix, rates, trees, shares, names=BOTH)
        return [*posterior.intervals["fp_rate"], *posterior.intervals["fn_rate"], posterior.effective]

    fast = found()
    monkeypatch.setattr("syclade.host.data.model.paths._SMALL", 1.0)  # none is in the range
    direct = found()
    assert fast != direct
    assert fast == pytest.approx(direct, rel=1e-9)
