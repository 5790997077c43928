"""Target with learned rates: states are trees with grid positions of the rates, on grids of few points.

Jumps are walked step by step, and turn where a grid ends. The chain's own arithmetic is not used.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.data.model.rate_grid import RateGrid, RatePrior
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import Rates
from syclade.quality.oracle import enumeration
from syclade.quality.oracle.leaf_enumeration import leaf_kernel
from syclade.quality.oracle.proposal import Cuts
from syclade.quality.oracle.trees import ParentVector

__all__ = [
    "DOUBLET_POINTS",
    "LEAF_POINTS",
    "POINTS",
    "few_points",
    "joint_scores",
    "joint_transitions",
    "jump_imbalance",
    "places_of",
]

POINTS = {2: (8, 4), 3: (8, 4), 4: (8, 1)}
"""Points of the fn and fp grids, by mutations: more than some thousand states make too large a matrix."""

LEAF_POINTS = {3: (8, 4), 4: (8, 4), 5: (8, 1)}
"""The same for cell trees, by cells."""

ALL = 65536


DOUBLET_POINTS = {2: (4, 2, 4), 3: (4, 2, 4), 4: (2, 1, 4)}
"""The same with doublets: points of the fn, fp and doublets grids, by mutations."""


def few_points(
    rates: Rates,
    points: tuple[int, ...],
    doublets: float | None = None,
    unmutated: tuple[int, int] = (0, 0),
) -> RateModel:
    """Return learned rates with coarse grids and wide priors, so that both the data and the priors matter.

    Args:
        rates: means of the priors; that of the false negative rate also includes `fn_rate_hom`.
        points: numbers of points of the fn and fp grids; 1 point for fp_rate leaves it fixed. With doublets,
            the third number is that of their grid.
        doublets: mean of the prior of the rate of doublets; None for none.
        unmutated: observations of 0 and of 1 at positions left out of the matrix.
    """
    fn_points, fp_points, *more = points
    missed = rates.fn_rate + (rates.fn_rate_hom or 0.0)
    begin = 2.0 * (rates.hom_rate or 0.0)
    fn = RateGrid(RatePrior("fn_rate", 0.3, missed, 0.15, 0.1), 0.75, begin, fn_points)
    fp = RateGrid(RatePrior("fp_rate", 0.2, rates.fp_rate, 0.05, 0.06, unmutated), 0.2, 0.0, fp_points)
    pairs = None
    if doublets is not None:
        pairs = RateGrid(RatePrior("doublets", 0.2, doublets, 0.2, 0.15), 0.8, 0.0, more[0])
    return RateModel(rates, fn, None if fp_points == 1 else fp, pairs)


def places_of(plan: Plan) -> list[Places]:
    """Return all combinations of grid positions of the rates, in the order of the states."""
    fn, fp, doublets = map(range, plan.problem.rate_tables.model.points)
    return list(product(fn, fp, doublets))


def joint_scores(plan: Plan, trees: tuple[ParentVector, ...]) -> NDArray[np.float64]:
    """Return the integer scores of all trees with all grid positions: float64, shape (trees, places)."""
    return np.array(
        [
            [plan.score_of(np.array(tree, dtype=np.int32), rate_at=places) for places in places_of(plan)]
            for tree in trees
        ],
        dtype=np.float64,
    )


def joint_transitions(plan: Plan, nats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each step between states: float64, shape (states, states), rows sum to 1.

    Args:
        plan: the chain.
        nats: scores of all trees with all grid positions, natural log: float64, shape (trees, places).
    """
    of_trees, of_places = nats.shape
    joint = np.zeros((of_trees, of_places, of_trees, of_places))
    below = (0, *plan.move_below)
    shares = [(end - start) / ALL for start, end in pairwise(below)]
    of_moves = _kernels_of_moves(plan)
    for share, kernel in zip(shares, of_moves, strict=False):
        for place in range(of_places):
            joint[:, place, :, place] += share * enumeration.transition_matrix(
                kernel, nats[:, place], plan.gamma
            )
    for share, jumps in zip(shares[len(of_moves) :], _jumps(plan), strict=True):
        for tree in range(of_trees):
            joint[tree, :, tree, :] += share * _accepted(jumps, nats[tree], plan.gamma)
    return joint.reshape(nats.size, nats.size)


def _kernels_of_moves(plan: Plan) -> list[enumeration.Kernel]:
    """Return the proposals of each move of trees."""
    if plan.problem.of_cells:
        return [leaf_kernel(len(plan.problem.column_of), cut) for cut in (ALL, 0)]
    only = (Cuts(ALL, ALL), Cuts(0, ALL), Cuts(0, 0))
    return [enumeration.kernel(plan.problem.mutations, cuts) for cuts in only]


def jump_imbalance(plan: Plan) -> Fraction:
    """Return the largest difference between the probabilities of a jump and its reverse; 0 if symmetric."""
    return max(Fraction(float(np.abs(jumps - jumps.T).max())) for jumps in _jumps(plan))


def _accepted(jumps: NDArray[np.float64], nats: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """Return the jump probabilities after Metropolis acceptance; rejected jumps stay where they are."""
    taken = jumps * np.exp(np.minimum(0.0, gamma * (nats[None, :] - nats[:, None])))
    taken[np.diag_indices_from(taken)] += 1.0 - taken.sum(axis=1)
    return np.asarray(taken)


def _jumps(plan: Plan) -> list[NDArray[np.float64]]:
    """Return, for each learned rate, the probability of each jump: float64, shape (places, places)."""
    learned, places = plan.problem.rate_tables.model, places_of(plan)
    number = {place: at for at, place in enumerate(places)}
    found = []
    for rate, points in enumerate(learned.points):
        if points == 1:
            continue
        jumps = np.zeros((len(places), len(places)))
        lengths = learned.jumps[rate].tolist()
        for here in places:
            for length in lengths:
                for way in (1, -1):
                    there = list(here)
                    there[rate] = walked(here[rate], way, length, points)
                    jumps[number[here], number[there[0], there[1], there[2]]] += 1 / (2 * len(lengths))
        found.append(jumps)
    return found


def walked(place: int, way: int, length: int, points: int) -> int:
    """Return the end of a walk that turns around, and loses a step, where it would leave the grid."""
    for _ in range(length):
        if 0 <= place + way < points:
            place += way
        else:
            way = -way
    return place
