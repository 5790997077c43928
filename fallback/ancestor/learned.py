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
        places: NDArray[np.int64] = state["rate_at"][slots]
        (at,) = (state["move"][slots, EDIT] == JUMP_RATE).nonzero()
        jumps = slots[at]
        drawn, rate = state["move"][jumps][:, [V, W]].T
        places[at] = self._rates.after(places[at], rate, drawn)
        state["move"][jumps, EDIT] = NOTHING
        state["move"][jumps[:, None], [V, W, T]] = 0
        state["weights"][slots] = self._rates.weights(places)
        for stage in (find_parent, tree_update, score_mapping):
            stage(state, slots, self._parts)
        proposed = score_of_trees(state, slots, self._parts) + self._rates.worth_of_errors(places)
        accepted, better = decide(state, slots, proposed)
        state["rate_at"][slots[accepted]] = places[accepted]
        state["best_rate_at"][slots[better]] = places[better]
