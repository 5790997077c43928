"""Chain steps on ancestor matrices with learned error rates (the mirror of `kernels/ancestor/learned.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.find_parent import find_parent
from syclade.fallback.ancestor.parts import EDIT, T, V, W
from syclade.fallback.ancestor.propose import propose
from syclade.fallback.ancestor.reduction import decide, score_of_trees
from syclade.fallback.ancestor.score_mapping import score_mapping
from syclade.fallback.ancestor.steps import AncestorSteps
from syclade.fallback.ancestor.tree_update import tree_update
from syclade.fallback.chain.parts import JUMP_RATE, NOTHING
from syclade.fallback.rates.moves import reflected
from syclade.fallback.rates.steps import Rates


class LearnedAncestorSteps(AncestorSteps):
    """Chain steps in numpy: each scores a tree under the rates that it would have.

    Args:
        rates: the tables of learned rates.
        given: as for `AncestorSteps`.
    """

    def __init__(self, *given: Any, rates: Rates) -> None:
        super().__init__(*given)
        self._rates = rates

    def _step(self, state: dict[str, NDArray[Any]], slots: NDArray[np.int64]) -> None:
        """Take one step of the chains in these slots; a jump of a rate leaves the tree as it is."""
        propose(state, slots, self._parts)
        places = self._places_after(state, slots)
        fn, fp = places.T
        state["weights"][slots] = self._rates.fn_weights[fn] + self._rates.fp_weights[fp]
        jumps = slots[state["move"][slots, EDIT] == JUMP_RATE]
        state["move"][jumps, EDIT] = NOTHING
        state["move"][jumps[:, None], [V, W, T]] = 0
        for stage in (find_parent, tree_update, score_mapping):
            stage(state, slots, self._parts)
        of_rates = self._rates.fn_worth[fn] + self._rates.fp_worth[fp]
        proposed = score_of_trees(state, slots, self._parts) + of_rates
        accepted, better = decide(state, slots, proposed)
        state["rate_at"][slots[accepted]] = places[accepted]
        state["best_rate_at"][slots[better]] = places[better]

    def _places_after(self, state: dict[str, NDArray[Any]], slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the grid points of both rates after the proposals, (slots, 2)."""
        places: NDArray[np.int64] = state["rate_at"][slots]
        (at,) = (state["move"][slots, EDIT] == JUMP_RATE).nonzero()
        drawn, rate = state["move"][slots[at]][:, [V, W]].T
        length = self._rates.jumps[rate, drawn >> 1]
        jumped = places[at, rate] + np.where(drawn & 1, -length, length)
        points = np.array([len(self._rates.fn_worth), len(self._rates.fp_worth)])[rate]
        places[at, rate] = reflected(jumped, points)
        return places
