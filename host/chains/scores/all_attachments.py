"""The sum score: each cell's likelihood summed over all nodes (SCITE's -s; docs/model.md, "Scores").

With shares, each node counts by the share of the cells there, which the chains sample (docs/model.md,
"Shares").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import logarithm_of_two, power_of_two
from syclade.host.chains.scores.score import Score
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.likelihood import (
    attachment_posteriors,
    log_likelihood_at_fitted_shares,
    shared_attachment_posteriors,
    summed_log_likelihood,
)
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.tree import preorder
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.kernels.scores.powers import (
    FRACTION_BITS,
    LOGARITHM,
    MANTISSA_BITS,
    POWER,
)

__all__ = ["BLOCK", "all_attachments", "blocks_of_columns", "definition", "node_scores", "totals_of"]

SUM_BITS = 31
"""Bits of a sum of powers: it stays below 2^31."""

BLOCK = 2**16
"""Scores that are worked on at once."""


def all_attachments(problem: Problem, *, shares: bool = False) -> Score:
    """Return the sum score for a problem whose scores are in octaves.

    Args:
        problem: the problem.
        shares: whether nodes count by their shares of the cells.

    Raises:
        MatrixError: there are too many mutations for a sum of powers.
    """
    assert problem.octaves
    assert problem.scale_bits <= FRACTION_BITS
    # A power is below 2 * 2^24 units; each spare bit halves it.
    spare = max(0, (problem.nodes - 1).bit_length() + MANTISSA_BITS + 1 - SUM_BITS)
    if spare > MANTISSA_BITS - 8:
        raise MatrixError(
            f"{problem.mutations} mutations are too many for the sum score",
            hint=f"use {flag_of('score')} max",
        )
    return Score(
        name="shares" if shares else "sum",
        log_likelihood=log_likelihood_at_fitted_shares if shares else summed_log_likelihood,
        detail=_with_shared_posteriors if shares else _with_posteriors,
        of=_of,
        device="syclade.kernels.scores.all_attachments:SCORE",
        numpy="syclade.fallback.scores.all_attachments:SCORE",
        shares=shares,
        defaults={"sum_fraction": problem.scale_bits, "sum_spare": spare},
    )


def _with_posteriors(
    assignment: Assignment, matrix: Matrix, rates: ObservationModel, parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment with each cell's probability of its node."""
    return replace(assignment, posterior=attachment_posteriors(matrix, rates, parents, assignment.node))


def _with_shared_posteriors(
    assignment: Assignment, matrix: Matrix, rates: ObservationModel, parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment with each cell's probability of its node, at the shares that fit best."""
    own = shared_attachment_posteriors(matrix, rates, parents, assignment.node)
    return replace(assignment, posterior=own)


def _of(problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]) -> int:
    """Return the same as `definition`, but fast."""
    shares = np.array([rates.log_shares or [0] * problem.nodes], dtype=np.int32)
    scores = node_scores(problem, parents, rates)[:, None]
    return totals_of(problem, scores, shares, settings["sum_spare"])[0]


def node_scores(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates | None = None
) -> NDArray[np.int32]:
    """Return the scores of all columns at all nodes, relative to the root: int32, (nodes, columns)."""
    scores = np.concatenate((problem.weight_rows(rates), np.zeros((1, problem.columns), dtype=np.int32)))
    rows, above = list(scores), parents.tolist()
    for node in preorder(parents).tolist()[1:]:  # whole rows: levels take three times as long
        rows[node] += rows[above[node]]
    return scores


def blocks_of_columns(problem: Problem, rows: int, numbers: int) -> Iterator[slice]:
    """Yield blocks of columns with at most this many numbers in their rows, which stay in a fast cache."""
    step = max(1, numbers // rows)
    for start in range(0, problem.columns, step):
        yield slice(start, min(start + step, problem.columns))


def totals_of(
    problem: Problem, scores: NDArray[np.int32], log_shares: NDArray[np.int32], spare: int
) -> list[int]:
    """Return the scores of trees, in integers; powers are computed only where they are not 0.

    Args:
        problem: the problem.
        scores: int32, shape (nodes, trees, columns): as `node_scores` returns them for each.
        log_shares: int32, shape (trees, nodes); zeros without shares.
        spare: spare bits of the score.
    """
    fraction, bits = np.int32(problem.scale_bits), np.int64(problem.scale_bits)
    nodes, trees = scores.shape[:2]
    totals = np.zeros(trees, dtype=np.int64)
    for block in blocks_of_columns(problem, nodes * trees, BLOCK):
        worth = (scores[:, :, block] + log_shares.T[:, :, None]).reshape(nodes, -1)
        octave = worth.max(axis=0) >> fraction
        near = np.flatnonzero(worth >= (octave + np.int32(spare - MANTISSA_BITS)) << fraction)
        of = near % worth.shape[1]
        powers = power_of_two(worth.ravel()[near], octave[of], fraction, np.int32(spare))
        sums = np.bincount(of, weights=powers).astype(np.int32)  # whole numbers: exact
        of_cells = ((octave.astype(np.int64) - (MANTISSA_BITS - spare)) << bits) + logarithm_of_two(
            sums, bits
        )
        totals += of_cells.reshape(trees, -1) @ problem.multiplicity[block]
    return [int(total) for total in totals]


def definition(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the sum over all cells of the log of the sum over all nodes, relative to the root's score.

    With shares, each node's likelihood is multiplied by the share of the cells there. This is slow and plain.
    """
    fraction, spare = settings["sum_fraction"], settings["sum_spare"]
    scores = _scores(problem, parents, rates)
    total = 0
    if rates.log_shares:
        scores += np.array(rates.log_shares, dtype=np.int64)[:, None]
    for column, count in zip(scores.T.tolist(), problem.multiplicity.tolist(), strict=True):
        octave = max(column) >> fraction
        powers = sum(_power(score, octave, fraction, spare) for score in column)
        total += count * (((octave - MANTISSA_BITS + spare) << fraction) + _logarithm(powers, fraction))
    return total


def _scores(problem: Problem, parents: NDArray[np.int32], rates: SlotRates) -> NDArray[np.int64]:
    """Return the scores of every distinct column at every node, relative to the root.

    Returns:
        int64, shape (nodes, columns).
    """
    weights = np.array(rates.weights, dtype=np.int64)
    scores = np.zeros((problem.nodes, problem.columns), dtype=np.int64)
    for node in range(problem.mutations):
        above = node
        while above != problem.mutations:
            scores[node] += weights[problem.observed[above]]
            above = int(parents[above])
    return scores


def _power(score: int, octave: int, fraction: int, spare: int) -> int:
    """Return 2^(score - octave) in units of 2^(spare - 24), rounded down."""
    x = (score << (FRACTION_BITS - fraction)) % 2**FRACTION_BITS
    part = 0
    for coefficient in POWER:
        part = coefficient + (x * part >> FRACTION_BITS)
    mantissa = 2**MANTISSA_BITS + (x * part >> (FRACTION_BITS + 15 - MANTISSA_BITS))
    return int(mantissa >> min(octave - (score >> fraction) + spare, 31))


def _logarithm(number: int, fraction: int) -> int:
    """Return log2 of the number in units of 2^-f, rounded to the nearest."""
    exponent = number.bit_length() - 1
    x = ((number << (30 - exponent)) - 2**30) >> 10
    part = 0
    for coefficient in LOGARITHM:
        part = coefficient + (x * part >> 20)
    curve = (x * (2**20 - x) >> 20) * part >> 20
    return int(exponent << fraction) + ((x + curve + (1 << (19 - fraction))) >> (20 - fraction))
