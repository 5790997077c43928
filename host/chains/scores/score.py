"""Scores on the host: their description, the maximum scores, the sum score, and the one that options select.

The sum score adds up each cell's likelihood over all nodes (SCITE's -s). With shares, each node counts by the
share of the cells there, which the chains sample. See docs/model.md, "Scores", "Shares" and "Cell trees".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import logarithm_of_two, power_of_two
from syclade.host.chains.state import MUTATION_TREES, SUMMED_TREES, Space, recurrent_trees
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.likelihood import (
    attachment_posteriors,
    log_likelihood,
    log_likelihood_at_fitted_shares,
    shared_attachment_posteriors,
    summed_log_likelihood,
)
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.cells import sums_below
from syclade.host.data.trees.tree import preorder
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.kernels.scores.powers import (
    FRACTION_BITS,
    LOGARITHM,
    MANTISSA_BITS,
    POWER,
)

__all__ = [
    "BEST_ATTACHMENT",
    "BEST_PLACEMENT",
    "BLOCK",
    "Score",
    "ScoreOptions",
    "all_attachments",
    "blocks_of_columns",
    "node_scores",
    "score_named",
    "space_of",
    "sum_definition",
    "totals_of",
]


def _no_detail(
    assignment: Assignment, _matrix: Matrix, _rates: ObservationModel, _parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment as it is."""
    return assignment


@dataclass(frozen=True)
class Score:
    """Score of a tree.

    Attributes:
        name: name shown to users.
        of: (problem, parents, rates, settings) -> the tree's score, in units of 2^-f nat.
        device: `module:NAME` of a `kernels.chain.parts.Score`.
        numpy: `module:NAME` of a `fallback.chain.parts.Score`.
        log_likelihood: (matrix, rates, parents) -> the tree's log-likelihood, natural log, float64.
        detail: (assignment, matrix, rates, parents) -> the assignment, with further values of the
            cells that the score determines.
        at: (grid indices of the learned rates) -> the score at these rates; None if it depends on none.
        exact: whether all backends give the same bits.
        shares: whether a chain's state has shares of the cells at the nodes, too, in its `rates`
            (`host/chains/gibbs.py`).
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    of: Callable[[Problem, NDArray[np.int32], SlotRates, Mapping[str, int]], int]
    device: str
    numpy: str
    log_likelihood: Callable[[Matrix, ObservationModel, NDArray[np.int32]], float] = log_likelihood
    detail: Callable[[Assignment, Matrix, ObservationModel, NDArray[np.int32]], Assignment] = _no_detail
    at: Callable[[Places], Score] | None = None
    exact: bool = True
    shares: bool = False
    defaults: Mapping[str, int] = field(default_factory=dict)


def _of(problem: Problem, parents: NDArray[np.int32], rates: SlotRates, _settings: Mapping[str, int]) -> int:
    """Return the sum over all cells of the score at the best node, relative to the root's score."""
    return int(problem.best_attachments(parents, rates) @ problem.multiplicity)


BEST_ATTACHMENT = Score(
    name="max",
    of=_of,
    device="syclade.kernels.scores.best_attachment:SCORE",
    numpy="syclade.fallback.scores.best_attachment:SCORE",
)


def _of_placements(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, _settings: Mapping[str, int]
) -> int:
    """Return the sum over all mutations of the best sum of weights over the cells below one edge."""
    assert isinstance(problem, LeafProblem)
    return int(sums_below(parents, problem.cell_rows(rates)).max(axis=0).sum())


BEST_PLACEMENT = Score(
    name="max",
    of=_of_placements,
    device="syclade.kernels.scores.best_attachment:SCORE",
    numpy="syclade.fallback.scores.best_attachment:SCORE",
)
"""A mutation's score depends only on its best edge, as a cell's does on its best node."""


class ScoreOptions(NamedTuple):
    """Options that select the score of mutation trees.

    Attributes:
        name: max, sum or shares.
        doublets: rate of doublets; None for a model without. With doublets, all nodes and pairs count.
        recurrent: number of the mutation of which the last one is a copy; None for a model without.
    """

    name: str = "max"
    doublets: float | None = None
    recurrent: int | None = None

    @property
    def octaves(self) -> bool:
        """True if scores are logarithms to base 2."""
        return self.name in ("sum", "shares") or self.doublets is not None


def score_named(
    name: str, problem: Problem, doublets: float | None = None, recurrent: int | None = None
) -> Score:
    """Return the score that options select, for trees of a problem.

    Args:
        name, doublets, recurrent: the options, see `ScoreOptions`.
        problem: the problem; its scores must be in octaves if the options say so.

    Raises:
        MatrixError: the matrix is too large for the score.
    """
    if recurrent is not None:
        from syclade.host.chains.scores.recurrent import with_recurrence

        return with_recurrence(problem, recurrent, doublets, name)
    if doublets is not None:
        from syclade.host.chains.scores.doublets import with_doublets

        return with_doublets(problem, doublets, with_shares=name == "shares")
    if name == "max":
        return BEST_ATTACHMENT

    return all_attachments(problem, shares=name == "shares")


def space_of(options: ScoreOptions) -> Space:
    """Return the trees for the score that options select."""
    if options.recurrent is not None:
        return recurrent_trees(options.recurrent, pairs=options.octaves)
    return MUTATION_TREES if options.doublets is None else SUMMED_TREES


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
        of=_summed,
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


def _summed(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the same as `sum_definition`, but fast."""
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


def sum_definition(
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
