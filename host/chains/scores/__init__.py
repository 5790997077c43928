"""Scores of a tree, one per file: a slow, obviously correct definition, and names of the implementations."""

from syclade.host.chains.scores.base import Score
from syclade.host.chains.scores.best_attachment import BEST_ATTACHMENT

__all__ = ["BEST_ATTACHMENT", "Score"]
