"""The maximum scores (docs/model.md, "Scores" and "Cell trees").

Every cell is attached at its best node (SCITE's default); every mutation of a cell tree is on its best edge.
A mutation's score depends only on its best edge, as a cell's does on its best node: kernels do not differ.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores.base import Score
from syclade.host.data.model.problem import LeafProblem, Problem, SlotRates
from syclade.host.data.trees.leaf import sums_below

__all__ = ["BEST_ATTACHMENT", "BEST_PLACEMENT"]


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
