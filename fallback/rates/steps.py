"""Chain steps with learned error rates (the mirror of `kernels/rates/evaluation.py`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import JUMP_RATE, NOTHING, Proposals
from syclade.fallback.chain.steps import ChainSteps
from syclade.fallback.rates.moves import DOUBLETS, FN, FP, reflected
from syclade.fallback.scores.doublets import SHARES


class Rates(NamedTuple):
    """Tables of learned rates by grid point; int64.

    Attributes:
        jumps: (3, lengths): lengths of jumps of all rates.
        fn_weights, fp_weights: (points, classes): the parts of the weights.
        fn_worth, fp_worth, doublet_worth: (points,): what a tree's score gets in addition.
        doublet_shares: (points, 4): settings of the score with doublets, `SHARES`.
    """

    jumps: NDArray[np.int64]
    fn_weights: NDArray[np.int64]
    fp_weights: NDArray[np.int64]
    fn_worth: NDArray[np.int64]
    fp_worth: NDArray[np.int64]
    doublet_worth: NDArray[np.int64]
    doublet_shares: NDArray[np.int64]

    def weights(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weights of all classes, (slots, classes), at grid points (slots, 2 or 3)."""
        both: NDArray[np.int64] = self.fn_weights[places[:, FN]] + self.fp_weights[places[:, FP]]
        return both

    def worth_of_errors(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what scores get for the error rates, (slots,), at grid points (slots, 2 or 3)."""
        worth: NDArray[np.int64] = self.fn_worth[places[:, FN]] + self.fp_worth[places[:, FP]]
        return worth

    def worth(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what scores get in addition, (slots,), at grid points (slots, 3)."""
        worth: NDArray[np.int64] = self.worth_of_errors(places) + self.doublet_worth[places[:, DOUBLETS]]
        return worth

    def settings(self, places: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return the settings that follow from grid points (slots, 3), by name; none for fixed doublets."""
        if len(self.doublet_worth) == 1:
            return {}
        return dict(zip(SHARES, self.doublet_shares[places[:, DOUBLETS]].T, strict=True))

    def after(
        self, places: NDArray[np.int64], rate: NDArray[np.int64], drawn: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the grid points after jumps, in the shape of `places`.

        Args:
            places: (slots, 2 or 3): the grid points before.
            rate: (slots,): the rate that jumps.
            drawn: (slots,): twice the index of the jump's length, plus 1 if it goes down.
        """
        slot = np.arange(len(places))
        length = self.jumps[rate, drawn >> 1]
        worths = (self.fn_worth, self.fp_worth, self.doublet_worth)
        points = np.array([len(worth) for worth in worths])[rate]
        jumped = places.copy()
        jumped[slot, rate] = reflected(places[slot, rate] + np.where(drawn & 1, -length, length), points)
        return jumped


class LearnedChainSteps(ChainSteps):
    """Chain steps in numpy with learned rates, many slots at once.

    Args:
        rates: the tables of learned rates.
        given: as for `ChainSteps`.
    """

    def __init__(self, *given: Any, rates: Rates) -> None:
        super().__init__(*given)
        self._rates = rates

    def _score_lanes(
        self,
        state: dict[str, NDArray[Any]],
        lane_slots: NDArray[Any],
        tables: Any,
        lanes: Any,
        proposals: Proposals,
    ) -> tuple[Any, NDArray[np.int64]]:
        """Return prepared proposals, and scores after edits or jumps, including the rates' priors."""
        is_jump = proposals.edit == JUMP_RATE
        prepared = tables.prepare(lanes, _still(proposals, is_jump))
        score = np.empty(len(lane_slots), dtype=np.int64)
        (edits,), (jumps,) = (~is_jump).nonzero(), is_jump.nonzero()
        if edits.size:
            slots = lane_slots[edits]
            after = self._scores_after(state, slots, tables, lanes.of(edits), prepared.of(edits))
            score[edits] = after + self._rates.worth(state["rate_at"][slots])
        if jumps.size:
            slots = lane_slots[jumps]
            places = self._rates.after(state["rate_at"][slots], proposals.w[jumps], proposals.v[jumps])
            anew = self._new_tables(tables.parents(lanes.of(jumps).slots), self._rates.weights(places))
            own = anew.lanes(np.arange(len(jumps)))
            still = anew.prepare(own, _still(proposals.of(jumps), is_jump[jumps]))
            given = {name: values[slots] for name, values in state.items()} | self._rates.settings(places)
            given["weights"] = self._rates.weights(places)
            after = self._scores_after(given, np.arange(len(jumps)), anew, own, still)
            score[jumps] = after + self._rates.worth(places)
        return prepared, score

    def _follow(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        proposals: Proposals,
        prepared: Any,
    ) -> None:
        """Apply jumps to the rates, and edits to the trees."""
        (jumps,) = (proposals.edit == JUMP_RATE).nonzero()
        if jumps.size:
            at = slots[jumps]
            places = state["rate_at"][at]
            state["rate_at"][at] = self._rates.after(places, proposals.w[jumps], proposals.v[jumps])
            state["weights"][at] = self._rates.weights(state["rate_at"][at])
            for name, values in self._rates.settings(state["rate_at"][at]).items():
                state[name][at] = values
            anew = self._new_tables(tables.parents(inside[jumps]), state["weights"][at])
            tables.replace(inside[jumps], anew)
        super()._follow(state, slots, inside, tables, proposals, prepared)

    def _keep_best(
        self, state: dict[str, NDArray[Any]], slots: NDArray[Any], inside: NDArray[Any], tables: Any
    ) -> None:
        """Store the current trees and rates as the best ones."""
        state["best_rate_at"][slots] = state["rate_at"][slots]
        super()._keep_best(state, slots, inside, tables)


def _still(proposals: Proposals, is_jump: NDArray[Any]) -> Proposals:
    """Replace jumps of rates, whose v is not a node, by proposals that leave the tree as it is."""
    v, w, t = (np.where(is_jump, 0, node) for node in (proposals.v, proposals.w, proposals.t))
    return proposals._replace(edit=np.where(is_jump, NOTHING, proposals.edit), v=v, w=w, t=t)
