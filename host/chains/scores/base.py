"""Description of a score on the host, and the maximum scores (docs/model.md, "Scores" and "Cell trees")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.leaf import sums_below

__all__ = ["BEST_ATTACHMENT", "BEST_PLACEMENT", "Score"]


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
