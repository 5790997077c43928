"""The maximum score: every cell is attached at its best node (SCITE's default; docs/model.md, "Scores")."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.scores.base import Score
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = ["BEST_ATTACHMENT"]


def _of(problem: Problem, parents: NDArray[np.int32], rates: SlotRates, _settings: Mapping[str, int]) -> int:
    """Return the sum over all cells of the score at the best node, relative to the root's score."""
    return int(problem.best_attachments(parents, rates) @ problem.multiplicity)


BEST_ATTACHMENT = Score(
    name="max",
    of=_of,
    device="syclade.kernels.scores.best_attachment:SCORE",
    numpy="syclade.fallback.scores.best_attachment:SCORE",
)
