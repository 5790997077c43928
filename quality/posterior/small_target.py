"""Enumerable target: a small problem, all its trees, their posterior, and the chain's transitions.

Everything follows from the definition of the moves (`oracle.enumeration`) and the problem's integer scores.
So the target is exactly that of the chain, not that of slightly different error rates.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan, make_leaf_plan, make_plan
from syclade.host.chains.scores.score import ScoreOptions, score_named, space_of
from syclade.host.data.model.problem import make_leaf_problem, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle import enumeration
from syclade.quality.oracle.leaf import clades_below
from syclade.quality.oracle.leaf_enumeration import leaf_kernel, tree_name
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector
from syclade.quality.posterior.learned_target import (
    DOUBLET_POINTS,
    LEAF_POINTS,
    POINTS,
    few_points,
    joint_scores,
    joint_transitions,
    jump_imbalance,
    places_of,
)

__all__ = [
    "LEAF_MOVE_PROBABILITIES",
    "MOVE_PROBABILITIES",
    "Target",
    "make_target",
    "small_leaf_plan",
    "small_plan",
]

MUTATIONS = range(2, 6)
"""Numbers of mutations, with 3, 16, 125 and 1296 trees; 6 have 16807, too many for a dense matrix."""

MOVE_PROBABILITIES = (0.3, 0.3, 0.4)
"""Far more subtree swaps than by default: only they have a neighbourhood correction that could be wrong."""

LEAF_MOVE_PROBABILITIES = (0.4, 0.6)
"""Prune and reattach, swap leaves: SCITE's values."""

LEAVES = range(3, 6)
"""Numbers of cells, with 3, 15 and 105 cell trees."""

CELLS = 8
"""Other dimension of the matrix: cells for mutation trees, mutations for cell trees."""

RATES = Rates(0.1, 0.3)
ZYGOSITY_RATES = Rates(0.1, 0.2, 0.25, 0.15)
"""A homozygous observation tells much less than a heterozygous one, so that confusing them is detected."""
LEARNED_ZYGOSITY_RATES = Rates(0.1, 0.2, 0.2, 0.05)
"""Both false negative rates are half of the learned one."""
MISSING = 0.1
MATRIX_SEED = 1
"""Seed of the matrix. With few cells and high error rates, the posterior covers many trees, and the chain
moves quickly between them."""

DEPENDENCE = 0.02
"""Allowed increase of the expected chi-square by the correlation of reads, in its standard deviations."""

START_LEFT = 1e-3
"""Influence of the uniform start that is left at the first read: root mean square, over the posterior, of the
relative error of a tree's probability."""

SLOWEST = 1 - 1e-7
"""Largest modulus of an eigenvalue at which sampling is feasible."""

BALANCE_WEIGHTS = 3
"""Number of sets of random rational tree weights, besides the posterior, for checking detailed balance."""


@dataclass(frozen=True)
class Target:
    """Exact distribution and transitions of a chain on a small problem.

    Attributes:
        plan: the chain, with its moves, score and gamma.
        trees: all (n + 1)^(n - 1) parent vectors; for cell trees, one parent vector per tree.
        starts: float64, shape (states,): distribution of a chain before its first step. States are trees;
            with learned rates, they are trees with all grid positions of the rates (`learned_target.py`),
            grouped by tree.
        posterior: float64, shape (states,): exp(gamma * score), normalised.
        transitions: float64, shape (states, states): probability of each step, rows sum to 1.
        imbalance: exact violation of detailed balance: 0 iff it holds (`enumeration.imbalance`).
        spectrum: float64, shape (states - 1,): moduli of the transitions' eigenvalues except the largest, 1;
            descending.
    """

    plan: Plan
    trees: tuple[ParentVector, ...]
    starts: NDArray[np.float64]
    posterior: NDArray[np.float64]
    transitions: NDArray[np.float64]
    imbalance: Fraction
    spectrum: NDArray[np.float64]

    @property
    def size(self) -> str:
        """Size of the trees as text."""
        problem = self.plan.problem
        return f"{len(problem.column_of)} cells" if problem.of_cells else f"{problem.mutations} mutations"

    def name_of(self, parents: NDArray[np.int32]) -> ParentVector:
        """Return the parent vector in `trees` that names this tree."""
        named: list[int] = parents.tolist()
        return tree_name(frozenset(clades_below(named))) if self.plan.problem.of_cells else tuple(named)

    @property
    def relaxation_steps(self) -> float:
        """Number of steps in which the slowest correlation falls to 1/e."""
        return -1 / math.log(self.spectrum[0])

    @property
    def burn_in(self) -> int:
        """Number of steps before the first read, from `starts` (see `START_LEFT`).

        In that norm, a reversible chain approaches its posterior at least as fast as its slowest mode decays.
        """
        distance = math.sqrt(float((self.starts**2 / self.posterior).sum()) - 1)
        return max(1, math.ceil(math.log(distance / START_LEFT) * self.relaxation_steps))

    @property
    def thinning(self) -> int:
        """Number of steps between reads, at least 2, so that the reads count as independent.

        For a reversible chain, Pearson's statistic has the mean Σ (1 + ρ) / (1 - ρ) over the eigenvalues,
        where ρ is the eigenvalue to the power of the number of steps. The mean may exceed that of independent
        samples by DEPENDENCE standard deviations.
        """
        allowed = DEPENDENCE * math.sqrt(2 * len(self.spectrum))
        steps = 2
        while True:
            correlations = self.spectrum**steps
            if float((2 * correlations / (1 - correlations)).sum()) <= allowed:
                return steps
            steps += max(1, steps // 50)


def small_plan(
    mutations: int,
    gamma: float,
    move_probabilities: tuple[float, float, float] = MOVE_PROBABILITIES,
    *,
    zygosity: bool = False,
    score: str = "max",
    doublets: float | None = None,
    learn: bool = False,
    unmutated: tuple[int, int] = (0, 0),
) -> Plan:
    """Return the chain of the check, on a fixed simulated matrix of CELLS cells.

    Args:
        mutations: one of MUTATIONS; with `learn`, a key of POINTS.
        gamma, move_probabilities: parameters of the chain.
        zygosity: whether some observations are homozygous, with their own rates.
        score, doublets: see `ScoreOptions`.
        learn: whether the error rates are learned.
        unmutated: with `learn`, observations of 0 and of 1 at positions left out of the matrix.

    Raises:
        OptionError: the number of mutations is not allowed, or gamma or the move probabilities are invalid.
    """
    if mutations not in MUTATIONS:
        raise OptionError(
            f"{mutations} mutations cannot be enumerated here",
            hint=f"use {MUTATIONS[0]} to {MUTATIONS[-1]} mutations",
        )
    if learn and mutations not in POINTS:
        raise OptionError(
            f"{mutations} mutations and rates cannot be enumerated here",
            hint=f"use {min(POINTS)} to {max(POINTS)}",
        )
    rates = _rates(zygosity, learn)
    matrix = simulate(CELLS, mutations, missing=MISSING, seed=MATRIX_SEED, **rates.to_dict()).matrix
    points = POINTS if doublets is None else DOUBLET_POINTS
    model = few_points(rates, points[mutations], doublets, unmutated) if learn else None
    scored = ScoreOptions(score, doublets)
    problem = make_problem(matrix, rates, octaves=scored.octaves, model=model)
    return make_plan(
        problem,
        gamma=gamma,
        move_probabilities=move_probabilities,
        score=score_named(score, problem, doublets),
        space=space_of(scored),
    )


def small_leaf_plan(
    cells: int,
    gamma: float,
    move_probabilities: tuple[float, float] = LEAF_MOVE_PROBABILITIES,
    *,
    zygosity: bool = False,
    learn: bool = False,
) -> Plan:
    """Return the chain of the check for cell trees, on a fixed simulated matrix of CELLS mutations.

    Args:
        cells: one of LEAVES.
        gamma, move_probabilities, zygosity, learn: as for `small_plan`.

    Raises:
        OptionError: `cells` is not in LEAVES, or gamma or the move probabilities are invalid.
    """
    if cells not in LEAVES:
        raise OptionError(
            f"trees of {cells} cells are too few or too many here",
            hint=f"use {LEAVES[0]} to {LEAVES[-1]} cells",
        )
    rates = _rates(zygosity, learn)
    matrix = simulate(cells, CELLS, missing=MISSING, seed=MATRIX_SEED, **rates.to_dict()).matrix
    model = few_points(rates, LEAF_POINTS[cells]) if learn else None
    problem = make_leaf_problem(matrix, rates, model=model)
    return make_leaf_plan(problem, gamma=gamma, move_probabilities=move_probabilities)


def _rates(zygosity: bool, learn: bool) -> Rates:
    if not zygosity:
        return RATES
    return LEARNED_ZYGOSITY_RATES if learn else ZYGOSITY_RATES


def make_target(plan: Plan) -> Target:
    """Enumerate a small problem; this takes a moment for 4 mutations, some ten seconds for 5.

    Raises:
        OptionError: with the plan's gamma and move probabilities, the chain hardly moves between the trees.
    """
    problem, gamma = plan.problem, plan.gamma
    kernel = _kernel(plan)
    trees = tuple(kernel)
    if not problem.learns:
        places, start = 1, 0
        nats = np.array([score_of(plan, tree) for tree in trees], dtype=np.float64) * problem.unit
        transitions = enumeration.transition_matrix(kernel, nats, gamma)
        tilt = Fraction(0)
    else:
        places, start = len(places_of(plan)), places_of(plan).index(plan.start_rates)
        joint = joint_scores(plan, trees) * problem.unit
        nats, transitions = joint.ravel(), joint_transitions(plan, joint)
        tilt = jump_imbalance(plan)
    posterior = enumeration.exact_posterior(nats, gamma)
    starts = np.zeros(len(posterior))
    starts[start::places] = 1 / len(trees)
    spectrum = _spectrum(transitions, posterior)
    if not spectrum[0] < SLOWEST:
        raise OptionError(
            f"with gamma {gamma:g} and these move probabilities the chain hardly moves",
            hint="use a gamma near 1, and give prune and reattach a chance",
        )
    return Target(
        plan=plan,
        trees=trees,
        starts=starts,
        posterior=posterior,
        transitions=transitions,
        imbalance=_imbalance(kernel, trees, posterior[start::places]) + tilt,
        spectrum=spectrum,
    )


def _kernel(plan: Plan) -> enumeration.Kernel:
    """Return all proposals of all trees."""
    if plan.problem.of_cells:
        return leaf_kernel(len(plan.problem.column_of), plan.move_below[0])
    return enumeration.kernel(plan.problem.mutations, Cuts(*plan.move_below[:2]))


def score_of(plan: Plan, tree: ParentVector) -> int:
    """Return the integer score of a tree."""
    return plan.score_of(np.array(tree, dtype=np.int32))


def _imbalance(
    kernel: enumeration.Kernel, trees: tuple[ParentVector, ...], posterior: NDArray[np.float64]
) -> Fraction:
    """Return the largest imbalance for the posterior (its float64 values as fractions) and random weights."""
    draw = random.Random(MATRIX_SEED)
    weights = [{tree: Fraction(float(p)) for tree, p in zip(trees, posterior, strict=True)}]
    if len(trees) <= 125:  # exact fractions are slow for 1296 trees
        weights += [{tree: Fraction(draw.randint(1, 1000)) for tree in trees} for _ in range(BALANCE_WEIGHTS)]
    return max(enumeration.imbalance(kernel, each) for each in weights)


def _spectrum(transitions: NDArray[np.float64], posterior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the moduli of all eigenvalues but the largest, 1; scaling makes a reversible chain symmetric."""
    root = np.sqrt(posterior)
    scaled = root[:, None] * transitions / root
    moduli = np.sort(np.abs(np.linalg.eigvalsh((scaled + scaled.T) / 2)))[::-1]
    return np.asarray(moduli[1:], dtype=np.float64)
