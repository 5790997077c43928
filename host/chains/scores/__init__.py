"""The scores of a tree, one a file: what they mean, slowly and obviously right, and where their forms are."""

from syclade.host.chains.scores.base import Score
from syclade.host.chains.scores.best_attachment import BEST_ATTACHMENT

__all__ = ["BEST_ATTACHMENT", "Score"]
