"""Scores by what users call them."""

from __future__ import annotations

from syclade.host.chains.scores.base import Score
from syclade.host.chains.scores.best_attachment import BEST_ATTACHMENT
from syclade.host.model.problem import Problem

__all__ = ["score_named"]


def score_named(name: str, problem: Problem) -> Score:
    """The score for trees of a problem, which is in octaves for those that add up powers.

    Args:
        name: max or sum.
        problem: of which.

    Raises:
        MatrixError: the matrix is too large for it.
    """
    if name == "max":
        return BEST_ATTACHMENT
    from syclade.host.chains.scores.all_attachments import all_attachments

    return all_attachments(problem)
