"""Scores of a tree, one per file: a slow, obviously correct definition, and names of the implementations."""

from syclade.host.chains.scores.base import BEST_ATTACHMENT, Score

__all__ = ["BEST_ATTACHMENT", "Score"]
