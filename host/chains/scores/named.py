"""Scores by the options that users give."""

from __future__ import annotations

from typing import NamedTuple

from syclade.host.chains.scores.base import BEST_ATTACHMENT, Score
from syclade.host.chains.space import MUTATION_TREES, SUMMED_TREES, Space, recurrent_trees
from syclade.host.data.model.problem import Problem

__all__ = ["ScoreOptions", "score_named", "space_of"]


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
