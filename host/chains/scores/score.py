"""Scores on the host: their description, the maximum scores, and the score that options select.

See docs/model.md, "Scores" and "Cell trees".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.space import MUTATION_TREES, SUMMED_TREES, Space, recurrent_trees
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.leaf import sums_below

__all__ = ["BEST_ATTACHMENT", "BEST_PLACEMENT", "Score", "ScoreOptions", "score_named", "space_of"]


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
            (`host/chains/shares.py`).
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
    from syclade.host.chains.scores.all_attachments import all_attachments

    return all_attachments(problem, shares=name == "shares")


def space_of(options: ScoreOptions) -> Space:
    """Return the trees for the score that options select."""
    if options.recurrent is not None:
        return recurrent_trees(options.recurrent, pairs=options.octaves)
    return MUTATION_TREES if options.doublets is None else SUMMED_TREES
