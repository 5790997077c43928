"""The stages composed: many chain steps of all slots (the mirror of `kernels/preorder/chain_step.py`)."""

from typing import Any, NamedTuple

import numpy as np

from syclade.fallback.preorder.batch import CODES, Batch, draw_batch
from syclade.fallback.preorder.changes import Changes
from syclade.fallback.preorder.layout import Layout, make_layout, rows_per_slot
from syclade.fallback.preorder.lookahead import steps_ahead
from syclade.fallback.preorder.propose import Moves, propose
from syclade.fallback.preorder.rebuild import Tables
from syclade.fallback.preorder.reduction import Verdict, count, judge, keep_best
from syclade.fallback.preorder.runs import spread
from syclade.fallback.preorder.score_mapping import ScoreMapping
from syclade.fallback.preorder.tree_update import TreeUpdate
from syclade.fallback.preorder.trees import Numbers, Trees

TABLE_BYTES = 32 * 2**20
"""Slots are taken forward in groups whose tables take about this much, at least one slot at a time."""

BATCH = 8192
"""Steps to draw at once, over all slots of a group."""

SHORTEST_BATCH = 16

FIRST_RATE = 0.2
"""Changes of a tree a step, before it is known."""


class PreorderChainSteps:
    """Chain steps on preorder intervals, in numpy, a group of slots at once."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        cells = problem.columns.shape[1]
        self._most = max(1, TABLE_BYTES // (4 * cells * rows_per_slot(problem.mutations + 1)))
        self._group: _Group | None = None

    def advance(self, state: Any, seed: int) -> None:
        """Take every slot from `step` to `last_step`, in place."""
        while (active := np.flatnonzero(state["step"] < state["last_step"])).size:
            groups = np.array_split(active, -(-active.size // self._most))
            if self._group is None or self._group.layout.slots < groups[0].size:
                layout = make_layout(self._problem.mutations + 1, groups[0].size)
                self._group = _Group(self._problem, layout)
            for slots in groups:
                self._group.advance(state, slots, seed)


class _Chains(NamedTuple):
    """What a group's chains have besides their trees, (slots in use,) each."""

    number: Numbers
    step: Numbers
    last_step: Numbers
    score: Numbers
    best_score: Numbers


class _Group:
    """A group of slots, with its trees and tables."""

    def __init__(self, problem: Any, layout: Layout) -> None:
        self._problem = problem
        self.layout = layout
        self._cells = problem.columns.shape[1]
        table = np.zeros(256, dtype=np.int32)
        table[:4] = problem.weights
        weights = np.zeros((layout.labels, self._cells), dtype=np.int32)
        weights[:-1] = table[problem.columns]
        self._tables = Tables(layout, weights)
        self._trees = Trees(layout)
        self._tree_update = TreeUpdate(layout, self._trees)
        self._score_mapping = ScoreMapping(layout, problem.multiplicity)
        self._rate = FIRST_RATE

    def advance(self, state: Any, slots: Numbers, seed: int) -> None:
        """Take these slots to their `last_step`, or at least half of them."""
        used = len(slots)
        self._trees.load(state, slots)
        self._tables.fill(self._trees, used)
        names = ("chain", "step", "last_step", "score", "best_score")
        chains = _Chains(*(state[name][slots] for name in names))
        while True:
            left = chains.last_step - chains.step
            if 2 * np.count_nonzero(left) < used or not left.any():
                break
            ahead = steps_ahead(used, self._cells, self._rate)
            steps = min(int(left.max()), max(BATCH // used, SHORTEST_BATCH))
            batch = draw_batch(
                self._problem,
                self._trees,
                chains.number,
                chains.step,
                chains.last_step,
                steps + ahead,
                seed,
            )
            state["tallies"][slots] += self._run(state, slots, chains, batch, ahead)
        self._trees.store(state, slots)
        for name in ("step", "score", "best_score"):
            state[name][slots] = getattr(chains, name)

    def _run(self, state: Any, slots: Numbers, chains: _Chains, batch: Batch, ahead: int) -> Numbers:
        """Do the steps of a batch, until one slot is through, or at the end all are; tallies, (slots, 10)."""
        used = len(slots)
        length = batch.steps - ahead
        at_end = bool((chains.last_step - chains.step <= length).all())
        done = np.zeros(used, dtype=np.int64)
        first = np.arange(0, used * batch.steps, batch.steps)
        slot = np.repeat(np.arange(used), ahead)
        codes = []
        changes = 0
        offset = np.arange(ahead)
        while (done.min() if at_end else done.max()) < length:
            steps = ((first + done)[:, None] + offset).ravel()
            moves = propose(batch, steps, slot, self.layout, self._trees, self._problem.log_sizes)
            proposed = self._score_mapping(self._tables.rows, moves)
            verdict = judge(moves, proposed, chains.score)
            done += verdict.done
            if at_end:
                np.minimum(done, length, out=done)
            codes.append(verdict.code)
            changes += verdict.slot.size
            if verdict.slot.size:
                improved = self._change(chains, moves, proposed, verdict)
                if improved.size:
                    keep_best(state, slots, improved, self._trees)
        through = np.minimum(chains.last_step - chains.step, done)
        chains.step[...] += through
        self._rate += (changes / int(through.sum()) - self._rate) / 2
        return count(codes, used)

    def _change(self, chains: _Chains, moves: Moves, proposed: Numbers, verdict: Verdict) -> Numbers:
        """Change trees, tables and scores; the slots whose best score improves."""
        slot, lane = verdict.slot, verdict.lane
        changes = Changes(self._trees)
        changes.add(moves, lane, slot, moves.code.take(lane) - slot * CODES)
        runs = spread(changes.runs)
        self._tables.rebuild(runs, slot)
        self._tree_update(changes, runs)
        score = proposed.take(lane)
        chains.score[slot] = score
        improved = slot[score > chains.best_score.take(slot)]
        chains.best_score[improved] = chains.score.take(improved)
        return improved
