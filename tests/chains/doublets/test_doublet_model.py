"""The model of doublets in float64: brute force over all pairs, ∞SCITE's figures, and the chain's score."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.doublets import (
    call_doublets,
    doublet_log_likelihood,
    fitted_rate,
    fitted_shares,
    mixture_of,
)
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.treefile import read_tree
from tests.chains.doublets.cases import RATE, matrix_of, plan_of, rates_of
from tests.support.backends import Case

CASES = {
    "small": Case(4, 9),
    "missing": Case(7, 12, kind="missing"),
    "zygosity": Case(6, 20, kind="zygosity"),
    "one mutation": Case(1, 5),
    "nothing observed": Case(3, 4, kind="nothing"),
}
on_every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def tree_of(case: Case, chain: int) -> NDArray[np.int32]:
    return initial_state(plan_of(case), case.seed, chain).parents


def pair_scores(case: Case, parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return each cell's log-likelihood with the mutations above either node, (cells, nodes, nodes)."""
    table, above = rates_of(case).log_table(), ancestor_matrix(parents)[:-1]
    values, nodes = case.values, range(case.n + 1)
    scores = np.empty((case.m, case.n + 1, case.n + 1))
    for cell, v, w in product(range(case.m), nodes, nodes):
        has = above[:, v] | above[:, w]
        scores[cell, v, w] = sum(table[values[gene, cell], int(has[gene])] for gene in range(case.n))
    return scores


def log_mean(scores: NDArray[np.float64], which: NDArray[np.bool_], count: int) -> float:
    """Return the logarithm of a sum of likelihoods over a count."""
    return math.log(math.fsum(np.exp(scores[which]).tolist()) / count) if which.any() else -math.inf


@on_every_case
def test_mixtures_are_those_of_brute_force(case: Case) -> None:
    for chain in range(4):
        parents = tree_of(case, chain)
        above, nodes = ancestor_matrix(parents).astype(bool), case.n + 1
        apart = ~(above | above.T)
        mixture = mixture_of(matrix_of(case), rates_of(case), parents)
        for cell, scores in enumerate(pair_scores(case, parents)):
            expected = (
                log_mean(scores, np.eye(nodes, dtype=bool), nodes),
                log_mean(scores, np.ones_like(apart), nodes**2),
                log_mean(scores, apart, nodes**2),
            )
            found = (mixture.single[cell], mixture.pair[cell], mixture.relevant[cell])
            assert found == pytest.approx(expected, rel=1e-12)


@on_every_case
def test_best_pairs_are_those_of_brute_force(case: Case) -> None:
    parents = tree_of(case, 0)
    calls = call_doublets(matrix_of(case), rates_of(case), parents, RATE)
    for cell, scores in enumerate(pair_scores(case, parents)):
        found = scores[calls.first[cell], calls.second[cell]]
        assert found == pytest.approx(scores.max(), rel=1e-12)
    assert (calls.first <= calls.second).all()
    assert ((calls.probability >= 0) & (calls.probability <= 1)).all()


def shares_of(case: Case) -> NDArray[np.float64]:
    return np.random.default_rng(case.seed).dirichlet(np.full(case.n + 1, 0.5))


@on_every_case
def test_mixtures_with_shares_are_those_of_brute_force(case: Case) -> None:
    parents, shares = tree_of(case, 0), shares_of(case)
    weighed = np.outer(shares, shares)
    mixture = mixture_of(matrix_of(case), rates_of(case), parents, shares)
    calls = call_doublets(matrix_of(case), rates_of(case), parents, RATE, shares)
    pairs = weighed + weighed.T - np.diag(np.diag(weighed))
    for cell, scores in enumerate(pair_scores(case, parents)):
        single, pair = np.exp(np.diag(scores)) @ shares, (np.exp(scores) * weighed).sum()
        assert mixture.single[cell] == pytest.approx(math.log(single), rel=1e-9)
        assert mixture.pair[cell] == pytest.approx(math.log(pair), rel=1e-9)
        probability = RATE * pair / ((1 - RATE) * single + RATE * pair)
        assert calls.probability[cell] == pytest.approx(probability, rel=1e-9)
        likely = np.exp(scores) * pairs
        assert likely[calls.first[cell], calls.second[cell]] == pytest.approx(likely.max(), rel=1e-9)


@on_every_case
def test_fitted_shares_are_nearly_the_best(case: Case) -> None:
    parents = tree_of(case, 0)

    def worth(shares: NDArray[np.float64]) -> float:
        mixture = mixture_of(matrix_of(case), rates_of(case), parents, shares)
        return float(mixture.log_likelihoods(RATE).sum())

    found = fitted_shares(matrix_of(case), rates_of(case), parents, RATE)
    assert found.sum() == pytest.approx(1)
    rng = np.random.default_rng(1)
    others = [found * rng.uniform(0.5, 2.0, len(found)) for _ in range(30)]
    assert worth(found) > max(worth(other / other.sum()) for other in others) - 0.05
    assert worth(found) >= worth(np.full(len(found), 1 / len(found))) - 1e-6


@on_every_case
@pytest.mark.parametrize("rate", [1e-6, 0.2, 0.999])
def test_the_chains_score_is_nearly_the_log_likelihood(case: Case, rate: float) -> None:
    plan = plan_of(case, rate)
    for chain in range(3):
        state = initial_state(plan, case.seed, chain)
        exact = doublet_log_likelihood(matrix_of(case), rates_of(case), state.parents, rate)
        # A logarithm is rounded to 2^-16 octave; a weight, of which two paths have n each, to half of it.
        assert plan.problem.to_nats(state.score) == pytest.approx(exact, abs=case.m * 1e-5 * (2 + case.n))


def test_large_inputs_neither_overflow_nor_vanish() -> None:
    """Check likelihoods of e^-thousands, and cells with hundreds of mutations."""
    case = Case(700, 40)
    plan = plan_of(case)
    for chain in range(2):
        state = initial_state(plan, 1, chain)
        exact = doublet_log_likelihood(matrix_of(case), rates_of(case), state.parents, RATE)
        assert plan.problem.to_nats(state.score) == pytest.approx(exact, rel=1e-5)


def test_em_finds_the_rate_that_makes_the_tree_most_likely() -> None:
    case = Case(7, 60)
    mixture = mixture_of(matrix_of(case), rates_of(case), tree_of(case, 0))
    best = fitted_rate(mixture)
    grid = np.linspace(0.0005, 0.9995, 1000)
    likelihoods = [mixture.log_likelihoods(rate).sum() for rate in grid]
    assert mixture.log_likelihoods(best).sum() >= max(likelihoods) - 1e-6
    assert best == pytest.approx(grid[int(np.argmax(likelihoods))], abs=2e-3)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("run", "rate", "printed"),
    [
        ("doublet-fixed", 0.1, -744.30293974432175),
        ("doublet-learned", None, -735.19612778239662),
    ],
)
def test_trees_of_infscite_have_its_own_log_likelihood(
    shared_dir: Path, run: str, rate: float | None, printed: float
) -> None:
    """Score ∞SCITE's own best trees of pat_2; with a learned rate, EM finds the rate that it found."""
    matrix = read_matrix(shared_dir / "data" / "pat_2.csv", None)
    numbers = [str(number) for number in range(1, matrix.n_mutations + 1)]
    parents = read_tree(shared_dir / "reference" / "infscite-cli" / run / "out_map0.newick", numbers)
    rates = Rates(3.45e-3, 0.146)
    if rate is None:
        rate = fitted_rate(mixture_of(matrix, rates, parents))
        assert rate == pytest.approx(0.5164353081577169, abs=1e-6)
    assert doublet_log_likelihood(matrix, rates, parents, rate) == pytest.approx(printed, abs=1e-6)
