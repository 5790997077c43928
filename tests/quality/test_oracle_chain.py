"""Oracle: scores, the integer logarithm, and whole chains."""

import math

import numpy as np
import pytest

from syclade.quality.oracle import acceptance, chain, score, trees
from syclade.quality.oracle.proposal import Kind, move_cuts

WEIGHTS = [-3000, 9000, 0, 0]
DEFAULT_CUTS = move_cuts(0.55, 0.4, 0.05)
EDGE_WORDS = sorted({word for k in range(33) for word in ((1 << k) - 1, (1 << k) // 2, 3 << k >> 2)})


def random_matrix(n: int, m: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    values = np.random.default_rng(seed).choice([0, 1, 3], size=(n, m), p=[0.4, 0.4, 0.2])
    return values.astype(np.uint8)


def test_score_by_hand() -> None:
    # root 3 - 0 - 1, 3 - 2; columns are cells
    matrix = np.array([[1, 1, 0], [0, 1, 3], [0, 1, 0]], dtype=np.uint8)
    # cell 0 at node 0: 9000; cell 1 at node 1: 18000; cell 2 at the root: 0
    assert score.tree_score((3, 0, 3, 3), matrix, WEIGHTS) == 27_000
    # on the path 0 - 1 - 2 cell 1 has all three
    assert score.tree_score((3, 0, 1, 3), matrix, WEIGHTS) == 36_000


def test_score_is_the_recursion_over_the_ancestor_matrix() -> None:
    matrix = random_matrix(4, 6, 1)
    cell_weights = np.array(WEIGHTS)[matrix]
    for tree in trees.all_trees(4):
        mutations_above = trees.ancestor_matrix(tree)[:4].astype(int)
        by_matrix = (mutations_above.T @ cell_weights).max(axis=0).sum()
        assert score.tree_score(tree, matrix, WEIGHTS) == by_matrix


@pytest.mark.parametrize(("f", "gamma"), [(16, 1.0), (20, 0.25), (10, 50.0), (24, 3.0), (0, 1.0)])
def test_exponential_is_close_never_negative_and_falling(f: int, gamma: float) -> None:
    logs = acceptance.tables(f, gamma, 5)
    unit = 2.0**f / gamma
    random = np.random.default_rng(3).integers(0, 1 << 32, 2000).tolist()
    words = sorted({*EDGE_WORDS, *random, (1 << 32) - 1})
    values = [acceptance.exponential(word, logs) for word in words]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0
    for word, value in zip(words, values, strict=True):
        u = (word + 0.5) / 2**32
        rounding = (33 - math.floor(math.log2(2 * word + 1))) / 2 + 1.5
        error = value + math.log(u) * unit
        assert -rounding <= error <= rounding + unit * 2.0**-19


def test_tables_refuse_a_gamma_that_is_none() -> None:
    with pytest.raises(ValueError, match="gamma"):
        acceptance.tables(16, 0.0, 3)


@pytest.mark.parametrize("delta", [-400_000, -65_536, -1000, -1, 0, 1])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 1), (1, 4)])
def test_acceptance_probability(delta: int, sizes: tuple[int, int]) -> None:
    """The share of accepting words is min(1, f exp(γ Δ)), to the accuracy of E."""
    f, gamma = 16, 2.0
    logs = acceptance.tables(f, gamma, 4)
    count = acceptance.accepted_words(delta, sizes, logs)
    exact = min(1.0, sizes[0] / sizes[1] * math.exp(gamma * delta / 2**f))
    assert count / 2**32 == pytest.approx(exact, rel=1e-3, abs=2**-32)
    for word in {max(count - 1, 0), min(count, (1 << 32) - 1)}:
        assert acceptance.accepts(delta, sizes, word, logs) == (word < count)


def test_chain_keeps_its_books() -> None:
    n, m = 5, 8
    matrix = random_matrix(n, m, 7)
    start = next(trees.all_trees(n))
    logs = acceptance.tables(12, 1.0, n)
    trace = chain.run(start, matrix, WEIGHTS, 11, 2, 400, DEFAULT_CUTS, logs)
    scores = [step.score for step in trace.steps]
    assert scores[-1] == score.tree_score(trace.final, matrix, WEIGHTS)
    assert trace.best_score == score.tree_score(trace.best, matrix, WEIGHTS)
    assert trace.best_score == max(scores[0], *scores, score.tree_score(start, matrix, WEIGHTS))
    assert {step.kind for step in trace.steps} >= {Kind.PRUNE, Kind.SWAP_LABELS, Kind.SWAP_RELATED}
    assert 0 < sum(step.accepted for step in trace.steps) < 400
    for before, after in zip(trace.steps, trace.steps[1:], strict=False):
        assert after.accepted or after.score == before.score


def test_chain_resumes_at_any_step() -> None:
    matrix = random_matrix(4, 5, 8)
    logs = acceptance.tables(12, 1.0, 4)
    start = (4, 0, 1, 2, 4)
    whole = chain.run(start, matrix, WEIGHTS, 1, 0, 120, DEFAULT_CUTS, logs)
    first = chain.run(start, matrix, WEIGHTS, 1, 0, 50, DEFAULT_CUTS, logs)
    second = chain.run(first.final, matrix, WEIGHTS, 1, 0, 70, DEFAULT_CUTS, logs, first_step=50)
    assert first.steps + second.steps == whole.steps
    assert second.final == whole.final


def test_flat_scores_keep_the_first_best_tree() -> None:
    matrix = np.full((3, 4), 3, dtype=np.uint8)
    start = (1, 2, 3, 3)
    trace = chain.run(start, matrix, WEIGHTS, 1, 0, 50, DEFAULT_CUTS, acceptance.tables(16, 1.0, 3))
    assert trace.best == start
    assert trace.best_score == 0
    assert trace.final != start
    assert all(step.accepted for step in trace.steps if step.kind is not Kind.SWAP_RELATED)


def test_one_mutation() -> None:
    matrix = np.array([[1, 0, 3]], dtype=np.uint8)
    trace = chain.run((1, 1), matrix, WEIGHTS, 1, 0, 60, DEFAULT_CUTS, acceptance.tables(16, 1.0, 1))
    assert {step.kind for step in trace.steps} == {Kind.PRUNE, Kind.NULL}
    assert all(step == (9000, True, step.kind) for step in trace.steps)
