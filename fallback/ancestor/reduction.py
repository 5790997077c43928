"""Reduction: best node of every cell, sum over cells, accept test, step counters."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import KIND, Arrays, ChainParts

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
    slots: NDArray[np.int64],
    parts: ChainParts,
) -> None:
    """Accept or reject, update the best tree, and count. Slots at their last step keep their state."""
    decide(arrays, slots, score_of_trees(arrays, slots, parts))


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
