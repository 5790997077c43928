"""Scores by the names that users give."""

from __future__ import annotations

from syclade.host.chains.scores.base import Score
from syclade.host.chains.scores.best_attachment import BEST_ATTACHMENT
from syclade.host.model.problem import Problem

__all__ = ["score_named"]


def score_named(name: str, problem: Problem) -> Score:
    """Return the score of a name, for trees of a problem.

    Args:
        name: max or sum.
        problem: the problem; for sum, its scores must be in octaves.

    Raises:
        MatrixError: the matrix is too large for the score.
    """
    if name == "max":
        return BEST_ATTACHMENT
    from syclade.host.chains.scores.all_attachments import all_attachments

    return all_attachments(problem)
