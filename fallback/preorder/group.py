"""A group of slots whose chains advance together, each numpy call working on all of them."""

from typing import Any, NamedTuple

import numpy as np

from syclade.fallback.preorder.batch import CODES, Batch, draw_batch
from syclade.fallback.preorder.changes import Changes
from syclade.fallback.preorder.layout import Layout
from syclade.fallback.preorder.lookahead import Lanes, steps_ahead
from syclade.fallback.preorder.propose import Moves, propose
from syclade.fallback.preorder.rebuild import Tables
from syclade.fallback.preorder.reduction import count, judge, keep_best
from syclade.fallback.preorder.runs import spread
from syclade.fallback.preorder.score_mapping import ScoreMapping
from syclade.fallback.preorder.tree_update import TreeUpdate
from syclade.fallback.preorder.trees import Numbers, Trees

BATCH = 8192
"""Steps to draw at once, over all slots of a group."""

SHORTEST_BATCH = 16
"""Steps to draw at once for each slot, at least."""

FIRST_RATE = 0.2
"""Changes of a tree a step, before it is known."""


class Chains(NamedTuple):
    """What a group's chains have besides their trees, (slots in use,) each."""

    number: Numbers
    step: Numbers
    last_step: Numbers
    score: Numbers
    best_score: Numbers


class Group:
    """A group of slots, with its trees and tables."""

    def __init__(self, problem: Any, layout: Layout) -> None:
        self.layout = layout
        self._problem = problem
        self._cells = problem.columns.shape[1]
        self._trees = Trees(layout)
        self._tables = Tables(layout, weights_of(problem))
        self._tree_update = TreeUpdate(layout, self._trees)
        self._score_mapping = ScoreMapping(layout, problem.multiplicity)
        self._rate = FIRST_RATE
        self._held: Numbers | None = None

    @property
    def memory_bytes(self) -> int:
        """Of the tables."""
        return self._tables.rows.nbytes

    def advance(
        self,
        state: Any,  # IN OUT arrays over slots by name
        slots: Numbers,  # IN (slots in use,): which of them, all with steps to do
        seed: int,
    ) -> None:
        """Take these slots forward until more than half of them are at their `last_step`."""
        problem, used = self._problem, len(slots)
        if not self._holds(state, slots):
            self._trees.load(state, slots)
            self._tables.fill(self._trees, used)
        self._held = None
        names = ("chain", "step", "last_step", "score", "best_score")
        chains = Chains(*(state[name][slots] for name in names))
        left = chains.last_step - chains.step
        while left.any() and 2 * np.count_nonzero(left) >= used:
            ahead = steps_ahead(used, self._cells, self._rate)
            steps = min(int(left.max()), max(BATCH // used, SHORTEST_BATCH)) + ahead
            batch = draw_batch(problem, self._trees, *chains[:3], steps, seed)
            state["tallies"][slots] += self._run(state, slots, chains, batch, ahead)
            np.subtract(chains.last_step, chains.step, out=left)
        self._trees.store(state, slots)
        for name in ("step", "score", "best_score"):
            state[name][slots] = getattr(chains, name)
        state["tables_made"][slots] = 1
        self._held = slots

    def _holds(self, state: Any, slots: Numbers) -> bool:
        """Are the trees and tables those of these slots, as the last launch left them?"""
        held = self._held
        return held is not None and np.array_equal(held, slots) and bool(state["tables_made"][slots].all())

    def _run(
        self,
        state: Any,  # OUT best_parent
        slots: Numbers,  # IN (slots in use,)
        chains: Chains,  # IN OUT
        batch: Batch,
        ahead: int,  # IN how many steps of a slot to try at once
    ) -> Numbers:
        """Do steps of a batch until one slot is through, or in the end all slots; tallies, (slots, 10)."""
        used, length = len(slots), batch.steps - ahead
        left = chains.last_step - chains.step
        at_end = bool((left <= length).all())
        first, done = np.arange(0, used * batch.steps, batch.steps), np.zeros(used, dtype=np.int64)
        lanes = Lanes(np.arange(used), ahead)
        codes, changes = [], 0
        while lanes.doing.size and (at_end or done.max() < length):
            steps = lanes.steps(first, done, batch.steps)
            moves = propose(batch, steps, lanes.slot, self.layout, self._trees, self._problem.log_sizes)
            proposed = self._score_mapping(self._tables.rows, moves)
            verdict = judge(moves, proposed, chains.score.take(lanes.doing), used * CODES)
            codes.append(verdict.code)
            done[lanes.doing] += verdict.done
            if verdict.row.size:
                changes += verdict.row.size
                slot = lanes.doing.take(verdict.row)
                improved = self._change(chains, moves, proposed, slot, verdict.lane)
                keep_best(state, slots, improved, self._trees)
            if at_end and (done[lanes.doing] >= left[lanes.doing]).any():
                doing = (done < left).nonzero()[0]
                lanes = Lanes(doing, steps_ahead(max(1, doing.size), self._cells, self._rate))
        np.minimum(done, left, out=done)
        np.add(chains.step, done, out=chains.step)
        self._rate += (changes / int(done.sum()) - self._rate) / 2
        return count(codes, used)

    def _change(
        self,
        chains: Chains,  # IN OUT
        moves: Moves,
        proposed: Numbers,  # IN (lanes,): scores
        slot: Numbers,  # IN (changed,): the slots whose tree changes
        lane: Numbers,  # IN (changed,): the move that changes it
    ) -> Numbers:
        """Change trees, tables and scores; the slots whose best score improves, (improved,)."""
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


def weights_of(problem: Any) -> Any:
    """(nodes, cells) int32: what each node adds to the score of each cell below it; nothing for the root."""
    weights = np.zeros((problem.mutations + 1, problem.columns.shape[1]), dtype=np.int32)
    weights[:-1] = problem.weight_rows()
    return weights
