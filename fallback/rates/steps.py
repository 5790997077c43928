"""Chain steps whose error rates are learned (the mirror of `kernels/rates/evaluation.py`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import JUMP_RATE, NOTHING, Proposals
from syclade.fallback.chain.steps import ChainSteps
from syclade.fallback.rates.moves import FN, FP, reflected


class Rates(NamedTuple):
    """What places on the grids of rates are worth; int64.

    Attributes:
        jumps: (2, lengths): of both rates.
        fn_weights, fp_weights: (points, classes).
        fn_worth, fp_worth: (points,).
    """

    jumps: NDArray[np.int64]
    fn_weights: NDArray[np.int64]
    fp_weights: NDArray[np.int64]
    fn_worth: NDArray[np.int64]
    fp_worth: NDArray[np.int64]

    def weights(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of all classes, (slots, classes), at places (slots, 2)."""
        both: NDArray[np.int64] = self.fn_weights[places[:, FN]] + self.fp_weights[places[:, FP]]
        return both

    def worth(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """What scores get besides, (slots,)."""
        both: NDArray[np.int64] = self.fn_worth[places[:, FN]] + self.fp_worth[places[:, FP]]
        return both

    def after(self, places: NDArray[np.int64], proposals: Proposals) -> NDArray[np.int64]:
        """The places after jumps, (slots, 2)."""
        rate, slot = proposals.w, np.arange(len(places))
        length = self.jumps[rate, proposals.v >> 1]
        points = np.array([len(self.fn_worth), len(self.fp_worth)])[rate]
        jumped = places.copy()
        jumped[slot, rate] = reflected(
            places[slot, rate] + np.where(proposals.v & 1, -length, length), points
        )
        return jumped


class LearnedChainSteps(ChainSteps):
    """Chain steps in numpy, many slots at once.

    Args:
        rates: the grids.
        given: as for `ChainSteps`.
    """

    def __init__(self, *given: Any, rates: Rates) -> None:
        super().__init__(*given)
        self._rates = rates

    def _worth_after(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        proposals: Proposals,
    ) -> NDArray[np.int64]:
        """Scores of the trees after edits, or by the rates after jumps, with what these are worth."""
        is_jump = proposals.edit == JUMP_RATE
        edits, jumps = np.flatnonzero(~is_jump), np.flatnonzero(is_jump)
        worth = np.zeros(len(slots), dtype=np.int64)
        if edits.size:
            of_edits = Proposals(*(field[edits] for field in proposals))
            worth[edits] = super()._worth_after(state, slots[edits], inside[edits], tables, of_edits)
            worth[edits] += self._rates.worth(state["rate_at"][slots[edits]])
        if jumps.size:
            of_jumps = Proposals(*(field[jumps] for field in proposals))
            places = self._rates.after(state["rate_at"][slots[jumps]], of_jumps)
            anew = self._new_tables(state["parent"][slots[jumps]], self._rates.weights(places))
            own, still = np.arange(len(jumps)), _still(of_jumps, np.ones(len(jumps), dtype=bool))
            worth[jumps] = super()._worth_after(state, slots[jumps], own, anew, still)
            worth[jumps] += self._rates.worth(places)
        return worth

    def _take(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        proposals: Proposals,
        proposed: NDArray[Any],
        accepted: NDArray[Any],
    ) -> None:
        """Rates jump first; then as for fixed ones, with the rates of the best trees."""
        is_jump = proposals.edit == JUMP_RATE
        jumps = np.flatnonzero(is_jump & accepted)
        if jumps.size:
            at, of_jumps = slots[jumps], Proposals(*(field[jumps] for field in proposals))
            state["rate_at"][at] = self._rates.after(state["rate_at"][at], of_jumps)
            state["weights"][at] = self._rates.weights(state["rate_at"][at])
            tables.replace(inside[jumps], self._new_tables(state["parent"][at], state["weights"][at]))
        improved = slots[accepted & (proposed > state["best_score"][slots])]
        state["best_rate_at"][improved] = state["rate_at"][improved]
        still = _still(proposals, is_jump)
        super()._take(state, slots, inside, tables, still, proposed, accepted)


def _still(proposals: Proposals, is_jump: NDArray[Any]) -> Proposals:
    """Proposals that leave the tree as it is where they are jumps of rates, whose v is no node."""
    v, w, t = (np.where(is_jump, 0, node) for node in (proposals.v, proposals.w, proposals.t))
    return proposals._replace(edit=np.where(is_jump, NOTHING, proposals.edit), v=v, w=w, t=t)
