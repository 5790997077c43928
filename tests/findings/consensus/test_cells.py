"""Cells on clone trees: probabilities and tails by enumeration, intervals by their coverage."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.chains.shares import CONCENTRATIONS, ROOT_CONCENTRATIONS
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.consensus.cells import CloneCells, cells_on
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of, make_clone_tree
from syclade.host.findings.consensus.prevalence import Choices, Mixture, mixture_of
from tests.support.clone_trees import clone_trees

RATES = [
    Rates(0.01, 0.3),
    Rates(0.3, 0.6),
    Rates(0.05, 0.2, 0.3, 0.01),
    Rates(0.02, 0.2, merge_homozygous=True),
]


def matrix_of(values: NDArray[np.uint8]) -> Matrix:
    return Matrix(np.ascontiguousarray(values), tuple(f"M{row}" for row in range(len(values))), "a test")


def genotypes(tree: CloneTree) -> NDArray[np.bool_]:
    """Return the mutations of each clone's cells, by climbing: bool, shape (clones, n)."""
    has = np.zeros((tree.clones, len(tree.clone_of)), dtype=bool)
    for clone in range(tree.clones):
        at = clone
        while at:
            has[clone, tree.members[at]] = True
            at = int(tree.parents[at])
    return has


@given(clone_trees(6), st.sampled_from(RATES), st.integers(0, 999))
def test_probabilities_are_those_of_bayes(tree: CloneTree, rates: Rates, seed: int) -> None:
    n = len(tree.clone_of)
    zygosity = rates.fn_rate_hom is not None or rates.merge_homozygous
    values = (
        np.random.default_rng(seed).choice([0, 1, 2, 3] if zygosity else [0, 1, 3], (n, 5)).astype(np.uint8)
    )
    found = cells_on(tree, matrix_of(values), rates)
    table, has = rates.log_table(), genotypes(tree)
    for cell in range(5):
        logs = [
            math.fsum(
                table[values[row, cell], int(has[clone, row])] for row in range(n) if values[row, cell] != 3
            )
            for clone in range(tree.clones)
        ]
        likely = np.exp(logs)
        np.testing.assert_allclose(found.likelihood[:, cell], likely / likely.sum(), rtol=1e-9)


@pytest.mark.parametrize("rates", [RATES[0], RATES[1], Rates(0.1, 0.1), Rates(0.7, 0.2), Rates(0.5, 0.2)])
def test_tails_are_those_of_all_observations(rates: Rates) -> None:
    """The sum of the probabilities of all observations at the clone that are no more likely."""
    tree = make_clone_tree([1, 1, 2, 3, 3, 3], [0, 0, 1, 0])
    values = np.array([[1, 0, 0], [1, 1, 3], [0, 0, 1], [0, 1, 0], [3, 0, 0], [0, 1, 1]], dtype=np.uint8)
    found = cells_on(tree, matrix_of(values), rates)
    table, has = np.exp(rates.log_table()), genotypes(tree)
    for cell in range(3):
        rows = np.flatnonzero(values[:, cell] != 3)
        own = has[found.likelihood[:, cell].argmax()]

        def likelihood(
            seen: tuple[int, ...], rows: NDArray[np.intp] = rows, own: NDArray[np.bool_] = own
        ) -> float:
            return math.prod(
                float(table[value, int(own[row])]) for value, row in zip(seen, rows, strict=True)
            )

        here = likelihood(tuple(values[rows, cell].tolist()))
        every = [likelihood(seen) for seen in itertools.product((0, 1), repeat=len(rows))]
        assert sum(every) == pytest.approx(1.0)
        expected = sum(one for one in every if one <= here * (1 + 1e-9))
        assert found.tail[cell] == pytest.approx(expected)


@pytest.mark.statistical
def test_cells_of_the_model_fit_and_random_ones_do_not() -> None:
    made = simulate(200, 60, 1e-3, 0.2, 0.1, 4)
    tree, rates = clone_tree_of(made.parents), Rates(1e-3, 0.2)
    values = made.matrix.values.copy()
    assert cells_on(tree, made.matrix, rates).fits.all()  # control
    strange = np.arange(0, 200, 20)
    values[:, strange] = np.random.default_rng(1).random((60, len(strange))) < 0.3
    found = cells_on(tree, matrix_of(values), rates)
    np.testing.assert_array_equal(np.flatnonzero(~found.fits), strange)


@pytest.mark.statistical
def test_the_tail_is_no_smaller_than_uniform() -> None:
    """The best clone fits at least as well as the true one, so few tails are small; wrong rates differ."""
    made = simulate(2000, 30, 0.01, 0.2, 0.1, 6)
    tree = clone_tree_of(made.parents)
    for limit in (0.01, 0.1):
        share = (cells_on(tree, made.matrix, Rates(0.01, 0.2)).tail < limit).mean()
        assert share < limit + 3 * math.sqrt(limit / 2000)
        assert (cells_on(tree, made.matrix, Rates(1e-4, 0.02)).tail < limit).mean() > limit + 0.1


def weights_of_concentrations(sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return the likelihood of numbers of cells, those of the root first, for each pair of concentrations.

    The numbers are Dirichlet-multinomial; rows are concentrations of clones, columns of the root.
    """
    found = np.empty((len(CONCENTRATIONS), len(ROOT_CONCENTRATIONS)))
    for at, node in enumerate(CONCENTRATIONS):
        for number, root in enumerate(ROOT_CONCENTRATIONS):
            own = [root] + [node] * (len(sizes) - 1)
            logs = [math.lgamma(one + size) - math.lgamma(one) for one, size in zip(own, sizes, strict=True)]
            found[at, number] = math.exp(
                sum(logs) + math.lgamma(sum(own)) - math.lgamma(sum(own) + sum(sizes))
            )
    return found


@pytest.mark.statistical
def test_prevalences_of_certain_cells_have_the_intervals_of_their_shares() -> None:
    """Five, two, one and none of eight cells: the prevalence is their part."""
    certain = np.eye(4)[:, [0, 0, 0, 1, 1, 2, 0, 0]]
    found, exact = mixture_of(certain), np.random.default_rng(1)
    np.testing.assert_array_equal(found.probability, certain)
    np.testing.assert_array_equal(found.prevalence, np.array([5, 2, 1, 0]) / 8)
    weights = weights_of_concentrations((5, 2, 1, 0))
    drawn = exact.choice(weights.size, 100_000, p=(weights / weights.sum()).ravel())
    node, root = np.unravel_index(drawn, weights.shape)
    shapes = np.array(CONCENTRATIONS)[node][:, None] + [0, 2, 1, 0]
    shapes[:, 0] = np.array(ROOT_CONCENTRATIONS)[root] + 5
    gammas = exact.standard_gamma(shapes)
    low, high = np.quantile(gammas / gammas.sum(axis=1, keepdims=True), (0.05, 0.95), axis=0)
    np.testing.assert_allclose(found.low, np.minimum(low, found.prevalence), atol=0.02)
    np.testing.assert_allclose(found.high, np.maximum(high, found.prevalence), atol=0.03)
    uniform = np.quantile(
        exact.beta(3, 9, 100_000), 0.95
    )  # the second one of four, with equal concentrations
    assert abs(found.high[1] - uniform) > 0.03  # control
    assert mixture_of(certain).low.tolist() == found.low.tolist()


@pytest.mark.statistical
def test_clones_of_cells_have_the_posterior_of_their_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """All assignments of five cells to three clones."""
    monkeypatch.setattr("syclade.host.findings.consensus.prevalence.DRAWS", 8000)
    likelihood = np.random.default_rng(3).random((3, 5)) ** 3
    prior = cache(lambda *sizes: float(weights_of_concentrations(sizes).sum()))
    total, exact = 0.0, np.zeros((3, 5))
    for clones in itertools.product(range(3), repeat=5):
        sizes = np.bincount(clones, minlength=3).tolist()
        weight = math.prod(likelihood[clones, range(5)].tolist()) * prior(*sizes)
        total += weight
        exact[clones, range(5)] += weight
    found = mixture_of(likelihood)
    np.testing.assert_allclose(found.probability, exact / total, atol=0.02)
    assert np.abs(likelihood / likelihood.sum(axis=0) - exact / total).max() > 0.1  # control
    np.testing.assert_allclose(found.probability.sum(axis=0), 1.0)
    np.testing.assert_allclose(found.prevalence, found.expected / 5)
    assert (found.low < found.prevalence).all()
    assert (found.prevalence < found.high).all()


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("trees", "least", "most", "of_halves"),
    [(24, 0.83, 0.97, 0.6), pytest.param(60, 0.86, 0.96, 0.75, marks=pytest.mark.verification)],
)
def test_intervals_contain_the_truth(
    trees: int, least: float, most: float, of_halves: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Concentrations, shares, cells and observations are drawn; the true tree and rates are known."""
    monkeypatch.setattr("syclade.host.findings.consensus.prevalence.DRAWS", 400)
    generator, rates = np.random.default_rng(5), Rates(0.01, 0.25)
    inside, halves, count = 0, 0, 0
    for seed in range(trees):
        tree = clone_tree_of(simulate(1, 6, 0.01, 0.25, 0.1, seed).parents)
        node, root = (generator.choice(grid) for grid in (CONCENTRATIONS, ROOT_CONCENTRATIONS))
        shares = generator.dirichlet([root] + [node] * (tree.clones - 1))
        has = genotypes(tree)[generator.choice(tree.clones, 80, p=shares)].T
        values = (has ^ (generator.random(has.shape) < np.where(has, 0.25, 0.01))).astype(np.uint8)
        values[generator.random(has.shape) < 0.1] = 3
        found = cells_on(tree, matrix_of(values), rates).mixture
        inside += int(((found.low <= shares) & (shares <= found.high)).sum())
        middle, half = (found.low + found.high) / 2, (found.high - found.low) / 4
        halves += int((np.abs(shares - middle) <= half).sum())
        count += tree.clones
    assert least < inside / count < most
    assert halves / count < of_halves  # control: intervals of half the width do not


def two_branches(cells: tuple[int, int, int]) -> tuple[CloneTree, Matrix]:
    """Return clones of three mutations each on two branches, and cells of either and of both."""
    tree = make_clone_tree((1, 1, 1, 2, 2, 2), (0, 0, 0))
    one, other = np.repeat([1, 0], 3), np.repeat([0, 1], 3)
    columns = [
        kind for kind, count in zip((one, other, one | other), cells, strict=True) for _ in range(count)
    ]
    return tree, matrix_of(np.array(columns, dtype=np.uint8).T)


def test_doublets_of_two_branches_are_found() -> None:
    tree, matrix = two_branches((30, 10, 3))
    rates = Rates(0.001, 0.01)
    alone, found = cells_on(tree, matrix, rates), cells_on(tree, matrix, rates, doublets=0.1)
    assert found.doublets is not None
    np.testing.assert_allclose(found.doublets.probability[-3:], 1.0, atol=1e-3)
    assert (found.doublets.first[-3:] == 1).all()
    assert (found.doublets.second[-3:] == 2).all()
    assert (found.doublets.probability[:-3] < 0.2).all()
    assert found.fits.all()
    assert not alone.fits[-3:].any()
    assert alone.doublets is None


def test_prevalence_counts_both_cells_of_a_doublet() -> None:
    tree, matrix = two_branches((30, 10, 8))
    found = cells_on(tree, matrix, Rates(0.001, 0.01), doublets=0.1)
    assert found.doublets is not None
    mixture = found.mixture
    assert mixture.expected.sum() == pytest.approx(48 + found.doublets.probability.sum())
    assert mixture.prevalence.sum() == pytest.approx(1)
    own = found.probability.sum(axis=0) + found.doublets.probability
    np.testing.assert_allclose(own, 1.0, atol=1e-9)
    assert mixture.expected[2] == pytest.approx(18, abs=1.5)  # of one clone twice: few
    assert (mixture.low <= mixture.prevalence).all()
    assert (mixture.prevalence <= mixture.high).all()


@pytest.mark.parametrize("seed", range(3))
def test_doublets_on_one_tree_have_their_posterior(seed: int) -> None:
    """Compare with all singles and pairs of two clones below the root, for three cells."""
    tree = make_clone_tree((1, 2), (0, 0, 0))
    values = np.random.default_rng(seed).choice([0, 1, 3], (2, 3)).astype(np.uint8)
    rates, rate = Rates(0.1, 0.3), 0.3
    table, has = rates.log_table(), genotypes(tree)
    likely = np.empty((3, 3, 3))
    for cell, v, w in itertools.product(range(3), repeat=3):
        both = has[v] | has[w]
        likely[cell, v, w] = math.exp(sum(table[values[row, cell], int(both[row])] for row in range(2)))
    prior = cache(lambda *sizes: float(weights_of_concentrations(sizes).sum()))
    kinds = [(v,) for v in range(3)] + list(itertools.product(range(3), repeat=2))
    total, expected = 0.0, np.zeros(3)
    for chosen in itertools.product(kinds, repeat=3):
        sizes = np.bincount([clone for one in chosen for clone in one], minlength=3).tolist()
        each = [
            likely[cell, one[0], one[-1]] * (rate if len(one) == 2 else 1 - rate)
            for cell, one in enumerate(chosen)
        ]
        weight = math.prod(each) * prior(*sizes)
        total += weight
        expected += weight * np.array([len(one) == 2 for one in chosen])
    expected /= total
    found = cells_on(tree, matrix_of(values), rates, doublets=rate)
    assert found.doublets is not None
    np.testing.assert_allclose(found.doublets.probability, expected, atol=0.03)


def test_last_bits_of_likelihoods_do_not_change_draws() -> None:
    """Logarithms of numpy differ between processors in the last bit; equal cells stay equal all the same."""
    random = np.random.default_rng(2)
    kinds = random.random((5, 7))
    likelihood = kinds[:, random.integers(0, 7, 60)]
    found = mixture_of(likelihood)
    other = mixture_of(likelihood * (1.0 + random.choice([0.0, 2.0**-52], likelihood.shape)))
    np.testing.assert_array_equal(other.probability, found.probability)
    np.testing.assert_array_equal(other.low, found.low)
    assert (mixture_of(likelihood * random.choice([1.0, 1.001], likelihood.shape)).low != found.low).any()


def clone_drawn(likelihood: NDArray[np.float64], shares: NDArray[np.float64], uniform: float) -> int:
    """Draw the clone of a cell: the likely clones come first, and each takes its part of the sum."""
    left = uniform * float(likelihood @ shares)
    order = np.argsort(-likelihood, kind="stable").tolist()
    for clone in order:
        left -= float(likelihood[clone] * shares[clone])
        if left < 0:
            return int(clone)
    return int(order[-1])


@pytest.mark.parametrize("clones", [1, 3, 4, 5, 90])
def test_cells_are_drawn_from_their_likely_clones_first(clones: int) -> None:
    random = np.random.default_rng(6)
    relative = random.random((clones, 60)) ** 20  # few clones of a kind of cells are likely
    relative /= relative.max(axis=0)
    choices = Choices.of(relative, random.integers(1, 3, 60))
    shares = random.dirichlet(np.full(clones, 0.5))
    for _ in range(10):
        uniform = random.random(len(choices.row_of))
        expected = [
            clone_drawn(relative[:, row], shares, number)
            for row, number in zip(choices.row_of, uniform.tolist(), strict=True)
        ]
        found = choices.counts(shares, uniform)
        assert found.tolist() == np.bincount(expected, minlength=clones).tolist()
    certain = choices.counts(shares, np.zeros(len(choices.row_of)))
    assert clones == 1 or certain.tolist() != found.tolist()


@pytest.mark.parametrize("sizes", [[500, 300, 200, 40], [1, 2, 1, 3]])
def test_cells_of_a_kind_are_drawn_together(sizes: list[int]) -> None:
    """Means and variances of the numbers of cells, of kinds with many cells and with few."""
    random = np.random.default_rng(7)
    relative, shares = random.random((3, 4)), np.array([0.5, 0.3, 0.2])
    relative /= relative.max(axis=0)
    choices, generator = Choices.of(relative, np.array(sizes)), np.random.default_rng(8)
    draws = np.array([choices.drawn(shares, generator) for _ in range(4000)])
    part = relative * shares[:, None] / (shares @ relative)
    mean, variance = part @ sizes, (part * (1.0 - part)) @ sizes
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5.0 * np.sqrt(variance.max() / 4000))
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.15)
    assert (draws.sum(axis=1) == sum(sizes)).all()
    wrong = (relative / relative.sum(axis=0)) @ sizes  # as if clones had equal shares
    assert (np.abs(draws.mean(axis=0) - wrong) > 5.0 * np.sqrt(variance / 4000)).any(), "the control"


def test_clones_that_rounding_tells_apart_are_equal() -> None:
    """Sums of clones that a cell fits equally differ in the last bit, otherwise on other processors."""
    probability = np.array([[0.9, 0.2], [0.05, 0.4], [0.05, 0.4]])
    for change in (1.0 - 2.0**-51, 1.0, 1.0 + 2.0**-51):
        probability[2] = change * probability[1]
        cells = CloneCells(probability, np.ones(2))
        cells.__dict__["mixture"] = Mixture(probability, np.zeros(3), np.ones(3))
        assert (cells.best.tolist(), cells.runner_up.tolist()) == ([0, 1], [1, 2])
