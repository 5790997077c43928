"""Searches in numpy, for machines that have neither a device nor a compiler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.draws import Draws
from syclade.fallback.search.estimated_move import ESTIMATED
from syclade.fallback.search.exact_move import EXACT
from syclade.fallback.search.regraft_move import REGRAFT
from syclade.fallback.search.stages import Given, Stage, Standing
from syclade.fallback.search.starts import BY_COLUMNS, BY_MUTATIONS
from syclade.fallback.search.subtree_move import SUBTREES
from syclade.host.devices.device import NUMPY
from syclade.host.search.problem import SearchProblem
from syclade.host.search.runner import SearchRunner, noise_of, search_log_table
from syclade.host.search.work import SearchState, Work, fresh_state

__all__ = ["NUMPY_STAGES", "NumpySearchRunner"]

NUMPY_STAGES: dict[str, Stage] = {
    "estimated": ESTIMATED,
    "subtrees": SUBTREES,
    "regraft": REGRAFT,
    "exact": EXACT,
    "by-mutations": BY_MUTATIONS,
    "by-columns": BY_COLUMNS,
}
"""Numpy implementation of every stage in `work.STAGES`."""


class NumpySearchRunner(SearchRunner):
    """Search runner in numpy; it runs one slot after another."""

    executor = NUMPY
    kernel = "numpy"

    def __init__(self, problem: SearchProblem, slots: int, seed: int) -> None:
        super().__init__(problem, slots, seed)
        self._given = Given(problem.weights, problem.falling, problem.fullest)
        self._states = [fresh_state(0, problem.mutations)] * slots

    def put(self, slot: int, state: SearchState) -> None:
        """See `SearchRunner.put`."""
        self._states[slot] = state

    def get(self, slot: int) -> SearchState:
        """See `SearchRunner.get`."""
        return self._states[slot]

    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """See `SearchRunner.run`."""
        # The states are replaced only at the end: an interrupted call has no effect.
        self._states = [
            state if work is None else self._done(state, work)
            for state, work in zip(self._states, works, strict=True)
        ]
        return np.array([state.score for state in self._states])

    def _done(self, state: SearchState, work: Work) -> SearchState:
        """Return a search after a stage."""
        standing = Standing(state.parents, state.score, state.sweep, state.best_parents, state.best_score)
        draws = Draws(self.seed, state.search, search_log_table())
        NUMPY_STAGES[work.stage](self._given, standing, draws, work.sweeps, noise_of(work, self.problem.unit))
        return SearchState(
            state.search,
            standing.sweep,
            standing.parents,
            standing.score,
            standing.best_parents,
            standing.best_score,
        )

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._states = []
