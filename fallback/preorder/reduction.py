"""Reduction: the accept test, and the best trees are kept (the mirror of `kernels/preorder/reduction.py`)."""

from typing import Any, NamedTuple

import numpy as np

from syclade.fallback.preorder.batch import CODES, KINDS
from syclade.fallback.preorder.propose import Moves
from syclade.fallback.preorder.trees import Numbers, Trees


class Verdict(NamedTuple):
    """What becomes of the steps that were tried, one row of lanes a slot."""

    done: Numbers  # (rows,): how many of the slot's steps count
    row: Numbers  # (changed,): the slots whose tree changes
    lane: Numbers  # (changed,): the step that changes it
    code: Numbers  # (lanes,): what the step is tallied as


def judge(
    moves: Moves,
    proposed: Numbers,  # IN (rows * ahead,): scores of the proposals
    score: Numbers,  # IN (rows,)
    uncounted: int,  # IN what steps are tallied as that do not count
) -> Verdict:
    """The steps of a slot count up to the first that changes its tree, the others are to be tried anew."""
    rows = len(score)
    gain = proposed + moves.threshold
    accepted = gain.reshape(rows, -1) >= score[:, None]
    ahead = accepted.shape[1]
    # A move to where everything is already is accepted, but the steps after it remain right.
    ends = accepted & (moves.shift[0] != moves.shift[1]).reshape(rows, ahead)
    first = ends.argmax(axis=1)
    lane = first + np.arange(0, rows * ahead, ahead)
    changes = ends.ravel().take(lane)
    done = np.where(changes, first + 1, ahead)
    code = moves.code.reshape(rows, ahead) + KINDS * accepted
    if ahead > 1:
        code[np.arange(ahead) >= done[:, None]] = uncounted
    changed = changes.nonzero()[0]
    return Verdict(done, changed, lane.take(changed), code.ravel())


def count(
    codes: list[Numbers],  # IN (lanes,) each: Verdict.code
    slots: int,
) -> Numbers:
    """Tallies (slots, 10): steps proposed and accepted, by kind of move."""
    tallies = np.bincount(np.concatenate(codes), minlength=slots * CODES)[: slots * CODES]
    tallies = tallies.reshape(slots, CODES)
    tallies[:, :KINDS] += tallies[:, KINDS:]
    return tallies


def keep_best(
    state: Any,  # IN OUT arrays over slots by name
    slots: Numbers,  # IN (slots in use,): where the trees are in the state
    improved: Numbers,  # IN (improved,): which of them have a new best tree
    trees: Trees,
) -> None:
    """Copy the parents of the new best trees."""
    if not improved.size:
        return
    parents = trees.parents(improved)
    state["best_parent"][slots[improved], : parents.shape[1]] = parents
