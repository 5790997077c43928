"""Reduction: best node of every cell, sum over cells, accept test, step counters, recorded states."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.learned import rates_in
from syclade.fallback.ancestor.parts import KIND, Arrays, ChainParts
from syclade.fallback.ancestor.rows import parents_from
from syclade.fallback.recorders.ring import record, wanted

NODES, KINDS = 0, 2
"""Indices into `parameters`: number of mutations, and number of kinds of moves."""


def worth_of_cells(
    arrays: Arrays,  # IN worth, and the score's settings
    slots: NDArray[np.int64],
    parts: ChainParts,
) -> NDArray[np.int64]:
    """Return the score of every cell, (slots, cells) int64: at its best node, or over all nodes."""
    worth, score = arrays["worth"][slots], parts.score
    nodes = int(arrays["parameters"][NODES]) + 1
    if score.of_attachments is None:
        found = worth.max(axis=2)
    else:
        found = score.of_attachments(arrays, slots, worth[:, :, :nodes].transpose(0, 2, 1))
    return score.of_cells(arrays, slots, found).astype(np.int64)


def reduction(
    arrays: Arrays,  # IN multiplicity, worth, move, threshold, proposal, last_step
    # OUT shares; IN OUT step, score, best_score, ancestors, best_ancestors, tallies
    # with learned rates, IN proposed_rate_at and the tables, IN OUT rate_at, best_rate_at
    # with recorders, IN OUT the ring of events
    slots: NDArray[np.int64],
    parts: ChainParts,
) -> None:
    """Accept or reject, update the best tree, count, and record.

    Slots at their last step, or without room for another event, keep their state.
    """
    learned = "rate_at" in arrays
    proposed = score_of_trees(arrays, slots, parts)
    if learned:
        proposed = proposed + rates_in(arrays).worth_of_errors(arrays["proposed_rate_at"][slots])
    step, best = arrays["step"][slots], arrays["best_score"][slots]
    accepted, better = decide(arrays, slots, proposed)
    if learned:
        for taken, name in ((accepted, "rate_at"), (better, "best_rate_at")):
            arrays[name][slots[taken]] = arrays["proposed_rate_at"][slots[taken]]
    if parts.recorders:
        (went,) = (arrays["step"][slots] > step).nonzero()
        _record(arrays, parts, slots[went], step[went], best[went], accepted[went])


def _record(
    arrays: Arrays,
    parts: ChainParts,
    slots: NDArray[np.int64],
    step: NDArray[np.int64],
    best: NDArray[np.int64],
    accepted: NDArray[np.bool_],
) -> None:
    """Put those states into the rings that recorders want."""
    why = wanted(arrays, parts.recorders, slots, step, arrays["score"][slots], best, accepted)
    at, nodes = np.flatnonzero(why), int(arrays["parameters"][NODES]) + 1
    trees = parents_from(arrays["ancestors"][slots[at]], nodes)
    record(arrays, slots[at], step[at], arrays["score"][slots[at]], why[at], trees)


def score_of_trees(arrays: Arrays, slots: NDArray[np.int64], parts: ChainParts) -> NDArray[np.int64]:
    """Write the lanes' shares, and return the scores of the proposed trees, (slots,) int64."""
    cells = worth_of_cells(arrays, slots, parts) * arrays["multiplicity"]
    lanes = arrays["shares"].shape[1]
    shares = cells.reshape(len(slots), -1, lanes).sum(axis=1)
    arrays["shares"][slots] = shares
    scores: NDArray[np.int64] = shares.sum(axis=1)
    return scores


def decide(
    arrays: Arrays, slots: NDArray[np.int64], proposed: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Accept or reject proposals with these scores, (slots,); return which are accepted, which are best."""
    going = arrays["step"][slots] < arrays["last_step"][slots]
    if "event_count" in arrays:
        going &= arrays["event_count"][slots] < arrays["event_step"].shape[1]
    kind = arrays["move"][slots, KIND]
    accepted = going & (proposed - arrays["score"][slots] + arrays["threshold"][slots] >= 0)
    better = accepted & (proposed > arrays["best_score"][slots])
    kinds = int(arrays["parameters"][KINDS])
    arrays["tallies"][slots[going], kind[going]] += 1
    arrays["tallies"][slots[accepted], kinds + kind[accepted]] += 1
    for taken, score, tree in ((accepted, "score", "ancestors"), (better, "best_score", "best_ancestors")):
        arrays[score][slots[taken]] = proposed[taken]
        arrays[tree][slots[taken]] = arrays["proposal"][slots[taken]]
    arrays["step"][slots[going]] += 1
    return accepted, better
