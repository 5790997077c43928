"""Enumerated proposal kernel: detailed balance, ergodicity, exact posterior, and what breaks them."""

import random
from fractions import Fraction

import numpy as np
import pytest

from syclade.quality.oracle import acceptance, chain, enumeration, score, trees
from syclade.quality.oracle.proposal import move_cuts

CUTS = move_cuts(0.5, 0.3, 0.2)


def random_weights(n: int, seed: int) -> dict[trees.ParentVector, Fraction]:
    draw = random.Random(seed)
    return {tree: Fraction(draw.randint(1, 1000)) for tree in trees.all_trees(n)}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_proposals_of_every_tree_sum_to_one(n: int) -> None:
    probabilities = enumeration.move_probabilities(CUTS)
    assert sum(probabilities) == 1
    for tree in trees.all_trees(n):
        assert sum(way.probability for way in enumeration.proposals(tree, probabilities)) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_detailed_balance_holds_exactly_for_any_weights(n: int) -> None:
    kernel = enumeration.kernel(n, CUTS)
    for seed in range(3):
        assert enumeration.imbalance(kernel, random_weights(n, seed)) == 0


def test_detailed_balance_of_five_mutations() -> None:
    assert enumeration.imbalance(enumeration.kernel(5, CUTS), random_weights(5, 0)) == 0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_factor_of_the_thesis_breaks_detailed_balance(n: int) -> None:
    kernel = enumeration.kernel(n, CUTS, enumeration.thesis_factor)
    assert enumeration.imbalance(kernel, random_weights(n, 0)) > 0


def test_no_factor_breaks_detailed_balance() -> None:
    kernel = enumeration.kernel(4, CUTS, lambda tree, lower, upper: Fraction(1))
    assert enumeration.imbalance(kernel, random_weights(4, 0)) > 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_chain_is_ergodic(n: int) -> None:
    assert enumeration.is_ergodic(enumeration.kernel(n, CUTS))


def test_label_swaps_alone_are_not_ergodic() -> None:
    assert not enumeration.is_ergodic(enumeration.kernel(3, move_cuts(0, 1, 0)))


def test_posterior_is_the_stationary_distribution() -> None:
    kernel = enumeration.kernel(3, CUTS)
    scores = np.random.default_rng(4).normal(0, 2, len(kernel))
    posterior = enumeration.exact_posterior(scores, 1.5)
    assert posterior.sum() == pytest.approx(1)
    moved = posterior @ enumeration.transition_matrix(kernel, scores, 1.5)
    np.testing.assert_allclose(moved, posterior, rtol=0, atol=1e-14)


def test_factor_of_the_thesis_has_another_stationary_distribution() -> None:
    """Only the subtree swaps differ; here they shift the distribution by more than 1 % in total variation."""
    kernel = enumeration.kernel(3, move_cuts(0.1, 0.1, 0.8), enumeration.thesis_factor)
    scores = np.random.default_rng(4).normal(0, 2, len(kernel))
    matrix = enumeration.transition_matrix(kernel, scores, 1.0)
    stationary = np.linalg.matrix_power(matrix, 1 << 12)[0]
    posterior = enumeration.exact_posterior(scores, 1.0)
    assert 0.5 * np.abs(stationary - posterior).sum() > 0.01


@pytest.mark.statistical
def test_oracle_chain_visits_its_posterior() -> None:
    """Check the integer chain, from random words to acceptance, on all 16 trees of three mutations."""
    matrix = np.array([[1, 1, 0, 3], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=np.uint8)
    weights, f = [-40_000, 60_000, 0, 0], 16
    all_trees = list(trees.all_trees(3))
    scores = np.array([score.tree_score(tree, matrix, weights) for tree in all_trees]) / 2**f
    posterior = enumeration.exact_posterior(scores, 1.0)
    visits = dict.fromkeys(all_trees, 0)
    logs = acceptance.tables(f, 1.0, 3)
    tree, samples = all_trees[0], 3000
    for sample in range(samples):
        tree = chain.run(tree, matrix, weights, 9, 0, 4, CUTS, logs, first_step=4 * sample).final
        visits[tree] += 1
    distance = 0.5 * np.abs(np.array(list(visits.values())) / samples - posterior).sum()
    # Independent samples would give about 0.02; these are thinned, not independent.
    assert distance < 0.05
