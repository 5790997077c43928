"""Work for a search, and its state, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_SCORE", "STAGES", "SearchState", "Work", "fresh_state", "state_from"]

NO_SCORE = -(2**62)
"""Score of a search that has no tree yet, or whose tree has not been scored."""

STAGES = {
    "estimated": "syclade.kernels.search.estimated_move:ESTIMATED",
    "subtrees": "syclade.kernels.search.subtree_move:SUBTREES",
    "regraft": "syclade.kernels.search.regraft_move:REGRAFT",
    "exact": "syclade.kernels.search.exact_move:EXACT",
    "by-mutations": "syclade.kernels.search.starts:BY_MUTATIONS",
    "by-columns": "syclade.kernels.search.starts:BY_COLUMNS",
}
"""All stages, with their device code (`kernels.search.stages.Stage`)."""


class Work(NamedTuple):
    """One stage to run.

    Attributes:
        stage: one of STAGES.
        sweeps: maximum number of sweeps; a sweep that changes nothing is the last one.
        gamma: exponent of the likelihood by which places are drawn; None to always take the best place.
    """

    stage: str
    sweeps: int = 1
    gamma: float | None = None


@dataclass(frozen=True, eq=False)
class SearchState:
    """State of a search between two stages: all that the next stage needs.

    Attributes:
        search: number of the search, which determines its random numbers.
        sweep: number of sweeps done.
        parents: int32, shape (n + 1,): parent vector of its tree.
        score: score of the tree, in the problem's units.
        best_parents: int32, shape (n + 1,): parent vector of the best tree so far.
        best_score: score of the best tree.
    """

    search: int
    sweep: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int


def fresh_state(search: int, mutations: int) -> SearchState:
    """Return a search that has done nothing yet; its tree is a star without a score."""
    star = np.full(mutations + 1, mutations, dtype=np.int32)
    return SearchState(search, 0, star, NO_SCORE, star, NO_SCORE)


def state_from(state: SearchState, parents: NDArray[np.int32]) -> SearchState:
    """Return the same search with another tree, which the next stage will score."""
    return SearchState(state.search, state.sweep, parents, NO_SCORE, state.best_parents, state.best_score)
