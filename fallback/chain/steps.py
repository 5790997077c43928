"""The composition: many steps of all slots' chains, with any moves, score and recorders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.lookahead import steps_ahead
from syclade.fallback.chain.parts import Move, Proposals, Recorder, Score, Space
from syclade.fallback.chain.propose import EXPONENTIAL, NUMBER, draw, propose
from syclade.fallback.recorders.ring import record, wanted

GROUP_BYTES = 2**25
"""Memory limit of the tables of a group; groups of slots advance one after another."""

BATCH = 8192
"""Steps to draw at once, over all slots of a group."""

SHORTEST_BATCH = 64
"""Fewest steps to draw at once per slot, besides the lookahead."""

FIRST_ACCEPTANCE = 0.2
"""Share of accepted proposals that is assumed before it is measured."""


def slots_at_once(slot_bytes: int) -> int:
    """Return how many slots advance together, given the memory of each slot's tables."""
    return max(1, GROUP_BYTES // slot_bytes)


class Round(NamedTuple):
    """Slots that take steps together, with `ahead` lanes per slot: lane i belongs to slot i // ahead.

    Attributes:
        slots: (slots,): their indices in the state, ascending.
        inside: (slots,): their indices in the tables.
        ahead: steps per slot that are tried at once.
        lane_slots: (lanes,): the lanes' slots in the state.
        lanes: the trees as the lanes see them.
    """

    slots: NDArray[Any]
    inside: NDArray[Any]
    ahead: int
    lane_slots: NDArray[Any]
    lanes: Any


class Tried(NamedTuple):
    """The steps that a round tries.

    Attributes:
        kind, score: (slots, ahead): of every proposal.
        done: (slots,): number of steps to take.
        accepted: (slots,) bool: whether the last of them is accepted; all before it are rejected.
    """

    kind: NDArray[Any]
    score: NDArray[Any]
    done: NDArray[Any]
    accepted: NDArray[Any]

    @property
    def lane(self) -> NDArray[Any]:
        """(slots,): the lane of the last step taken."""
        slots, ahead = self.kind.shape
        return np.arange(slots) * ahead + self.done - 1


class ChainSteps:
    """Chain steps in numpy, many slots at once.

    Args:
        space: the space of trees.
        observed: (rows, columns) uint8: the class of every entry (see `Space`).
        multiplicity: (columns,) int64.
        moves: the moves, which propose edits.
        move_below: their cumulative probabilities in 1/65536.
        score: the score of a cell.
        recorders: select the states that chains emit.
        events: length of a slot's ring buffer.
    """

    def __init__(
        self,
        space: Space,
        observed: NDArray[np.uint8],
        multiplicity: NDArray[np.int64],
        moves: Sequence[Move],
        move_below: Sequence[int],
        score: Score,
        recorders: Sequence[Recorder] = (),
        events: int = 0,
    ) -> None:
        self._space, self._observed, self._multiplicity = space, observed, multiplicity
        self._labels = space.labels(observed)
        self._moves, self._move_below = moves, np.array(move_below, dtype=np.int64)
        self._score, self._recorders, self._events = score, recorders, events
        self._kinds = sum(move.kinds for move in moves) + 1
        self._kept: dict[int, tuple[tuple[NDArray[Any], ...], Any]] = {}
        self._acceptance = FIRST_ACCEPTANCE

    @property
    def memory_bytes(self) -> int:
        """Memory of the tables that are kept between launches."""
        return sum(int(tables.nbytes) for _, tables in self._kept.values())

    @property
    def slot_bytes(self) -> int:
        """Memory of a slot's tables."""
        return self._space.slot_bytes(self._observed)

    def _new_tables(self, parent: NDArray[np.int32], weights: NDArray[np.int64]) -> Any:
        """Return tables of these trees."""
        return self._space.tables(parent, weights, self._observed)

    def advance(self, state: dict[str, NDArray[Any]], seed: int) -> None:
        """Advance every slot in place from `step` to `last_step`, or until its ring buffer is full."""
        group = slots_at_once(self.slot_bytes)
        busy = self._active(state, np.arange(len(state["step"])))
        for start in range(0, len(busy), group):
            self._advance_group(state, busy[start : start + group], seed)

    def _advance_group(self, state: dict[str, NDArray[Any]], part: NDArray[Any], seed: int) -> None:
        tables = self._tables_of(state, part)
        while (active := self._active(state, part)).size:
            self._run_batch(state, part[active], active, tables, seed)
        state["parent"][part] = tables.parents(np.arange(len(part)))
        if self._has_shares(state, part):
            state["log_shares"][part] = tables.log_shares(np.arange(len(part)))
        self._kept[int(part[0])] = self._determines_tables(state, part), tables

    def _tables_of(self, state: dict[str, NDArray[Any]], part: NDArray[Any]) -> Any:
        """Return the tables of some slots; reuse those of the last launch if the trees are the same."""
        made_of = self._determines_tables(state, part)
        kept = self._kept.pop(int(part[0]), None)  # an interrupted launch keeps none
        if kept and len(kept[0]) == len(made_of) and all(map(np.array_equal, kept[0], made_of)):
            return kept[1]
        if self._has_shares(state, part):
            assert self._space.shared_tables is not None
            parent, weights, log_shares = made_of
            return self._space.shared_tables(parent, weights, self._observed, log_shares)
        return self._new_tables(*made_of)

    def _determines_tables(
        self, state: dict[str, NDArray[Any]], part: NDArray[Any]
    ) -> tuple[NDArray[Any], ...]:
        """Return copies of the arrays that the tables of some slots are made of."""
        names = ("parent", "weights", *(("log_shares",) if self._has_shares(state, part) else ()))
        return tuple(state[name][part] for name in names)

    def _has_shares(self, state: dict[str, NDArray[Any]], part: NDArray[Any]) -> bool:
        """Return whether the cells of some slots have shares."""
        return "log_shares" in state and bool(state["log_shares"][part].any())

    def _active(self, state: dict[str, NDArray[Any]], part: NDArray[Any]) -> NDArray[Any]:
        """Return the indices of the slots that have steps left and room for their events."""
        going = state["step"][part] < state["last_step"][part]
        if self._recorders:
            going &= state["event_count"][part] < self._events
        return np.flatnonzero(going)

    def _run_batch(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        seed: int,
    ) -> None:
        """Draw a batch of steps and do them, until a slot needs more draws or no slot has steps left."""
        first, before = state["step"][slots], state["tallies"][slots]
        cost = tables.cost_of_best if self._score.of_attachments is None else tables.cost_of_all
        ahead = steps_ahead(len(slots), cost, self._acceptance)
        left = int((state["last_step"][slots] - first).max())
        length = min(left, max(BATCH // len(slots), SHORTEST_BATCH)) + ahead
        steps = first[:, None] + np.arange(length)
        chain, log_table = state["chain"][slots], state["log_table"][slots]
        drawn = draw(self._moves, self._move_below, self._labels, seed, chain, steps, log_table)
        rows = np.arange(len(slots))
        while rows.size and (state["step"][slots] - first <= length - ahead).all():
            self._run_rounds(state, slots[rows], inside[rows], tables, drawn[:, rows], first[rows], ahead)
            rows = rows[self._active(state, slots[rows])]
        more = (state["tallies"][slots] - before).reshape(len(slots), 2, -1).sum(axis=(0, 2))
        self._acceptance = float((more[1] + 1) / (more[0] + 5))

    def _run_rounds(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        drawn: NDArray[Any],
        first: NDArray[Any],
        ahead: int,
    ) -> None:
        """Do drawn steps until a slot has used them up, or has none left to do."""
        length, ways = drawn.shape[2], np.arange(ahead)
        drawn, start = drawn.reshape(len(drawn), -1), np.arange(len(slots)) * length - first
        lanes = tables.lanes(np.repeat(inside, ahead))
        round_ = Round(slots, inside, ahead, np.repeat(slots, ahead), lanes)
        stop = np.minimum(state["last_step"][slots], first + length - ahead + 1)
        while True:
            step = state["step"][slots]
            if (step >= stop).any() or len(self._active(state, slots)) < len(slots):
                return
            at = ((step + start)[:, None] + ways).ravel()
            order = drawn[NUMBER].take(at).astype(np.int8).argsort(kind="stable")  # ordered by move
            self._one_round(state, round_, tables, drawn.take(at[order], axis=1), order)

    def _one_round(
        self,
        state: dict[str, NDArray[Any]],
        round_: Round,
        tables: Any,
        drawn: NDArray[Any],
        order: NDArray[Any],
    ) -> None:
        """Try `ahead` steps of every slot, and take those up to the first accepted one.

        `drawn` is ordered by move: its i-th step is that of lane order[i].
        """
        lane_slots, lanes = round_.lane_slots[order], round_.lanes.of(order)
        logs = state["log_sizes"]
        proposals = propose(self._moves, lanes, drawn, lane_slots, logs, self._labels, state)
        prepared, score = self._score_lanes(state, lane_slots, tables, lanes, proposals)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        worth = score + drawn[EXPONENTIAL] + proposals.correction
        tried = _tried(state, round_.slots, proposals.kind[place], score[place], worth[place])
        if self._recorders:
            tried = self._record_rejected(state, round_, tables, tried)
        self._count(state, round_.slots, tried)
        state["step"][round_.slots] += tried.done
        (accepted,) = tried.accepted.nonzero()
        if accepted.size:
            slots, inside, lane = round_.slots[accepted], round_.inside[accepted], tried.lane[accepted]
            at, best = place[lane], state["best_score"][slots]
            state["score"][slots] = tried.score.ravel()[lane]
            self._follow(state, slots, inside, tables, proposals.of(at), prepared.of(at))
            if self._recorders:
                self._record(state, slots, inside, tables, best)
            better = state["score"][slots] > best
            if better.any():
                self._keep_best(state, slots[better], inside[better], tables)

    def _score_lanes(
        self,
        state: dict[str, NDArray[Any]],
        lane_slots: NDArray[Any],
        tables: Any,
        lanes: Any,
        proposals: Proposals,
    ) -> tuple[Any, NDArray[np.int64]]:
        """Return the prepared proposals, as the tables' `follow` takes them, and the scores after them."""
        prepared = tables.prepare(lanes, proposals)
        return prepared, self._scores_after(state, lane_slots, tables, lanes, prepared)

    def _scores_after(
        self, state: dict[str, NDArray[Any]], lane_slots: NDArray[Any], tables: Any, lanes: Any, prepared: Any
    ) -> NDArray[np.int64]:
        """Return the scores after proposals, (lanes,)."""
        of_attachments = self._score.of_attachments
        if of_attachments is None:
            found = tables.best_after(lanes, prepared)
        else:
            found = tables.all_after(
                lanes, prepared, lambda at, scores: of_attachments(state, lane_slots[at], scores)
            )
        worth = self._score.of_cells(state, lane_slots, found).astype(np.int64)
        summed: NDArray[np.int64] = np.einsum("lc,c->l", worth, self._multiplicity)
        return summed

    def _follow(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        proposals: Proposals,
        prepared: Any,
    ) -> None:
        """Apply accepted proposals."""
        tables.follow(inside, prepared)

    def _keep_best(
        self, state: dict[str, NDArray[Any]], slots: NDArray[Any], inside: NDArray[Any], tables: Any
    ) -> None:
        """Store the current trees as the best ones."""
        state["best_score"][slots] = state["score"][slots]
        state["best_parent"][slots] = tables.parents(inside)

    def _count(self, state: dict[str, NDArray[Any]], slots: NDArray[Any], tried: Tried) -> None:
        """Count the proposed and the accepted steps, by kind of move."""
        row, (count, ahead) = 2 * self._kinds * np.arange(len(slots)), tried.kind.shape
        proposed = (row[:, None] + tried.kind)[np.arange(ahead) < tried.done[:, None]]
        accepted = row + self._kinds + tried.kind.ravel()[tried.lane]
        counted = np.concatenate((proposed, accepted[tried.accepted]))
        more = np.bincount(counted, minlength=2 * self._kinds * count)
        state["tallies"][slots] += more.reshape(count, -1)

    def _record_rejected(
        self, state: dict[str, NDArray[Any]], round_: Round, tables: Any, tried: Tried
    ) -> Tried:
        """Record states after rejected steps; a slot takes no step after its ring buffer is full."""
        slots, ahead = round_.slots, round_.ahead
        way, count = np.arange(ahead), len(slots)
        is_last = tried.accepted[:, None] & (way == tried.done[:, None] - 1)
        step = state["step"][slots, None] + way
        score = np.where(is_last, tried.score, state["score"][slots, None])
        best = np.repeat(state["best_score"][slots], ahead)
        why = wanted(
            state, self._recorders, round_.lane_slots, step.ravel(), score.ravel(), best, is_last.ravel()
        ).reshape(count, ahead)
        why[way >= tried.done[:, None]] = 0
        full = np.cumsum(why != 0, axis=1) >= self._events - state["event_count"][slots, None]
        done = np.where(full.any(axis=1), np.minimum(tried.done, full.argmax(axis=1) + 1), tried.done)
        why[is_last | (way >= done[:, None])] = 0
        at = why.nonzero()
        trees = tables.parents(round_.inside[at[0]])
        record(state, slots[at[0]], step[at], score[at], why[at], trees)
        return tried._replace(done=done, accepted=tried.accepted & (done == tried.done))

    def _record(
        self,
        state: dict[str, NDArray[Any]],
        slots: NDArray[Any],
        inside: NDArray[Any],
        tables: Any,
        best: NDArray[Any],
    ) -> None:
        """Record states after accepted steps."""
        step, score = state["step"][slots] - 1, state["score"][slots]
        yes = np.ones(len(slots), dtype=np.bool_)
        why = wanted(state, self._recorders, slots, step, score, best, yes)
        (at,) = why.nonzero()
        record(state, slots[at], step[at], score[at], why[at], tables.parents(inside[at]))


def _tried(
    state: dict[str, NDArray[Any]],
    slots: NDArray[Any],
    kind: NDArray[Any],  # IN (lanes,)
    score: NDArray[Any],  # IN likewise
    worth: NDArray[Any],  # IN likewise: the score plus all that the accept test adds to it
) -> Tried:
    """Return the steps up to the first accepted one, or all that the slots have left to try."""
    count = len(slots)
    accepts = worth.reshape(count, -1) >= state["score"][slots, None]
    left = state["last_step"][slots] - state["step"][slots]
    first = accepts.argmax(axis=1)
    accepted = accepts[np.arange(count), first] & (first < left)
    done = np.where(accepted, first + 1, np.minimum(left, accepts.shape[1]))
    return Tried(kind.reshape(count, -1), score.reshape(count, -1), done, accepted)
