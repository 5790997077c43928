"""Scores of trees with a recurrent mutation (docs/model.md, "Recurrence").

The mutation is a setting of the slot, so that chains of one plan may test different mutations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores.doublets import ONE, ZERO, Number, factor_of, logarithm_of, with_doublets
from syclade.host.chains.scores.score import BEST_ATTACHMENT, Score
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.copy_scores import (
    call_doublets_with_copy,
    log_likelihood_with_copy,
    mixture_log_likelihood,
    posteriors_with_copy,
    summed_log_likelihood_with_copy,
)
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.model.recurrence import genotypes_of, is_allowed
from syclade.host.data.trees.tree import children, preorder
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.kernels.parities.parts import FORBIDDEN, RECURRENT
from syclade.kernels.scores.powers import FRACTION_BITS
from syclade.kernels.sums.rates import DOUBLETS, SHARES

__all__ = ["with_recurrence"]

TWO = Number(ONE.mantissa, 1)


def with_recurrence(problem: Problem, mutation: int, doublets: float | None, name: str = "max") -> Score:
    """Return the score of trees in which a mutation has two nodes.

    Args:
        problem: its last mutation is the copy, missing in all cells; scores are in octaves with doublets, and
            for the sum score.
        mutation: number of the recurrent mutation, unless a slot's setting `recurrent` has another.
        doublets: rate of doublets, or the mean of its prior; None for a model without.
        name: max or sum: the score without doublets.

    Raises:
        MatrixError: the scores of a cell are too large, except for the maximum score.
    """
    if doublets is None and name == "sum":
        return _sum(problem, mutation)
    if doublets is None:
        return replace(
            BEST_ATTACHMENT,
            of=_of_best,
            device="syclade.kernels.scores.recurrent_max:SCORE",
            numpy="syclade.fallback.scores.recurrent_max:SCORE",
            log_likelihood=partial(log_likelihood_with_copy, mutation=mutation),
            defaults={RECURRENT.name: mutation},
        )
    base, grid = with_doublets(problem, doublets), problem.rate_tables.model.doublets
    if grid is None:
        return _mixture(base, doublets, mutation)
    of_base, rates = base.at, grid.rates
    assert of_base is not None

    def at(places: Places) -> Score:
        score = of_base(places)
        found = _mixture(score, float(rates[places[DOUBLETS]]), mutation)
        return replace(found, defaults=score.defaults)  # the mutation does not follow from the rates

    return replace(_mixture(base, doublets, mutation), at=at)


def _mixture(base: Score, rate: float, mutation: int) -> Score:
    """Return the score with doublets of a recurrent mutation, given that without one at the same rate."""
    return replace(
        base,
        of=_of_pairs,
        device="syclade.kernels.scores.recurrent_doublets:SCORE",
        numpy="syclade.fallback.scores.recurrent_doublets:SCORE",
        log_likelihood=partial(mixture_log_likelihood, mutation=mutation, rate=rate),
        detail=partial(_with_calls, rate, mutation),
        defaults={**base.defaults, RECURRENT.name: mutation},
        at=None,
    )


def _sum(problem: Problem, mutation: int) -> Score:
    """Return the sum score: that with doublets, with a share of 1 for single cells and of 0 for pairs."""
    if problem.scale_bits != FRACTION_BITS:
        raise MatrixError(
            f"{problem.mutations} mutations, with these error rates, are too many for the sum score",
            hint=f"use {flag_of('score')} max, or larger error rates",
        )
    return Score(
        name="sum",
        of=_of_pairs,
        device="syclade.kernels.scores.recurrent_doublets:SCORE",
        numpy="syclade.fallback.scores.recurrent_doublets:SCORE",
        log_likelihood=partial(summed_log_likelihood_with_copy, mutation=mutation),
        detail=partial(_with_posteriors, mutation),
        defaults={
            **dict(zip(SHARES, (*ONE, *ZERO), strict=True)),
            "pair_count": 0,
            RECURRENT.name: mutation,
        },
    )


def _with_posteriors(
    mutation: int, assignment: Assignment, matrix: Matrix, rates: ObservationModel, parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment with each cell's probability of its node."""
    found = posteriors_with_copy(matrix, rates, parents, mutation, assignment.node)
    return replace(assignment, posterior=found)


def _with_calls(
    rate: float,
    mutation: int,
    assignment: Assignment,
    matrix: Matrix,
    rates: ObservationModel,
    parents: NDArray[np.int32],
) -> Assignment:
    """Return the assignment with the calls of doublets."""
    return replace(assignment, doublets=call_doublets_with_copy(matrix, rates, parents, mutation, rate))


def _of_best(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the sum over all cells of the score at the best node, relative to the root's score."""
    mutation = settings[RECURRENT.name]
    if not is_allowed(parents, mutation):
        return FORBIDDEN * int(problem.multiplicity.sum())
    has = genotypes_of(parents, mutation).astype(np.int64)
    scores = has.T @ problem.weight_rows(rates).astype(np.int64)
    return int(scores.max(axis=0) @ problem.multiplicity)


def _of_pairs(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the sum over all cells of the log of the mean over singles and pairs of nodes."""
    mutation = settings[RECURRENT.name]
    if not is_allowed(parents, mutation):
        return FORBIDDEN * int(problem.multiplicity.sum())
    single = Number(settings["single_share"], settings["single_exponent"])
    pair = Number(settings["pair_share"], settings["pair_exponent"])
    factors = [factor_of(weight) for weight in rates.weights]
    order, below = preorder(parents).tolist()[::-1], children(parents)
    score = 0
    for column, count in zip(problem.observed.T.tolist(), problem.multiplicity.tolist(), strict=True):
        singles, pairs = _sums(order, below, [factors[code] for code in column], mutation)
        score += count * (logarithm_of(single * singles + pair * pairs) - settings["pair_count"])
    return score


class _Parities(NamedTuple):
    """Sums over the nodes below a node, and over pairs of them, by the number of copies on the way there."""

    even: Number = ONE
    odd: Number = ZERO
    both_even: Number = ONE
    both_odd: Number = ZERO
    mixed: Number = ZERO


def _sums(
    order: list[int], below: list[list[int]], factors: list[Number], mutation: int
) -> tuple[Number, Number]:
    """Return a cell's sums over the nodes of the tree and over their pairs, relative to the root's score.

    Args:
        order: all nodes, children before their parents.
        below: children of each node, in ascending order.
        factors: 2^weight of what was observed, by mutation.
        mutation: the recurrent mutation; its copy is the last one.
    """
    copies = (mutation, len(order) - 2)
    found = [_Parities()] * len(order)
    for node in order:
        for child in below[node]:
            now, (even, odd, both_even, both_odd, mixed) = found[node], found[child]
            if child in copies:
                even, odd, both_even, both_odd = odd, even, both_odd, both_even
            else:
                even, odd, both_even, both_odd, mixed = (
                    one * factors[child] for one in (even, odd, both_even, both_odd, mixed)
                )
            found[node] = _Parities(
                now.even + even,
                now.odd + odd,
                now.both_even + TWO * now.even * even + both_even,
                now.both_odd + TWO * now.odd * odd + both_odd,
                now.mixed + TWO * now.even * odd + TWO * now.odd * even + mixed,
            )
    root, own = found[-1], factors[mutation]
    return root.even + root.odd * own, root.both_even + (root.both_odd + root.mixed) * own
