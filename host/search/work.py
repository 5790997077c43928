"""What a search is asked to do, and what it has come to: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_SCORE", "STAGES", "SearchState", "Work", "fresh_state", "state_from"]

NO_SCORE = -(2**62)
"""Of a search that has no tree yet."""

STAGES = {
    "estimated": "syclade.kernels.search.estimated_move:ESTIMATED",
    "subtrees": "syclade.kernels.search.subtree_move:SUBTREES",
    "regraft": "syclade.kernels.search.regraft_move:REGRAFT",
    "exact": "syclade.kernels.search.exact_move:EXACT",
    "by-mutations": "syclade.kernels.search.starts:BY_MUTATIONS",
    "by-columns": "syclade.kernels.search.starts:BY_COLUMNS",
}
"""The stages there are, with their device form (`kernels.search.stages.Stage`)."""


class Work(NamedTuple):
    """One stage.

    Attributes:
        stage: one of STAGES.
        sweeps: most sweeps; one that changes nothing is the last.
        gamma: exponent of the likelihood in drawing places; None: always the best place.
    """

    stage: str
    sweeps: int = 1
    gamma: float | None = None


@dataclass(frozen=True, eq=False)
class SearchState:
    """A search between two stages: all that the next one needs.

    Attributes:
        search: its number, which its random numbers follow from.
        sweep: sweeps done.
        parents: int32, shape (n + 1,): its tree.
        score: of the tree, in the search's units.
        best_parents, best_score: the best tree yet.
    """

    search: int
    sweep: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int


def fresh_state(search: int, mutations: int) -> SearchState:
    """A search that has done nothing yet: no tree is known, and the one it has is a star."""
    star = np.full(mutations + 1, mutations, dtype=np.int32)
    return SearchState(search, 0, star, NO_SCORE, star, NO_SCORE)


def state_from(state: SearchState, parents: NDArray[np.int32]) -> SearchState:
    """The same search with another tree, whose score the next stage finds out."""
    return SearchState(state.search, state.sweep, parents, NO_SCORE, state.best_parents, state.best_score)
