"""Error rates that fit a tree: the likelihood's maximum, and rates that data contradict."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import syclade
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.likelihood import event_counts
from syclade.host.data.model.rate_fit import (
    PRIORS,
    advised_rates,
    chance_of,
    expected_counts,
    fit_rates,
    misfit,
)
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import preorder
from tests.conftest import ROOT


def genotypes(parents: NDArray[np.int32]) -> NDArray[Any]:
    """Return the mutations of each node, a row each: the definition."""
    found = np.zeros((parents.size, parents.size - 1), dtype=bool)
    for node, row in enumerate(found):
        while node != parents.size - 1:
            row[node] = True
            node = int(parents[node])
    return found


def likelihood_with_fitted_shares(matrix: Matrix, rates: Rates, parents: NDArray[np.int32]) -> float:
    """Return the log-likelihood with those shares of the cells at the nodes that make it highest."""
    table, values = rates.log_table(), matrix.values
    scores = np.array([table[values, row.astype(int)[:, None]].sum(axis=0) for row in genotypes(parents)])
    best = scores.max(axis=0)
    likely, shares = np.exp(scores - best), np.full(len(scores), 1 / len(scores))
    for _ in range(500):
        of_cells = shares[:, None] * likely
        shares = (of_cells / of_cells.sum(axis=0)).mean(axis=1)
    return float((np.log(shares @ likely) + best).sum())


def slow_counts(
    matrix: Matrix, rates: Rates, parents: NDArray[np.int32], of_nodes: NDArray[np.float64]
) -> NDArray[Any]:
    table, found = rates.log_table(), np.zeros((4, 2))
    for cell in matrix.values.T:
        rows = genotypes(parents)
        scores = [sum(table[d, int(e)] for d, e in zip(cell, row, strict=True)) for row in rows]
        shares = [of * math.exp(score - max(scores)) for of, score in zip(of_nodes, scores, strict=True)]
        for share, row in zip(shares, rows, strict=True):
            for d, e in zip(cell, row, strict=True):
                found[d, int(e)] += share / sum(shares)
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 10**6))
def test_expected_counts_are_those_of_the_definition(mutations: int, cells: int, seed: int) -> None:
    made, rates = simulate(cells, mutations, 0.05, 0.3, 0.2, seed), Rates(0.02, 0.25)
    of_nodes = np.random.default_rng(seed).dirichlet(np.ones(mutations + 1))
    for shares in (np.full(mutations + 1, 1 / (mutations + 1)), of_nodes):
        counts, found = expected_counts(made.matrix, rates, made.parents, shares[preorder(made.parents)])
        np.testing.assert_allclose(counts, slow_counts(made.matrix, rates, made.parents, shares), atol=1e-9)
        assert counts.sum() == pytest.approx(mutations * cells)
        assert found.sum() == pytest.approx(1)


def test_no_rates_nearby_are_more_likely() -> None:
    made = simulate(80, 20, 0.03, 0.25, 0.1, seed=2)
    fitted = fit_rates(made.matrix, made.parents, Rates(0.3, 0.5))
    best = likelihood_with_fitted_shares(made.matrix, fitted, made.parents)
    for fp, fn in itertools.product((0.7, 1.0, 1.4), (0.85, 1.0, 1.15)):
        other = Rates(fitted.fp_rate * fp, fitted.fn_rate * fn)
        more = likelihood_with_fitted_shares(made.matrix, other, made.parents)
        assert more <= best + (0.05 if fp == fn else 0.0)
    assert (fitted.fp_rate, fitted.fn_rate) == pytest.approx((0.03, 0.25), rel=0.3)


def test_a_rate_that_is_given_stays() -> None:
    made = simulate(60, 12, 0.02, 0.2, 0.1, seed=3)
    fitted = fit_rates(made.matrix, made.parents, Rates(0.0041237, 0.2), ("fn_rate",))
    assert fitted.fp_rate == 0.0041237
    assert fitted.fn_rate != 0.2


def test_rates_of_noise_remain_rates_of_errors() -> None:
    values = np.random.default_rng(1).integers(0, 2, (6, 40)).astype(np.uint8)
    matrix = matrix_from_array(values)
    fitted = fit_rates(matrix, np.array([6, 0, 1, 2, 3, 4, 6]), Rates(0.01, 0.2))
    assert 0.0 < fitted.fp_rate + fitted.fn_rate < 1.0


@pytest.mark.parametrize(
    ("true", "stated", "wrong"),
    [
        ((0.06, 0.3), (0.001, 0.2), ("fp_rate",)),
        ((0.06, 0.3), (0.001, 0.02), ("fp_rate", "fn_rate")),
        ((0.001, 0.2), (0.001, 0.2), ()),
        ((0.01, 0.2), (0.02, 0.1), ()),
        ((0.001, 0.04), (0.1, 0.04), ("fp_rate",)),
    ],
)
def test_rates_that_the_data_contradict(
    true: tuple[float, float], stated: tuple[float, float], wrong: tuple[str, ...]
) -> None:
    made = simulate(100, 30, *true, 0.1, seed=4)
    fitted = fit_rates(made.matrix, made.parents, Rates(*stated))
    assert misfit(made.matrix, made.parents, Rates(*stated), fitted) == wrong


def test_exchanged_rates_are_contradicted_where_attachments_hide_their_errors() -> None:
    """On the bundled matrix, the tree under exchanged rates has hardly more missed mutations."""
    example = syclade.read_matrix(ROOT / "host" / "data" / "example" / "matrix.csv")
    for exchanged in (Rates(0.2, 0.001), Rates(0.2, 0.01)):
        found = syclade.infer(
            example, fp_rate=exchanged.fp_rate, fn_rate=exchanged.fn_rate, support="none", device="native"
        )
        assert "fn_rate" in found.contradicted
        assert any("the matrix contradicts" in words for words in found.warnings)
    right = syclade.infer(example, fp_rate=0.001, fn_rate=0.2, support="none", device="native")
    assert right.contradicted == ()


@pytest.mark.parametrize("cells", [20, 60])
def test_true_rates_are_not_contradicted(cells: int) -> None:
    """Few errors may be five times as many as expected, or fewer, by chance."""
    for seed, rates in itertools.product(range(6), (Rates(0.001, 0.2), Rates(0.01, 0.05), Rates(0.05, 0.4))):
        made = simulate(cells, 12, rates.fp_rate, rates.fn_rate, 0.1, seed)
        fitted = fit_rates(made.matrix, made.parents, rates)
        assert misfit(made.matrix, made.parents, rates, fitted) == ()


def rows_of(seed: int) -> tuple[Matrix, NDArray[np.int32], Rates]:
    """Return a random matrix of any density with a random tree, and random rates that are allowed."""
    rng = np.random.default_rng(seed)
    mutations, cells = int(rng.integers(1, 8)), int(rng.integers(1, 300))
    values = (rng.random((mutations, cells)) < rng.random((mutations, 1))).astype(np.uint8)
    values[rng.random((mutations, cells)) < 0.3 * rng.random()] = 3
    rates = 10 ** -rng.uniform(0, 4, 2)
    stated = Rates(*(0.998 * rates / max(1.0, rates.sum())).tolist())
    return matrix_from_array(values), random_parents(mutations, rng), stated


def test_advised_rates_are_allowed_and_not_contradicted_again() -> None:
    advised = 0
    for seed in range(150):
        matrix, tree, stated = rows_of(seed)
        fitted = fit_rates(matrix, tree, stated)
        advice = advised_rates(matrix, tree, stated, fitted)
        if advice is None:
            continue
        advised += 1
        assert Rates(advice.fp_rate, advice.fn_rate) == advice
        assert all(getattr(advice, name) <= prior.most for name, prior in PRIORS.items())
        again = fit_rates(matrix, tree, advice)
        assert advised_rates(matrix, tree, advice, again) is None, (seed, advice)
    assert advised > 40


@pytest.mark.parametrize("stated", [(0.95, 0.02), (0.3, 0.6), (0.02, 0.95)])
def test_a_rate_fitted_beside_a_large_one_is_allowed(stated: tuple[float, float]) -> None:
    """Both together, or one beside the other, add up to less than 1."""
    matrix = matrix_from_array(np.array([[0] * 30 + [1]] * 3, dtype=np.uint8))
    for name in ("fp_rate", "fn_rate"):
        found = fit_rates(matrix, np.array([1, 2, 3, 3]), Rates(*stated), (name,))
        assert found.fp_rate + found.fn_rate < 1


def test_one_error_in_few_values_is_chance() -> None:
    matrix = matrix_from_array(np.array([[1, 1, 1, 0], [1, 1, 0, 0]], dtype=np.uint8))
    stated, tree = Rates(1e-2, 0.2), np.array([2, 0, 2])
    assert event_counts(matrix, stated, tree)[1, 0] == 0
    assert misfit(matrix, tree, stated, fit_rates(matrix, tree, stated)) == ()


@given(st.integers(0, 300), st.floats(0.01, 300.0))
def test_the_bound_is_above_the_exact_tail(errors: int, expected: float) -> None:
    exact = (
        stats.poisson.sf(errors - 1, expected) if errors > expected else stats.poisson.cdf(errors, expected)
    )
    assert chance_of(errors, expected) >= exact - 1e-12


def test_unequal_clones_do_not_spoil_the_fit() -> None:
    """Two mutations in all cells: with equal shares, false positives would explain those of small clones."""
    made = simulate(1500, 5, 0.01, 0.1, 0.5, seed=4, shares=0.3)
    germline = np.where(np.random.default_rng(1).random((2, 1500)) < 0.1, 0, 1).astype(np.uint8)
    matrix = matrix_from_array(np.vstack([germline, made.matrix.values]), [f"M{row}" for row in range(7)])
    above = np.where(made.parents[:5] == 5, 1, made.parents[:5] + 2)
    fitted = fit_rates(matrix, np.array([7, 0, *above, 7], dtype=np.int32), Rates(0.01, 0.1))
    assert (fitted.fp_rate, fitted.fn_rate) == pytest.approx((0.01, 0.1), rel=0.3)
