"""Errors of whole trees' scores, and whether the best tree is the same.

With an approximate power, the score is that of ∞SCITE: a sum over all pairs of nodes, of powers below the
largest one. Our device's scores are those of the integer definitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores.score import score_named
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublets import doublet_log_likelihood
from syclade.host.data.model.likelihood import summed_log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.kernels.scores.powers import FRACTION_BITS
from syclade.quality.oracle.trees import all_trees
from syclade.quality.studies.arithmetic.powers import POWERS, Power

__all__ = [
    "RATE",
    "RATES",
    "BestTrees",
    "best_trees",
    "exact_scores",
    "own_scores",
    "pair_score",
    "tree_errors",
]

Tree = NDArray[np.int32]
Score = Callable[[Matrix, Tree], float]

RATES = Rates(1e-3, 0.2)
RATE = 0.25
MISSING = 0.2


def pair_score(power: Power, matrix: Matrix, parents: Tree, *, rounded: bool = False) -> float:
    """Return the log-likelihood with doublets by sums over nodes and over pairs of nodes, in O(n²).

    Args:
        power: how powers are computed.
        matrix: the observed values.
        parents: parent vector.
        rounded: whether weights are rounded to units of scores, as chains do.
    """
    above = ancestor_matrix(parents)
    n = len(parents) - 1
    octaves = RATES.weights() / math.log(2.0)
    if rounded:
        octaves = np.rint(octaves * 2.0**FRACTION_BITS) / 2.0**FRACTION_BITS
    weights = octaves[matrix.values]
    singles = above[:n].astype(np.float64).T @ weights
    both = above[:n, :, None] | above[:n, None, :]
    pairs = both.reshape(n, -1).astype(np.float64).T @ weights
    base = RATES.log_table()[matrix.values, 0].sum(axis=0)
    single, pair = _mean(power, singles), _mean(power, pairs)
    mixed = np.logaddexp(math.log1p(-RATE) + single, math.log(RATE) + pair)
    return math.fsum((base + mixed).tolist())


def _mean(power: Power, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the mean over the rows of 2^score."""
    most = scores.max(axis=0)
    mean: NDArray[np.float64] = np.log(power.of(scores - most).mean(axis=0)) + most * math.log(2.0)
    return mean


def own_scores() -> dict[str, tuple[Score, Score]]:
    """Return our scores as on devices, each with the float64 score that it is compared with."""

    def made(name: str, doublets: float | None) -> Score:
        def of(matrix: Matrix, parents: Tree) -> float:
            problem = make_problem(matrix, RATES, octaves=True)
            score = score_named(name, problem, doublets)
            return problem.to_nats(score.of(problem, parents, problem.rates, score.defaults))

        return of

    of_doublets = made("max", RATE)
    return {
        "sum score of devices": (
            made("sum", None),
            lambda matrix, tree: summed_log_likelihood(matrix, RATES, tree),
        ),
        "doublet score of devices": (of_doublets, exact_scores),
        "doublet score, without the rounding of weights": (
            of_doublets,
            lambda matrix, tree: pair_score(POWERS[0], matrix, tree, rounded=True),
        ),
    }


def exact_scores(matrix: Matrix, parents: Tree) -> float:
    """Return the log-likelihood with doublets in float64."""
    return doublet_log_likelihood(matrix, RATES, parents, RATE)


def tree_errors(mutations: int, cells: int, seeds: Sequence[int]) -> dict[str, float]:
    """Return the largest relative error of the scores of simulated trees, by the name of the arithmetic."""
    errors: dict[str, float] = {}

    def note(name: str, found: float, exact: float) -> None:
        errors[name] = max(errors.get(name, 0.0), abs(found - exact) / abs(exact))

    for seed in seeds:
        one = simulate(cells, mutations, RATES.fp_rate, RATES.fn_rate, MISSING, seed, doublets=RATE)
        exact = exact_scores(one.matrix, one.parents)
        for power in POWERS:
            note(power.name, pair_score(power, one.matrix, one.parents), exact)
        for name, (found, definition) in own_scores().items():
            note(name, found(one.matrix, one.parents), definition(one.matrix, one.parents))
    return errors


@dataclass(frozen=True)
class BestTrees:
    """How often an arithmetic has the best tree of the exact score, over all trees of small inputs.

    Attributes:
        inputs: number of inputs.
        same: number of inputs for which the best trees are the same.
        lost: largest difference in exact log-likelihood between the two, in nats.
    """

    inputs: int
    same: int
    lost: float


def best_trees(mutations: int, cells: int, seeds: Sequence[int]) -> dict[str, BestTrees]:
    """Compare the best of all trees under each arithmetic with that of the exact score.

    Args:
        mutations: number of mutations, at most 5; there are (n + 1)^(n - 1) trees.
        cells: number of cells.
        seeds: one per input.
    """
    lost: dict[str, list[float]] = {}
    trees = [np.array(tree, dtype=np.int32) for tree in all_trees(mutations)]
    for seed in seeds:
        one = simulate(cells, mutations, RATES.fp_rate, RATES.fn_rate, MISSING, seed, doublets=RATE)
        exact = [exact_scores(one.matrix, tree) for tree in trees]
        for power in POWERS:
            found = [pair_score(power, one.matrix, tree) for tree in trees]
            lost.setdefault(power.name, []).append(_lost(exact, found))
        for name, (of, definition) in own_scores().items():
            true = [definition(one.matrix, tree) for tree in trees]
            lost.setdefault(name, []).append(_lost(true, [of(one.matrix, tree) for tree in trees]))
    return {
        name: BestTrees(len(values), sum(value < 1e-9 for value in values), max(values))
        for name, values in lost.items()
    }


def _lost(exact: Sequence[float], found: Sequence[float]) -> float:
    """Return by how much the exact score of the best tree by `found` is below the best."""
    return max(exact) - exact[int(np.argmax(found))]
