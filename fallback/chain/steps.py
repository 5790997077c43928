"""The composition: many steps of all slots' chains, whatever they are put together from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.acceptance import negative_log_uniform
from syclade.fallback.chain.parts import Draws, Move, Proposals, Recorder, Score
from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.chain.tables import Tables
from syclade.fallback.moves.words import chance_of_move, extra_word, first_node
from syclade.fallback.recorders.ring import record

GROUP_BYTES = 2**26
"""Slots whose scores take more than this are taken forward one group after another."""

_LOW = np.uint64(0xFFFFFFFF)


def slots_at_once(observed: NDArray[np.uint8]) -> int:
    """How many slots go forward together, and keep their tables between launches if there are no more."""
    mutations, columns = observed.shape
    return max(1, GROUP_BYTES // (4 * (mutations + 1) * columns))


class ChainSteps:
    """Chain steps in numpy, many slots at once.

    Args:
        observed: (mutations, columns) uint8: the class of every entry.
        multiplicity: (columns,) int64.
        moves: ways to propose.
        move_below: their cumulative probabilities in 1/65536.
        score: what a cell is worth.
        recorders: which states leave the chain.
        events: length of a slot's ring.
    """

    def __init__(
        self,
        observed: NDArray[np.uint8],
        multiplicity: NDArray[np.int64],
        moves: Sequence[Move],
        move_below: Sequence[int],
        score: Score,
        recorders: Sequence[Recorder] = (),
        events: int = 0,
    ) -> None:
        self._observed, self._multiplicity = observed, multiplicity
        self._moves, self._boundaries = moves, np.array(move_below[:-1], dtype=np.int64)
        self._score, self._recorders, self._events = score, recorders, events
        self._kinds = sum(move.kinds for move in moves) + 1
        self._kept: tuple[NDArray[Any], NDArray[Any], Any] | None = None

    @property
    def memory_bytes(self) -> int:
        """Of the tables that are kept from launch to launch."""
        return 0 if self._kept is None else int(self._kept[2].nbytes)

    def advance(self, state: dict[str, NDArray[Any]], seed: int) -> None:
        """Take every slot from `step` to `last_step`, or until its ring is full; in place."""
        group = slots_at_once(self._observed)
        busy = self._active(state, np.arange(len(state["step"])))
        for start in range(0, len(busy), group):
            self._advance_group(state, busy[start : start + group], seed)

    def _advance_group(self, state: dict[str, NDArray[Any]], part: NDArray[Any], seed: int) -> None:
        tables = self._tables_of(state, part)
        while (active := self._active(state, part)).size:
            self._one_step(state, part[active], active, tables, seed)
        self._kept = (state["parent"][part].copy(), state["weights"][part].copy(), tables)

    def _tables_of(self, state: dict[str, NDArray[Any]], part: NDArray[Any]) -> Any:
        """The tables of some slots: those of the last launch, if the trees are the same."""
        parent, weights = state["parent"][part], state["weights"][part]
        kept, self._kept = self._kept, None  # what is interrupted leaves none
        if kept and np.array_equal(kept[0], parent) and np.array_equal(kept[1], weights):
            return kept[2]
        return self._new_tables(parent, weights)

    @property
    def _labels(self) -> int:
        """Nodes besides the root."""
        return self._observed.shape[0]

    def _new_tables(self, parent: NDArray[np.int32], weights: NDArray[np.int64]) -> Any:
        """Tables of such trees."""
        root = np.full((1, self._observed.shape[1]), weights.shape[1] - 1, dtype=np.uint8)
        rows = weights.astype(np.int32)[:, np.concatenate((self._observed, root))]
        return Tables(parent, rows)

    def _active(self, state: dict[str, NDArray[Any]], part: NDArray[Any]) -> NDArray[Any]:
        """Which of the slots have steps to do, and room for their events."""
        going = state["step"][part] < state["last_step"][part]
        if self._recorders:
            going &= state["event_count"][part] < self._events
        return np.flatnonzero(going)

    def _one_step(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        seed: int,
    ) -> None:
        """One step of some slots; `inside` is where they stand in the tables."""
        step = state["step"][slots]
        now, chain = step.astype(np.uint64), state["chain"][slots].astype(np.uint64)
        words = philox_4x32_10(now & _LOW, now >> np.uint64(32), chain, 0, seed & 0xFFFFFFFF, seed >> 32)
        proposals = self._propose(state, slots, inside, tables, words)
        proposed = self._worth_after(state, slots, inside, tables, proposals)
        threshold = negative_log_uniform(words[3], state["log_table"][slots]) + proposals.correction
        accepted = proposed - state["score"][slots] + threshold >= 0
        self._take(state, slots, inside, tables, proposals, proposed, accepted)

    def _worth_after(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        proposals: Proposals,
    ) -> NDArray[np.int64]:
        """The scores after proposals."""
        found = tables.found_after(
            inside, proposals, lambda at, scores: self._score.of_attachments(state, slots[at], scores)
        )
        worth: NDArray[np.int64] = self._score.of_cells(state, slots, found).astype(np.int64)
        return worth @ self._multiplicity

    def _propose(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        words: tuple[NDArray[Any], ...],
    ) -> Proposals:
        """The slots' proposals; kinds are those of all moves."""
        labels = self._labels
        number = (chance_of_move(words[0])[:, None] >= self._boundaries).sum(axis=1)
        draws = Draws(
            first_node(words[1], labels),
            words[2],
            extra_word(words[0], words[1], labels),
            state["log_sizes"][slots],
        )
        proposals = Proposals(*(np.zeros(len(slots), dtype=np.int64) for _ in Proposals._fields))
        first_kind = 0
        for index, move in enumerate(self._moves):
            at = np.flatnonzero(number == index)
            if at.size:
                own = move.propose(tables.trees.of(inside[at]), draws.of(at), labels)
                kind = np.where(own.kind < 0, self._kinds - 1, own.kind + first_kind)
                for field, values in zip(proposals, own._replace(kind=kind), strict=True):
                    field[at] = values
            first_kind += move.kinds
        return proposals

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
        """Take what is accepted, keep the best trees, count."""
        best, step = state["best_score"][slots].copy(), state["step"][slots]
        state["tallies"][slots, proposals.kind] += 1
        state["tallies"][slots[accepted], proposals.kind[accepted] + self._kinds] += 1
        changed = slots[accepted]
        tables.follow(inside[accepted], Proposals(*(field[accepted] for field in proposals)))
        state["score"][changed] = proposed[accepted]
        state["parent"][changed] = tables.trees.parent[inside[accepted]]
        improved = slots[accepted & (proposed > best)]
        state["best_score"][improved] = state["score"][improved]
        state["best_parent"][improved] = state["parent"][improved]
        state["step"][slots] += 1
        if self._recorders:
            record(state, self._recorders, slots, step, best, accepted)
